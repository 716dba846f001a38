"""How the panel looks: its style sheet and its small pieces of HTML.

Colors are JupyterLab's own, so it follows the theme; a page without them gets the fallbacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from kit import wire
from kit.widgets import rates
from kit.widgets.cards import ARROW, BAD, BUSY, card, credits, faint, figure, table
from kit.widgets.snapshots import rerun_line
from kit.widgets.styles import load_style

#: Models that are kept of a panel in a saved notebook.
MOST = 12

_RULES = load_style(__package__, "panel.css")
SHEET = f"<style>{_RULES} {BAD} {BUSY} .kit-panel{{{ARROW}}}</style>"


def note(sentence: str) -> str:
    """Return a quiet sentence, announced when it appears."""
    return f'<span class="kit-note" role="status">{escape(sentence)}</span>'


def problem(sentence: str) -> str:
    """Return what went wrong, announced to whoever does not see it."""
    return f'<span class="kit-bad" role="alert">{escape(sentence)}</span>'


def heading(place: str, account: wire.Account) -> str:
    """Return the line above the tabs: where, who, and what is left."""
    words = [place, account.name or ""]
    left = "" if account.credits is None else f"<b>{escape(credits(account.credits))}</b>"
    quiet = f'<span class="kit-note">{escape(" · ".join(filter(None, words)))}</span>'
    return " ".join(filter(None, (left, quiet)))


def model(item: wire.Model) -> str:
    """Return a model in a list: what it is called, makes and costs, and what it is."""
    facts = [item.id, item.asset_type, item.category, _price(item)]
    title = f'<b style="font-size:13.5px">{escape(item.title or item.id)}</b>'
    quiet = f'<span class="kit-note">{escape(" · ".join(filter(None, facts)))}</span>'
    text = f"<div>{escape(item.description)}</div>" if item.description else ""
    return f"{title} {quiet}{text}"


def sheet(title: str, html: str) -> str:
    """Return a table or a picture under its title; the HTML is trusted."""
    return f'<section class="kit-sheet"><h3>{escape(title)}</h3>{html}</section>'


def banner(remark: str, code: str) -> str:
    """Return what stands above the tabs while the panel is at another account."""
    shown = f"<code>{escape(code)}</code>" if code else ""
    return f'<div class="kit-banner" role="status">{escape(remark)}{shown}</div>'


def snapshot(place: str, models: Sequence[wire.Model], code: str) -> str:
    """Return the panel as it looks where no widget can be shown: where it was, and the models."""
    lines = [
        (escape(one.title or one.id), faint(" · ".join((one.id, one.asset_type))))
        for one in models[:MOST]
    ]
    more = len(models) - len(lines)
    end = f"<div>{faint(f'and {more} more models')}</div>" if more > 0 else ""
    return card(
        f"Creative studio · {place}", (table((), lines) if lines else "") + end
    ) + rerun_line(code)


def _price(item: wire.Model) -> str:
    usual = figure(item.estimated_credits) or rates.usual(item)
    if usual:
        return f"usually {usual} credits"
    return "" if item.credits_from is None else f"from {figure(item.credits_from)} credits"


def matches(item: wire.Model, words: Iterable[str]) -> bool:
    """Return whether all words occur in what a model is called or does."""
    parts = (item.id, item.title or "", item.category or "", item.description or "")
    text = " ".join(parts).lower()
    return all(word in text for word in words)
