"""Titles and scripts in a notebook: how long they are, and where they begin.

The first sentence decides whether anybody stays, so it is the one that is set apart.
"""

from __future__ import annotations

import re
from html import escape

from kit import wire
from kit.widgets.cards import FAINT, card

#: Seconds that a word takes to speak, about, where nobody has measured the text.
_WORD = 0.4
_SENTENCE = re.compile(r"\s*\S.*?[.!?…]+[\"'”’)]*(?=\s|$)", re.DOTALL)
_OPENING = (
    "font-weight:600;border-left:3px solid var(--jp-brand-color1,#1976d2);"
    "padding-left:8px;margin:4px 0;white-space:pre-wrap"
)


def title(item: wire.Title) -> str:
    """Draw a title with its hook angle and its length."""
    words = len(item.title.split())
    length = f"{_count(words, 'word')} · {_count(len(item.title), 'character')}"
    hook = f'<div style="{_OPENING}">{escape(item.hook_angle)}</div>' if item.hook_angle else ""
    return card(item.title, hook + _foot(length, item.writer))


def script(item: wire.Script) -> str:
    """Draw a script: its first sentence set apart, its length and its pace."""
    first = _SENTENCE.match(item.content)
    end = first.end() if first else len(item.content)
    opening, rest = item.content[:end].strip(), item.content[end:].strip()
    body = f'<div style="{_OPENING}" title="opening">{escape(opening)}</div>' if opening else ""
    if rest:
        body += f'<div style="white-space:pre-wrap">{escape(rest)}</div>'
    return card(item.title, body + _foot(spoken(item), item.writer))


def spoken(item: wire.Script) -> str:
    """Return how long a script is, in words.

    Examples
    --------
    >>> spoken(wire.Script(id="s", metrics=wire.Metrics(duration="30", word_count=75)))
    '30 s to speak · 75 words · 150 words/min'
    >>> spoken(wire.Script(id="s", content="Nobody measured these five words."))
    'about 2 s to speak · 5 words'
    """
    words = int(item.metrics.word_count) or len(item.content.split())
    told = item.metrics.duration.strip()
    if not told:
        return f"about {words * _WORD:.0f} s to speak · {_count(words, 'word')}"
    pace = f" · {words * 60 / float(told):.0f} words/min" if _positive(told) else ""
    return f"{told} s to speak · {_count(words, 'word')}{pace}"


def _positive(text: str) -> bool:
    return bool(re.fullmatch(r"\d{1,6}(\.\d{1,6})?", text)) and float(text) > 0


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _foot(length: str, writer: str | None) -> str:
    by = "written offline" if writer == "offline" else f"by {(writer or '').removeprefix('model:')}"
    text = f"{length} · {by}" if writer else length
    return f'<div style="{FAINT}">{escape(text)}</div>'
