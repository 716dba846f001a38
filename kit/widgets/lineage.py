"""A lineage as a chain of small cards: what went into what, from left to right."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from html import escape

from kit import wire
from kit.widgets import markup, media
from kit.widgets.markup import FAINT

#: A generation, what it cost, and the picture that stands for it.
Step = tuple[wire.Generation, Decimal | None, bytes | None]
_FIT = media.Fit(limit=20_000, width=160)
_CARD = "width:170px;border:1px solid var(--jp-border-color2,#9996);border-radius:6px;padding:6px"
_ARROW = (
    f'<span style="align-self:center;font-size:20px;{FAINT}" aria-label="leads to">'
    "\N{RIGHTWARDS ARROW}</span>"
)


def draw_lineage(columns: Sequence[Sequence[Step]], total: Decimal) -> str:
    """Return the columns side by side, those that went in first, with what all of it cost."""
    drawn = _ARROW.join(
        '<div style="display:flex;flex-direction:column;gap:8px;justify-content:center">'
        + "".join(map(_draw_step, column))
        + "</div>"
        for column in columns
    )
    chain = f'<div style="display:flex;flex-wrap:wrap;gap:10px">{drawn}</div>'
    count = sum(map(len, columns))
    told = f"{markup.count_of(count, 'generation')} · {markup.credits(total)} in all"
    style = f"{markup.FONT};{markup.COLOR}"
    return f'<div style="{style}">{chain}<div style="{FAINT};margin-top:6px">{told}</div></div>'


def _draw_step(step: Step) -> str:
    facts, cost, thumbnail = step
    title = facts.prompt or facts.model_id or facts.id
    picture = media.still(thumbnail, title=title, fit=_FIT) if thumbnail else ""
    price = markup.credits(cost) if cost is not None else "price unknown"
    name = facts.model_id or "not at the service any more"
    prompt = escape(title if len(title) <= 60 else f"{title[:59]}\N{HORIZONTAL ELLIPSIS}")
    lines = f"<b>{escape(name)}</b><div>{prompt if facts.prompt else ''}</div>"
    return f'<div style="{_CARD}">{picture}{lines}<div style="{FAINT}">{price}</div></div>'
