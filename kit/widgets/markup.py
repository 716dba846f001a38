"""Markup: the basic pieces of HTML for everything displayed in a notebook.

It is static HTML with inline styles, without classes, scripts or style sheets, so that it looks the
same in an untrusted notebook and on an exported page. Colors follow JupyterLab's theme.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from html import escape
from importlib import resources

from kit.errors import KitError

FONT = "font-family:var(--jp-ui-font-family,system-ui,sans-serif);font-size:13px;line-height:1.5"
COLOR = "color:var(--jp-ui-font-color1,inherit)"
CARD = (
    f"{FONT};{COLOR};background:var(--jp-layout-color1,transparent);"
    "border:1px solid var(--jp-border-color2,#9996);border-radius:6px;padding:8px 12px;"
    "max-width:720px"
)
# The theme's own secondary color has too little contrast on fields, and not every host has one.
FAINT = "color:color-mix(in srgb,var(--jp-ui-font-color1,currentcolor) 70%,transparent)"
CELL = "padding:2px 10px 2px 0;text-align:left;vertical-align:top"
_NAME = f"{CELL};{FAINT};font-weight:normal"
# JupyterLab adds space below tables and paints every other row, which is wrong in a card.
_TABLE = f"{FONT};color:inherit;border-collapse:collapse;margin:2px 0"
#: Maximum of table rows: services may have any number of models, and models of settings.
_MAX_ROWS = 500
_PLAIN = "background:transparent"
_RULE = "border-top:1px solid var(--jp-border-color3,#8883)"
# The theme's signal colors are made for surfaces: as text they are too faint, in light and dark
# themes, so they are mixed with the text color; as faint text, they would be too faint again.
_SIGNAL = "color-mix(in srgb,var(--jp-{}-color1,{}) {}%,var(--jp-ui-font-color1,currentcolor))"
#: The color of each state of a generation; its name is always shown as well.
COLORS = {
    "completed": _SIGNAL.format("success", "#388e3c", 70),
    "failed": _SIGNAL.format("error", "#d32f2f", 55),
    "canceled": _SIGNAL.format("warn", "#f57c00", 55),
}
#: A word that could be wider than its place, or a letter of a right-to-left script.
_SPECIAL = re.compile(
    r"\S{40}|[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


def credits(amount: Decimal | float | None) -> str:
    """Return an amount with its unit."""
    if amount is None:
        return "price unknown"
    text = figure(amount)
    return f"{text} credit{'' if text == '1' else 's'}"


def figure(amount: Decimal | float | None) -> str:
    """Return an amount without unit and trailing zeros; empty for None."""
    if amount is None:
        return ""
    text = f"{amount:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def number(value: float) -> str:
    """Return a number in its short form: 4 for 4.0."""
    return f"{int(value)}" if float(value).is_integer() else f"{value:.10g}"


def bounds(low: float | None, high: float | None) -> str:
    """Return the bounds of a number as text; empty if it has none."""
    if low is not None and high is not None:
        return f"{number(low)} to {number(high)}"
    if low is not None:
        return f"at least {number(low)}"
    return "" if high is None else f"at most {number(high)}"


def signed_amount(amount: Decimal) -> str:
    """Return an amount with its sign, as in differences and ledgers."""
    return f"{'+' if amount >= 0 else ''}{figure(amount)}"


def size(count: int) -> str:
    """Return a number of bytes with a suitable unit."""
    if count < 1_000:
        return f"{count} B"
    return f"{count / 1e6:.1f} MB" if count >= 1_000_000 else f"{count / 1e3:.0f} kB"


def card(heading: str, body: str) -> str:
    """Return HTML in a box; the heading is plain text."""
    words = set_direction(escape(heading))
    top = f'<div style="font-weight:600;font-size:14px">{words}</div>' if heading else ""
    return f'<div style="{CARD}">{top}{body}</div>'


def side_by_side(*parts: str) -> str:
    """Return the non-empty pieces of HTML in a row, as far as there is room."""
    row = "".join(f'<div style="flex:1 1 300px">{part}</div>' for part in parts if part)
    return f'<div style="display:flex;flex-wrap:wrap;gap:8px 16px">{row}</div>'


def set_direction(html: str) -> str:
    """Return a user's text as HTML: long words are broken, right-to-left scripts on the right."""
    if _SPECIAL.search(html) is None:
        return html
    return f'<div dir="auto" style="text-align:start;overflow-wrap:anywhere">{html}</div>'


