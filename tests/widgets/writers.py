"""A fake writer of titles and scripts, and functions that find widgets in a panel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import ipywidgets

from kit import wire
from kit.widgets.writing import WritingOrder


@dataclass
class FakeWriter:
    """A writer that records its requests, and raises the error that the test has set."""

    funds: Decimal | None = Decimal(10)
    error: Exception | None = None
    topics: list[str] = field(default_factory=list)
    briefs: list[WritingOrder] = field(default_factory=list)
    captioned: list[str] = field(default_factory=list)
    changed: Callable[[], None] = lambda: None

    def subscribe(self, call: Callable[[], None]) -> None:
        self.changed = call

    def title(self, topic: str) -> wire.Title:
        self.topics.append(topic)
        self._fail()
        self.changed()
        number = len(self.topics)
        return wire.Title(title=f"{topic} title {number}", hook_angle=f"angle {number}")

    def scripts(self, brief: WritingOrder) -> Sequence[wire.Script]:
        self.briefs.append(brief)
        self._fail()
        self.changed()
        facts = wire.Metrics(duration="4", word_count=8)
        return [
            wire.Script(id=f"scr_{n}", title=brief.title.title, content=f"text {n}", metrics=facts)
            for n in range(brief.variations)
        ]

    def balance(self) -> Decimal | None:
        return self.funds

    def captions(self, text: str) -> Any:
        self._fail()
        self.captioned.append(text)
        return ipywidgets.HTML(text)

    def _fail(self) -> None:
        if self.error is not None:
            raise self.error


def search(panel: Any, kind: type, words: str = "") -> list[Any]:
    """Return the widgets of a type, in order, whose description has these words."""
    below = [one for child in getattr(panel, "children", ()) for one in search(child, kind, words)]
    here = isinstance(panel, kind) and words in getattr(panel, "description", "")
    return [panel, *below] if here else below


def click(panel: Any, words: str) -> None:
    search(panel, ipywidgets.Button, words)[0].click()


def text(panel: Any) -> str:
    return " ".join(one.value for one in search(panel, ipywidgets.HTML))


def control(panel: Any, kind: type, words: str) -> Any:
    (one,) = search(panel, kind, words)
    return one
