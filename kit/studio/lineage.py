"""Lineage: the generations whose outputs are inputs of another one, with their costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from html import escape
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from kit import wire
from kit.client.calls import Flow
from kit.errors import KitError
from kit.studio.generation import BaseGeneration, find_thumbnail, request_of
from kit.studio.operations import Operations
from kit.studio.views import gallery_item
from kit.widgets import markup, media
from kit.widgets.markup import FAINT

if TYPE_CHECKING:
    import pandas as pd

#: Maximum of generations in one lineage.
MAX_GENERATIONS = 100

G = TypeVar("G", bound=BaseGeneration)
#: Id of a generation -> ids of the generations whose outputs are its inputs.
Inputs = Mapping[str, Sequence[str]]
_FIT = media.Fit(limit=20_000, width=160)
_CARD = "width:170px;border:1px solid var(--jp-border-color2,#9996);border-radius:6px;padding:6px"
_COLUMN = "display:flex;flex-direction:column;gap:8px;justify-content:center"
_ARROW = (
    f'<span style="align-self:center;font-size:20px;{FAINT}" aria-label="leads to">'
    "\N{RIGHTWARDS ARROW}</span>"
)


def trace_inputs(
    operations: Operations, facts: wire.Generation
) -> Flow[tuple[list[wire.Generation], Inputs]]:
    """Return all generations that a generation depends on, then itself, and their inputs.

    A generation that the service no longer has is represented by its id.
    """
    found, inputs, queue = {facts.id: facts}, {}, [facts]
    while queue:
        one = queue.pop()
        inputs[one.id] = list(dict.fromkeys(request_of(one, operations).inputs))
        for input_id in inputs[one.id]:
            if input_id not in found and len(found) < MAX_GENERATIONS:
                try:
                    found[input_id] = yield from operations.get(input_id)
                except KitError:
                    found[input_id] = wire.Generation(id=input_id, status="gone")
                queue.append(found[input_id])
    levels = find_levels(facts.id, inputs)
    return sorted(found.values(), key=lambda one: -levels.get(one.id, 0)), inputs


def find_levels(last: str, inputs: Inputs) -> dict[str, int]:
    """Return the longest distance of each generation from the last one."""
    levels = {last: 0}
    for _ in range(MAX_GENERATIONS):  # ends even if there is a cycle
        before = dict(levels)
        for one, level in before.items():
            for input_id in inputs.get(one, ()):
                levels[input_id] = min(max(levels.get(input_id, 0), level + 1), MAX_GENERATIONS)
        if levels == before:
            break
    return levels


@dataclass(frozen=True, slots=True, repr=False)
class Lineage(Generic[G]):
    """A generation and its direct and indirect inputs, inputs first; displayed as a chain.

    Examples
    --------
    ``studio.generate("retouch", media=lake).lineage().frame()``
    """

    generations: Sequence[G]
    inputs: Inputs

    def __len__(self) -> int:
        return len(self.generations)

    def __iter__(self) -> Iterator[G]:
        return iter(self.generations)

    @property
    def credits(self) -> float:
        """The total of known charges minus refunds."""
        return float(self._total)

    @property
    def _total(self) -> Decimal:
        costs = (gallery_item(one).cost for one in self.generations)
        return sum((cost for cost in costs if cost is not None), Decimal(0))

    def frame(self) -> pd.DataFrame:
        """Return one row per generation, inputs first, with its inputs and its costs."""
        import pandas as pd

        rows = [
            {
                "generation_id": one.id,
                "model_id": one.model_id,
                "prompt": one.prompt,
                "status": one.status if one.facts.status != "gone" else "gone",
                "inputs": ", ".join(self.inputs.get(one.id, ())),
                "net": None if (cost := gallery_item(one).cost) is None else float(cost),
            }
            for one in self.generations
        ]
        return pd.DataFrame(rows).astype({"net": "float64"})

    def __repr__(self) -> str:
        names = " → ".join(one.model_id or one.id for one in self.generations)
        return f"<Lineage {names} · {self._total:f} credits>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        levels = find_levels(self.generations[-1].id, self.inputs)
        columns: dict[int, str] = {}
        for one in self.generations:
            level = levels.get(one.id, 0)
            columns[level] = columns.get(level, "") + _draw_step(one)
        # side by side, inputs first
        drawn = _ARROW.join(
            f'<div style="{_COLUMN}">{columns[level]}</div>'
            for level in sorted(columns, reverse=True)
        )
        count = markup.count_of(len(self), "generation")
        html = (
            f'<div style="{markup.FONT};{markup.COLOR}">'
            f'<div style="display:flex;flex-wrap:wrap;gap:10px">{drawn}</div>'
            f'<div style="{FAINT};margin-top:6px">{count} · {markup.credits(self._total)} in all'
            "</div></div>"
        )
        return {"text/plain": repr(self), "text/html": html}


def _draw_step(generation: BaseGeneration) -> str:
    facts, cost = generation.facts, gallery_item(generation).cost
    thumbnail = find_thumbnail(generation)
    title = facts.prompt or facts.model_id or facts.id
    picture = media.still(thumbnail, title=title, fit=_FIT) if thumbnail else ""
    price = markup.credits(cost) if cost is not None else "price unknown"
    name = facts.model_id or "no longer at the service"
    prompt = escape(title if len(title) <= 60 else f"{title[:59]}\N{HORIZONTAL ELLIPSIS}")
    lines = f"<b>{escape(name)}</b><div>{prompt if facts.prompt else ''}</div>"
    return f'<div style="{_CARD}">{picture}{lines}<div style="{FAINT}">{price}</div></div>'
