"""Previews: how answers look in a notebook, in light and dark, in one line and in HTML.

The answers themselves know nothing of HTML; `register` teaches IPython to draw them. All text is
escaped. One-line forms hold no ids, times or addresses, so that two runs print the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from html import escape
from typing import Any

from kit import wire

_FONT = "font-family:var(--jp-ui-font-family,system-ui,sans-serif);font-size:13px;line-height:1.5"
_CARD = (
    f"{_FONT};color:var(--jp-ui-font-color1,inherit);background:var(--jp-layout-color1,transparent);"
    "border:1px solid var(--jp-border-color2,#9996);border-radius:6px;padding:8px 12px;"
    "max-width:720px"
)
_FAINT = "color:var(--jp-ui-font-color2,#808080)"
_CELL = "padding:2px 10px 2px 0;text-align:left;vertical-align:top"
_COLORS = {
    "completed": "var(--jp-success-color1,#388e3c)",
    "failed": "var(--jp-error-color1,#d32f2f)",
    "canceled": "var(--jp-warn-color1,#f57c00)",
}


def credits(amount: Decimal | None) -> str:
    """Return an amount of credits in words.

    Examples
    --------
    >>> credits(Decimal("0.050")), credits(Decimal(1)), credits(None)
    ('0.05 credits', '1 credit', 'price unknown')
    """
    if amount is None:
        return "price unknown"
    text = f"{amount:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{text} credit{'' if text == '1' else 's'}"


def account(item: wire.Account) -> str:
    """Draw an account: who pays, and what there is to pay with."""
    rows = {"e-mail": item.email, "balance": item.credits is not None and credits(item.credits)}
    return _card(item.name or "Account", _facts(rows))


def models(items: Iterable[wire.Model]) -> str:
    """Draw models as a table: what each makes, what it costs, what it takes."""
    header = ("model", "makes", "category", "from", "usual", "takes")
    rows = [
        (
            f"<b>{escape(m.id)}</b>",
            escape(m.asset_type),
            escape(m.category),
            escape(_plain(m.credits_from)),
            escape(_plain(m.estimated_credits or m.credits_at_defaults)),
            escape(", ".join(_input(p) for p in m.parameters)),
        )
        for m in items
    ]
    return _card("", _table(header, rows))


def model(item: wire.Model) -> str:
    """Draw a model with its prices and parameters."""
    price = f"from {credits(item.credits_from)}"
    if item.credits_at_defaults is not None:
        price += f", {credits(item.credits_at_defaults)} with its defaults"
    facts = _facts({"makes": f"{item.asset_type} · {item.category}", "costs": price})
    text = f"<div>{escape(item.description)}</div>" if item.description else ""
    return _card(item.title or item.id, text + facts + parameters(item))


def parameters(item: wire.Model) -> str:
    """Draw what a model takes as a table; nothing for one that takes only a prompt."""
    if not item.parameters:
        return ""
    header = ("parameter", "type", "default", "allowed", "")
    rows = [
        (
            f"<b>{escape(p.name)}</b>{'*' if p.required else ''}",
            escape(p.type),
            "" if p.default is None else escape(str(p.default)),
            escape(_allowed(p)),
            f'<span style="{_FAINT}">{escape(p.description)}</span>',
        )
        for p in item.parameters
    ]
    return _table(header, rows)


def quote(item: wire.Quote) -> str:
    """Draw a price with the terms it is made of."""
    rows = [
        (escape(_term(t)), f"{'+' if t.credits >= 0 else ''}{escape(_plain(t.credits))}")
        for t in item.terms
    ]
    short = ""
    if item.affordable is False:
        balance = f": {credits(item.balance)}" if item.balance is not None else ""
        short = _warning(f"the balance is too low{balance}")
    source = f'<span style="{_FAINT}">by {escape(item.source)}</span>'
    return _card(credits(item.total), (_table((), rows) if rows else "") + short + source)


def generation(
    item: wire.Generation, charged: Decimal | None, *, media: str = "", note: str = ""
) -> str:
    """Draw a generation: its media where there is one, what it is, and why there is none.

    Parameters
    ----------
    media : str
        HTML of the media; it is trusted, `kit.widgets.media` makes it.
    note : str
        A sentence to show where the media should be.
    """
    facts = item.output or wire.Output()
    size = f"{facts.width}×{facts.height}" if facts.width and facts.height else ""
    length = f"{facts.duration_seconds:g} s" if facts.duration_seconds else ""
    price = credits(charged) if charged is not None else ""
    words = [item.model_id or item.model_name or "", size, length, price]
    status = f'<b style="color:{_COLORS.get(item.state, "inherit")}">{escape(item.state)}</b>'
    problem = item.error if item.state == "failed" else note
    parts = [
        media,
        f"<div>{escape(item.prompt)}</div>" if item.prompt else "",
        f'<div style="{_FAINT}">{status} · {escape(" · ".join(filter(None, words)))}</div>',
        _warning(problem) if problem else "",
    ]
    return _card("", "".join(parts))


def title(item: wire.Title) -> str:
    """Draw a title with its hook angle."""
    return _card(item.title, f'<div style="{_FAINT}">{escape(item.hook_angle)}</div>')


def script(item: wire.Script) -> str:
    """Draw a script with its length."""
    body = f'<div style="white-space:pre-wrap">{escape(item.content)}</div>'
    return _card(item.title, f'{body}<div style="{_FAINT}">{escape(_length(item))}</div>')


def generation_text(item: wire.Generation, charged: Decimal | None) -> str:
    """Return a generation in one line.

    Examples
    --------
    >>> done = wire.Generation(id="gen_1", status="completed", model_id="poster")
    >>> generation_text(done, Decimal("0.02"))
    '<Generation poster · completed · 0.02 credits>'
    """
    price = credits(charged) if charged is not None else None
    words = [item.model_id, item.asset_type, item.state, price]
    return f"<Generation {' · '.join(filter(None, words))}>"


#: How each answer looks in one line.
TEXTS: dict[type[Any], Callable[[Any], str]] = {
    wire.Account: lambda a: f"<Account {a.name}{_balance(a)}>",
    wire.Model: lambda m: f"<Model {m.id} · {m.asset_type} · from {credits(m.credits_from)}>",
    wire.Quote: lambda q: f"<Quote {credits(q.total)} · {q.source}>",
    wire.Title: lambda t: f"<Title {t.title!r}>",
    wire.Script: lambda s: f"<Script {s.title!r} · {_length(s)}>",
    wire.Generation: lambda g: generation_text(g, g.credits_charged),
}
#: How each answer looks in HTML.
HTML: dict[type[Any], Callable[[Any], str]] = {
    wire.Account: account,
    wire.Model: model,
    wire.Quote: quote,
    wire.Title: title,
    wire.Script: script,
    wire.Generation: lambda g: generation(g, g.credits_charged),
}


def register(shell: Any = None) -> None:
    """Teach IPython to draw answers; without IPython nothing happens."""
    ipython = sys.modules.get("IPython")
    shell = shell or (ipython.get_ipython() if ipython else None)
    if shell is None:
        return
    formatters: Mapping[str, Any] = shell.display_formatter.formatters
    for kind, text in TEXTS.items():
        formatters["text/plain"].for_type(kind, _printer(text))
        formatters["text/html"].for_type(kind, HTML[kind])


def _printer(text: Callable[[Any], str]) -> Callable[[Any, Any, bool], None]:
    return lambda item, printer, _cycle: printer.text(text(item))


def _balance(item: wire.Account) -> str:
    return "" if item.credits is None else f" · {credits(item.credits)}"


def _card(heading: str, body: str) -> str:
    top = f'<div style="font-weight:600;font-size:14px">{escape(heading)}</div>' if heading else ""
    return f'<div style="{_CARD}">{top}{body}</div>'


def _warning(sentence: str) -> str:
    return f'<div style="color:{_COLORS["failed"]}">{escape(sentence)}</div>'


def _facts(rows: Mapping[str, str | bool]) -> str:
    cells = [
        (f'<span style="{_FAINT}">{escape(name)}</span>', escape(str(value)))
        for name, value in rows.items()
        if value
    ]
    return _table((), cells) if cells else ""


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = "".join(f'<th style="{_CELL};{_FAINT}">{escape(name)}</th>' for name in header)
    lines = ["".join(f'<td style="{_CELL}">{cell}</td>' for cell in row) for row in rows]
    body = "".join(f"<tr>{line}</tr>" for line in ([head] if head else []) + lines)
    return f'<table style="{_FONT};color:inherit;border-collapse:collapse">{body}</table>'


def _plain(amount: Decimal | None) -> str:
    return "" if amount is None else credits(amount).partition(" ")[0]


def _input(parameter: wire.Parameter) -> str:
    return f"{parameter.name}*" if parameter.required else parameter.name


def _allowed(parameter: wire.Parameter) -> str:
    if parameter.enum:
        return ", ".join(map(str, parameter.enum))
    low, high = parameter.minimum, parameter.maximum
    if low is None and high is None:
        return f"up to {parameter.max_items}" if parameter.max_items else ""
    return f"{_bound(low)} to {_bound(high)}".strip()


def _bound(value: float | None) -> str:
    if value is None:
        return ""
    return str(int(value)) if float(value).is_integer() else f"{value:g}"


def _term(term: wire.Term) -> str:
    if term.kind == "unit":
        return f"{term.parameter}: {term.value}"
    if term.kind == "multiplier":
        return f"{term.parameter}: {term.value} (× {_plain(term.factor)})"
    return term.kind


def _length(item: wire.Script) -> str:
    seconds = f"{item.metrics.duration} s · " if item.metrics.duration else ""
    return f"{seconds}{item.metrics.word_count} words"
