"""The blind comparison: pairs of pictures without model or parameters, to find a ranking."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import ipywidgets

from kit.errors import ConfigError
from kit.widgets import markup, media
from kit.widgets.gallery import GalleryItem, draw_items
from kit.widgets.snapshots import SnapshotBox

if TYPE_CHECKING:
    import pandas as pd

#: One decision: the better one, the other one, and whether they are equal.
Choice: TypeAlias = tuple[str, str, bool]
#: Label of a button -> the better side, or equal.
_ANSWERS = {"Left is better": "left", "No difference": "equal", "Right is better": "right"}
_PICTURE = "display:block;width:100%;height:auto;border-radius:4px"
_ITEM = "width:240px;max-width:100%;overflow-wrap:anywhere"
_LIST = "list-style:none;margin:8px 0;padding:0;display:flex;flex-wrap:wrap;gap:12px"


class BlindComparison(SnapshotBox):
    """Pairs to choose from, in random order and on random sides; `ranking` has the result.

    `rank`: returns a dataframe with ``place``, ``won``, ``lost`` and ``tied`` from ids and choices.
    `seed`: seed of the random order.
    """

    def __init__(
        self,
        items: Sequence[GalleryItem],
        rank: Callable[[Sequence[str], Sequence[Choice]], pd.DataFrame],
        *,
        size: int = 320,
        seed: int | None = None,
    ) -> None:
        self._body = ipywidgets.VBox()
        style = ipywidgets.HTML(markup.style_element(__package__, "shared.css"))
        super().__init__([self._body, style], "kit-blind")
        self._rank = rank
        self._items = {item.facts.id: item for item in items}
        if len(self._items) < 2:
            raise ConfigError("it takes two different generations to compare blindly")
        fit = media.Fit(width=max(size, 480), style=_PICTURE)
        unnamed = {"prompt": "", "model_id": ""}  # the elements must not reveal them
        secret = [
            replace(item, facts=item.facts.model_copy(update=unnamed))
            for item in self._items.values()
        ]
        self._media = dict(zip(self._items, draw_items(secret, fit, whole=True), strict=True))
        rng = random.Random(seed)  # noqa: S311 - no secret
        pairs = [rng.sample(pair, 2) for pair in combinations(self._items, 2)]
        rng.shuffle(pairs)
        self._pairs = pairs
        self._choices: list[Choice] = []
        self._line = ipywidgets.HTML()
        layout = ipywidgets.Layout(width=f"{size}px")
        self._sides = [ipywidgets.HTML(layout=layout) for _ in range(2)]
        self._buttons = [ipywidgets.Button(description=name) for name in _ANSWERS]
        for button in self._buttons:
            button.on_click(lambda clicked: self.choose(_ANSWERS[clicked.description]))
        rows = (ipywidgets.HBox(self._sides), ipywidgets.HBox(self._buttons))
        self._body.children = [self._line, *rows]
        self._show()

    def __repr__(self) -> str:
        done, count = len(self._choices), len(self._pairs)
        return f"<BlindComparison of {len(self._items)} generations · {done} of {count} choices>"

    @property
    def pair(self) -> tuple[str, str] | None:
        """The ids of the displayed pair, left and right; None after the last pair."""
        if len(self._choices) == len(self._pairs):
            return None
        left, right = self._pairs[len(self._choices)]
        return left, right

    def choose(self, better: str) -> None:
        """Choose the better one, ``left``, ``right`` or ``equal``, and show the next pair.

        Raises `ConfigError` for any other value, or if there is no pair left.
        """
        if better not in _ANSWERS.values():
            raise ConfigError(f"better is 'left', 'right' or 'equal', not {better!r}")
        if self.pair is None:
            raise ConfigError("all pairs have been compared; ranking() has the order")
        left, right = self.pair
        first, second = (right, left) if better == "right" else (left, right)
        self._choices.append((first, second, better == "equal"))
        self._show()
        self.snapshot.follow()

    def ranking(self) -> pd.DataFrame:
        """Return the generations in order of preference, with model and parameters."""
        found = self._rank(list(self._items), self._choices)
        facts = [self._items[name].facts for name in found.index]
        return found.assign(
            model_id=[f.model_id or "" for f in facts], prompt=[f.prompt or "" for f in facts]
        )

    def _show(self) -> None:
        if self.pair is None:
            self._body.children = [ipywidgets.HTML(self._result())]
            return
        done, count = len(self._choices), len(self._pairs)
        self._line.value = _sentence(f"Which is better? {done + 1} of {count}")
        for side, name in zip(self._sides, self.pair, strict=True):
            side.value = f'<div style="padding:4px">{self._media[name]}</div>'

    def _html(self) -> str:
        """Return the ranking; model and parameters are hidden until all pairs are compared."""
        done = _sentence(f"{len(self._choices)} of {len(self._pairs)} pairs were compared")
        return done if self.pair else done + self._result()

    def _result(self) -> str:
        tiles = ""
        for name, row in self.ranking().iterrows():
            model = markup.set_direction(escape(row.model_id))
            count = f"{row.won} won, {row.lost} lost, {row.tied} equal"
            tiles += (
                f'<li style="{_ITEM}">{self._media[str(name)]}{row.place}. {model} · {count}'
                f'<div style="{markup.FAINT}">{escape(str(name))}</div></li>'
            )
        return _sentence(f'Ranking, best first<ol style="{_LIST}">{tiles}</ol>')


def _sentence(text: str) -> str:
    return f'<div style="{markup.FONT};{markup.COLOR}" aria-live="polite">{text}</div>'
