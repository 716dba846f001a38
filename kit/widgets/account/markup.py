"""How the account panel looks: its style sheet and its small pieces.

Colors are JupyterLab's own, so it follows the theme; a page without them gets the fallbacks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

import ipywidgets

from kit import wire
from kit.errors import KitError
from kit.widgets.cards import ARROW, BUSY, FAINT, FONT, card, credits, faint, pairs, warning
from kit.widgets.keys import Key, Spent
from kit.widgets.styles import load_style

#: What is said of spending at a service without a ledger.
_UNTOLD = "not told: this service keeps no ledger; studio.costs adds up what is known here"
_RULES = load_style(__package__, "account.css")
STYLE = f"<style>{_RULES} {BUSY} .kit-account{{{ARROW}}}</style>"


@dataclass(frozen=True, slots=True)
class Facts:
    """What the panel shows above all.

    Parameters
    ----------
    place : str
        Which service it is.
    spent : Spent or None
        None where the service has no ledger.
    """

    place: str
    account: wire.Account
    spent: Spent | None = None


def render_facts(found: Facts) -> str:
    """Return who pays, what is left and what was spent."""
    account, spent = found.account, found.spent
    rows = {
        "service": escape(found.place),
        "e-mail": escape(account.email or ""),
        "balance": credits(account.credits) if account.credits is not None else "not told",
        **(_told(spent) if spent else {"spent": escape(_UNTOLD)}),
    }
    basis = f"<div>{faint(_basis(spent))}</div>" if spent else ""
    return card(account.name or "Account", pairs((n, v) for n, v in rows.items() if v) + basis)


def _told(spent: Spent) -> dict[str, str]:
    """Return the amounts; where there is a doubt, they say so, and why when they are pointed at."""
    amounts = {"spent today": credits(spent.today), "spent this month": credits(spent.month)}
    if not spent.doubts:
        return amounts
    why = escape(" ".join(spent.doubts))
    return {name: f'<span title="{why}">about {text}</span>' for name, text in amounts.items()}


def _basis(spent: Spent) -> str:
    """Return what the amounts are made of."""
    return " ".join(
        ("Spending is added up from the service's ledger, in days of UTC.", *spent.doubts)
    )


def key(item: Key) -> str:
    """Return a key in one line, without its secret."""
    words = [", ".join(item.scopes), item.state]
    if item.state == "active" and item.expires_at is not None:
        words.append(f"until {item.expires_at:%Y-%m-%d}")
    words += [f"used {item.last_used_at:%Y-%m-%d}"] if item.last_used_at else []
    words += ["in use here"] if item.in_use else []
    return (
        f'<div style="{FONT}"><code>{escape(item.prefix)}…</code> <b>{escape(item.name)}</b> '
        f'<span style="{FAINT}">{escape(" · ".join(words))}</span></div>'
    )


def code(sentence: str, statement: str) -> str:
    """Return what a statement is for, and the statement."""
    shown = f"<br><code>{escape(statement)}</code>" if statement else ""
    return f'<div style="{FONT}"><span style="{FAINT}">{escape(sentence)}</span>{shown}</div>'


def problem(sentence: str) -> str:
    """Return what went wrong, announced to whoever does not see it; nothing for nothing."""
    return f'<div role="alert">{warning(sentence)}</div>' if sentence else ""


def error_sentence(error: Exception) -> str:
    """Return what went wrong as a person reads it."""
    return str(error) if isinstance(error, KitError) else f"{type(error).__name__}: {error}"


def heading(text: str) -> Any:
    """Return what stands above a part of the panel."""
    return ipywidgets.HTML(f'<div style="{FONT};font-weight:600">{escape(text)}</div>')


def button(text: str, click: Callable[[Any], None], **options: str) -> Any:
    """Return a button as wide as its words."""
    layout = ipywidgets.Layout(width="auto")
    made = ipywidgets.Button(description=text, layout=layout, _dom_classes=("kit-once",), **options)
    made.on_click(click)
    return made