def faint(text: str) -> str:
    """Return plain text in a faint color."""
    return f'<span style="{FAINT}">{escape(text)}</span>'


def status(state: str) -> str:
    """Return the name of a state in its color."""
    return f'<b style="color:{COLORS.get(state, "inherit")}">{escape(state)}</b>'


def warning(sentence: str) -> str:
    """Return an error message."""
    return f'<div style="color:{COLORS["failed"]}">{escape(sentence)}</div>'


def facts(rows: Mapping[str, object]) -> str:
    """Return names and values as a table, without empty values."""
    return pairs((name, set_direction(escape(str(value)))) for name, value in rows.items() if value)


def pairs(rows: Iterable[tuple[str, str]]) -> str:
    """Return names (plain text) and values (HTML) as a table; empty without rows."""
    lines = (f'<th scope="row" style="{_NAME}">{escape(n)}</th>{_cells([v])}' for n, v in rows)
    body = "".join(f'<tr style="{_PLAIN}">{line}</tr>' for line in lines)
    return f'<table style="{_TABLE}">{body}</table>' if body else ""


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table; the header is plain text, the cells are HTML."""
    listed = [*rows]
    more = faint(f"and {len(listed) - _MAX_ROWS:,} more") if len(listed) > _MAX_ROWS else ""
    head = "".join(
        f'<th scope="col" style="{CELL};{FAINT}">{escape(name)}</th>' if name else _cells([""])
        for name in header
    )
    top = f'<tr style="{_PLAIN}">{head}</tr>' if head else ""
    style = f"{_PLAIN};{_RULE}" if head else _PLAIN
    body = "".join(f'<tr style="{style}">{_cells(row)}</tr>' for row in listed[:_MAX_ROWS])
    return f'<table style="{_TABLE}">{top}{body}</table>{more}'


def _cells(row: Iterable[str]) -> str:
    return "".join(f'<td style="{CELL}">{cell}</td>' for cell in row)


def bar(fraction: float) -> str:
    """Return a bar filled by a fraction, 0 to 1."""
    percent = 100 * min(max(fraction, 0.0), 1.0)
    return (
        '<div style="height:6px;border-radius:3px;overflow:hidden;max-width:320px;margin:4px 0;'
        'background:var(--jp-layout-color3,#bdbdbd)"><div style="height:6px;'
        f'width:{percent:.0f}%;background:var(--jp-brand-color1,#1976d2)"></div></div>'
    )


def problem(sentence: str, field: str = "") -> str:
    """Return an error message, announced with its `field`; empty for an empty sentence."""
    name = f'<span class="kit-screen-reader">{escape(field)}: </span>' if field else ""
    return f'<span class="kit-bad" role="alert">{name}{escape(sentence)}</span>' * bool(sentence)


def notice(sentence: str) -> str:
    """Return a message that needs no action, also announced."""
    return f'<span class="kit-notice" role="status">{escape(sentence)}</span>'


def note(sentence: str) -> str:
    """Return a faint message, announced when it changes."""
    return f'<span class="kit-note" role="status">{escape(sentence)}</span>'


def error_text(error: BaseException) -> str:
    """Return an error as shown to users: with its type unless it is an error of the kit."""
    return str(error) if isinstance(error, KitError) else f"{type(error).__name__}: {error}"


def label(name: str) -> str:
    """Return the name of a parameter as a label."""
    return name.replace("_", " ")


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun in singular or plural."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def style_element(package: str, file: str) -> str:
    """Return the ``<style>`` of a widget: its own style sheet, then the shared one."""
    own, shared = resources.files(package) / file, resources.files(__package__) / "shared.css"
    text = " ".join(sheet.read_text("utf-8") for sheet in dict.fromkeys((own, shared)))
    # without comments and line breaks
    return f"<style>{' '.join(re.sub(r'/[*].*?[*]/', '', text, flags=re.DOTALL).split())}</style>"
