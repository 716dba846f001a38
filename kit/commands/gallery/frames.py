"""Frames: pictures, videos and sounds as elements, each with the words for who cannot see it.

Without the page's script a video has its browser's controls; the script takes them away until
somebody points at it, and puts in the buttons that the ``data-`` attributes ask for.
"""

from __future__ import annotations

from html import escape
from urllib.parse import quote

from kit.commands.gallery.cards import CardMedium

__all__ = ["frame"]


def frame(medium: CardMedium | None, name: str, *, before: str = "") -> str:
    """Return the element that shows a medium; nothing where there is none.

    Parameters
    ----------
    name : str
        What is seen or heard, in words.
    before : str
        Id of the figure that shows the picture it was made from, where both have one shape.
    """
    if medium is None:
        return ""
    label = escape(name)
    more = f' data-before="{escape(before)}"' if before else ""
    more += ' data-sound=""' if medium.sound else ""
    shown = {"video": _video, "audio": _sound}.get(medium.kind, _picture)(medium, label)
    return f'<div class="frame"{more}>{shown}</div>'


def _picture(medium: CardMedium, label: str) -> str:
    marks = '<span class="left">input</span><span class="right">result</span>'
    return (
        f'<img src="{escape(medium.picture)}" alt="{label}"{_ratio(medium)} loading="lazy"'
        f' decoding="async">{marks if medium.close else ""}'
    )


def _video(medium: CardMedium, label: str) -> str:
    poster = f' poster="{escape(medium.picture)}"' if medium.picture else ""
    return (
        f'<video src="{escape(quote(medium.file))}"{poster}{_ratio(medium)} aria-label="{label}"'
        ' muted loop playsinline controls preload="none"></video>'
    )


def _sound(medium: CardMedium, label: str) -> str:
    address = escape(quote(medium.file))
    return f'<audio src="{address}" aria-label="{label}" controls preload="none"></audio>'


def _ratio(medium: CardMedium) -> str:
    return f' style="--ratio:{medium.ratio:.4f}"' if medium.ratio else ""
