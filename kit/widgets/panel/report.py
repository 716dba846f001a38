"""The costs as a page: figures, bars and columns, all plain HTML in the colors of the theme."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from html import escape

from kit.widgets.cards import credits, figure
from kit.widgets.panel.markup import sheet
from kit.widgets.styles import load_style

SHEET = f"<style>{load_style(__package__, 'report.css')}</style>"


def figures(
    items: Sequence[tuple[str, Decimal | None]], basis: str = "", doubts: Sequence[str] = ()
) -> str:
    """Return amounts of credits as tiles; what nobody knows is left out.

    Parameters
    ----------
    items : sequence of (str, Decimal or None)
        The first of them is what is left, which is never in doubt.
    basis : str
        A sentence on what the others are made of.
    doubts : sequence of str
        Why they may be wrong: they say "about", and why when they are pointed at, and below.
    """
    tiles = (
        f'<div{_why(doubts if number else ())}><span class="kit-note">{escape(name)}</span>'
        f"<b>{escape(_about(figure(amount), doubts if number else ()))}</b></div>"
        for number, (name, amount) in enumerate(items)
        if amount is not None
    )
    words = " ".join(filter(None, (basis, *doubts)))
    note = f'<div class="kit-note kit-basis">{escape(words)}</div>' if words else ""
    group = f'<div class="kit-figures" role="group" aria-label="credits">{"".join(tiles)}</div>'
    return f"{SHEET}{group}{note}"


def bars(title: str, rows: Sequence[tuple[str, Decimal, str]], doubts: Sequence[str] = ()) -> str:
    """Return a bar for each row, the longest for the most.

    Parameters
    ----------
    rows : sequence of (str, Decimal, str)
        A name, its credits, and a note that stands behind them.
    """
    most = max((amount for _, amount, _ in rows), default=Decimal(0))
    cells = (
        f"<span>{escape(name)}</span>{_bar(amount, most)}"
        f"<span>{escape(_about(figure(amount), doubts))} "
        f'<span class="kit-note">{escape(note)}</span></span>'
        for name, amount, note in rows
    )
    return sheet(title, f'<div class="kit-bars">{"".join(cells)}</div>')


def columns(title: str, days: Sequence[tuple[str, Decimal]], doubts: Sequence[str] = ()) -> str:
    """Return a column for each day; the amount of one is told when it is pointed at."""
    most = max((amount for _, amount in days), default=Decimal(0))
    stands = "".join(
        f'<span title="{escape(f"{day}: {_about(credits(amount), doubts)}")}">'
        f'<i style="height:{_percent(amount, most):.1f}%"></i></span>'
        for day, amount in days
    )
    first, last = (days[0][0], days[-1][0]) if days else ("", "")
    most_text = f"{_about(credits(most), doubts)} on the peak day"
    shown = f'<div class="kit-days" role="img" aria-label="{escape(most_text)}">{stands}</div>'
    ends = (first, most_text, last)
    marks = "".join(f'<span class="kit-note">{escape(text)}</span>' for text in ends)
    return sheet(title, f'{shown}<div class="kit-ends">{marks}</div>')


def _about(amount: str, doubts: Sequence[str]) -> str:
    return f"about {amount}" if doubts else amount


def _why(doubts: Sequence[str]) -> str:
    return f' title="{escape(" ".join(doubts))}"' if doubts else ""


def _bar(amount: Decimal, most: Decimal) -> str:
    return f'<i style="width:{_percent(amount, most):.1f}%"></i>'


def _percent(amount: Decimal, most: Decimal) -> float:
    return float(100 * max(amount, Decimal(0)) / most) if most > 0 else 0.0
