"""Previews: how responses are displayed in a notebook, in one line and as HTML.

The classes of responses contain no HTML; `register` adds their previews. All text is escaped.
One-line forms contain no ids, times or URLs, so that repeated runs print the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from html import escape
from typing import Any

from kit import wire
from kit.widgets import prices
from kit.widgets.hosts import allow_widgets
from kit.widgets.markup import (
    FAINT,
    FONT,
    bar,
    bounds,
    card,
    count_of,
    credits,
    facts,
    faint,
    figure,
    set_direction,
    signed_amount,
    size,
    status,
    table,
    warning,
)
from kit.widgets.prices import quote, quote_text

_NUMBER = re.compile(r"\d{1,6}(\.\d{1,6})?")
#: Words per second of speech, if a service does not report the length of its script.
WORDS_PER_SECOND = 2.5
_SENTENCE = re.compile(r"\s*\S.*?[.!?…]+[\"'”’)]*(?=\s|$)", re.DOTALL)
_OPENING = (
    "font-weight:600;border-left:3px solid var(--jp-brand-color1,#1976d2);"
    "padding-left:8px;margin:4px 0;white-space:pre-wrap"
)


def title(item: wire.Title) -> str:
    """Draw a title with its hook angle and length."""
    words = len(item.title.split())
    length = f"{count_of(words, 'word')} · {count_of(len(item.title), 'character')}"
    hook = f'<div style="{_OPENING}">{escape(item.hook_angle)}</div>' if item.hook_angle else ""
    return card(item.title, hook + _foot(length, item.writer))


def script(item: wire.Script) -> str:
    """Draw a script with its first sentence emphasized, its length and its pace."""
    first = _SENTENCE.match(item.content)
    end = first.end() if first else len(item.content)
    opening, rest = item.content[:end].strip(), item.content[end:].strip()
    body = f'<div style="{_OPENING}" title="opening">{escape(opening)}</div>' if opening else ""
    if rest:
        body += f'<div style="white-space:pre-wrap">{escape(rest)}</div>'
    return card(item.title, body + _foot(script_length(item), item.writer))


def script_length(item: wire.Script) -> str:
    """Return the length of a script as text."""
    words = int(item.metrics.word_count) or len(item.content.split())
    if not (seconds := item.metrics.duration.strip()):
        return estimate_length(words, WORDS_PER_SECOND)
    number = float(seconds) if _NUMBER.fullmatch(seconds) else 0
    pace = f" · {words * 60 / number:.0f} words/min" if number else ""
    return f"{_seconds(seconds)} to speak · {count_of(words, 'word')}{pace}"


def estimate_length(words: int, pace: float) -> str:
    """Return the length of a text as text; the pace is in words per second."""
    return f"about {words / pace:.0f} s to speak · {count_of(words, 'word')}"


def _seconds(length: str) -> str:
    """Return a duration with its unit; other services may send a text such as 30s or 0:30."""
    return f"{length} s" if _NUMBER.fullmatch(length) else length


def _foot(length: str, writer: str | None) -> str:
    by = "written offline" if writer == "offline" else f"by {(writer or '').removeprefix('model:')}"
    text = f"{length} · {by}" if writer else length
    return f'<div style="{FAINT}">{escape(text)}</div>'


def account(item: wire.Account) -> str:
    """Draw an account with its balance."""
    balance = _money(item.credits) or "not reported"
    rows = {"e-mail": item.email, "balance": balance}
    return card(item.name or "Account", facts(rows))


def studio(name: str, owner: wire.Account | None, models: Sequence[wire.Model]) -> str:
    """Draw a studio: its service, account, models, and the next calls."""
    kinds = {kind: sum(m.asset_type == kind for m in models) for kind in ("image", "video")}
    rows = {
        "account": owner and owner.name,
        "balance": _money(owner.credits if owner else None),
        "models": ", ".join(f"{count} for {kind}s" for kind, count in kinds.items() if count),
    }
    painters = [m for m in models if m.prompt_required and not m.media_parameters]
    first = next(iter([*painters, *models]), None)
    what = f'"{first.id}"' if first else '"MODEL"'
    prompt = ', "a lake at dawn"' if painters else ""
    calls = (f"studio.form({what})", f"studio.generate({what}{prompt})", "studio.history.table()")
    lines = "".join(f"<div><code>{escape(call)}</code></div>" for call in calls)
    return card(f"Studio {name}", facts(rows) + f'<div style="margin-top:6px">{lines}</div>')


def studio_text(name: str, owner: wire.Account | None, models: Sequence[wire.Model]) -> str:
    """Describe a studio in one line."""
    count = count_of(len(models), "model") if models else ""
    texts = (owner.name, _money(owner.credits)) if owner else ()
    described = ", ".join(filter(None, (*texts, count)))
    return f"<Studio {name}{': ' if described else ''}{described}>"


def entries(items: Iterable[wire.Entry]) -> str:
    """Draw ledger entries as a table; charges are negative."""
    header = ("when (UTC)", "what", "credits", "balance after", "for")
    rows = [
        (
            f"{e.created_at:%Y-%m-%d %H:%M}",
            escape(e.kind),
            f"<b>{escape(signed_amount(e.credits))}</b>",
            escape(figure(e.balance_after)),
            faint(e.model_id or e.generation_id or ""),
        )
        for e in items
    ]
    return card("", table(header, rows) if rows else faint("no entries"))


def models(items: Iterable[wire.Model]) -> str:
    """Draw models as a table: output, prices, inputs."""
    header = ("model", "makes", "category", "from", "usual", "takes")
    rows = [
        (
            f"<b>{escape(m.id)}</b>",
            escape(m.asset_type),
            escape(m.category),
            escape(figure(m.credits_from)),
            escape(figure(m.estimated_credits) or prices.usual_price(m)),
            escape(", ".join(_input(p) for p in m.parameters)),
        )
        for m in items
    ]
    return card("", table(header, rows))


def model(item: wire.Model) -> str:
    """Draw a model with its prices and parameters."""
    prompt = ("optional", "required")[item.prompt_required] if item.supports_prompt else "none"
    rows = {
        "makes": f"{item.asset_type} · {item.category}",
        "prompt": prompt,
        "costs": prices.price_sentence(item),
    }
    text = f"<div>{escape(item.description)}</div>" if item.description else ""
    return card(item.title or item.id, text + facts(rows) + parameters(item.parameters))


def parameters(items: Iterable[wire.Parameter]) -> str:
    """Draw parameters as a table, required ones with a star; empty without any."""
    header = ("parameter", "type", "default", "allowed", "")
    rows = [
        (
            f"<b>{escape(p.name)}</b>{'*' if p.required else ''}",
            escape(p.type),
            "" if p.default is None else escape(str(p.default)),
            escape(limits_text(p)),
            faint(p.description),
        )
        for p in items
    ]
    return table(header, rows) if rows else ""


def receipt(item: wire.Receipt) -> str:
    """Draw the receipt of a start."""
    words = [item.model_id or "", _money(item.credits_charged)]
    return card("", f"{status(item.status)} {faint(_join(words))}")


def generation(
    item: wire.Generation, charged: Decimal | None, *, media: str = "", note: str = ""
) -> str:
    """Draw a generation: its media, its facts, and why there are no media."""
    running = "" if item.finished else bar(item.progress or 0.0)
    problem = item.error if item.state == "failed" else note
    copy = f"{item.deletion} at the service; this is a copy" if media and item.deletion else ""
    parts = [
        media,
        f"<div>{set_direction(escape(item.prompt))}</div>" if item.prompt else "",
        running,
        f"<div>{status(item.state)} {faint(f'· {caption(item, charged)}')}</div>",
        faint(f"not painted: {', '.join(item.unused_words)}") if item.unused_words else "",
        warning(problem) if problem else "",
        warning(item.note) if item.note else "",
        f"<div>{faint(copy)}</div>" if copy else "",
    ]
    return card("", "".join(parts))


def remark(sentence: str) -> str:
    """Draw a faint sentence below a card."""
    return f'<div style="{FONT};{FAINT};padding:2px 12px">{escape(sentence)}</div>'


def caption(item: wire.Generation, charged: Decimal | None) -> str:
    """Describe a generation in one line: model, size, length, price."""
    name = item.model_id or item.model_name or ""
    return _join([name, *measures(item.output or wire.Output()), costs(item, charged)])


def costs(item: wire.Generation, charged: Decimal | None) -> str:
    """Return the charge of a generation and its refund."""
    refunded = item.credits_refunded
    return _join([_money(charged), f"{figure(refunded)} refunded" if refunded else ""])


def output(item: wire.Output, *, media: str = "") -> str:
    """Draw the facts about an output, below its media if given."""
    size_text = size(item.size_bytes) if item.size_bytes else ""
    words = [item.content_type or "", *measures(item), size_text]
    return card("", f"{media}<div>{faint(_join(words))}</div>")


def generation_text(item: wire.Generation, charged: Decimal | None) -> str:
    """Return a generation in one line."""
    words = [item.model_id, item.asset_type, item.state, costs(item, charged)]
    return f"<Generation {' · '.join(filter(None, words))}>"


#: The previews of each class of responses: in one line, and as HTML.
DRAWINGS: dict[type[Any], tuple[Callable[[Any], str], Callable[[Any], str]]] = {
    wire.Account: (
        lambda a: f"<Account {_join([a.name, a.email or '', _money(a.credits)])}>",
        account,
    ),
    wire.Entry: (
        lambda e: f"<Entry {_join([e.kind, signed_amount(e.credits), e.model_id or ''])}>",
        lambda e: entries([e]),
    ),
    wire.Model: (
        lambda m: f"<Model {_join([m.id, m.asset_type, _money(m.credits_from, 'from ')])}>",
        model,
    ),
    wire.Parameter: (
        lambda p: f"<Parameter {_join([_input(p), p.type, limits_text(p)])}>",
        lambda p: card("", parameters([p])),
    ),
    wire.Quote: (quote_text, quote),
    wire.Title: (lambda t: f"<Title {t.title!r}>", title),
    wire.Script: (lambda s: f"<Script {s.title!r} · {_length(s)}>", script),
    wire.Receipt: (
        lambda r: f"<Receipt {_join([r.model_id or '', r.status, _money(r.credits_charged)])}>",
        receipt,
    ),
    wire.Generation: (
        lambda g: generation_text(g, g.credits_charged),
        lambda g: generation(g, g.credits_charged),
    ),
    wire.Output: (lambda o: f"<Output {_join([o.content_type or 'media', *measures(o)])}>", output),
}


def register() -> None:
    """Register the previews of responses, and enable widgets in the page."""
    wire.drawings.update(DRAWINGS)
    allow_widgets()


def _join(words: Iterable[str]) -> str:
    return " · ".join(filter(None, words))


def _money(amount: Decimal | None, before: str = "") -> str:
    """Return an amount with its unit; empty if unknown."""
    return "" if amount is None else f"{before}{credits(amount)}"


def measures(item: wire.Output) -> tuple[str, str]:
    """Return the size in pixels and the duration of an output, as far as known."""
    shape = f"{item.width}×{item.height}" if item.width and item.height else ""
    return shape, f"{item.duration_seconds:g} s" if item.duration_seconds else ""


def _input(parameter: wire.Parameter) -> str:
    return f"{parameter.name}*" if parameter.required else parameter.name


def limits_text(parameter: wire.Parameter) -> str:
    """Return the allowed values of a parameter: its choices, or its bounds."""
    if parameter.enum:
        return ", ".join(map(str, parameter.enum))
    limits = bounds(parameter.minimum, parameter.maximum)
    return limits or (f"up to {parameter.max_items}" if parameter.max_items else "")


def _length(item: wire.Script) -> str:
    length = item.metrics.duration.strip()
    seconds = f"{_seconds(length)} · " if length else ""
    return f"{seconds}{count_of(int(item.metrics.word_count), 'word')}"
