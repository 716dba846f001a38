"""What a form asks for, and the service that it asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol

from kit import wire
from kit.parameters import Request
from kit.widgets.background import Look
from kit.widgets.form.presets import Presets
from kit.widgets.result import ResultService

Settle = Callable[[Path], bool]
Keep = Callable[[str, memoryview, Settle], Path]


class Variants(Protocol):
    """The prompts that a template stands for."""

    def __len__(self) -> int: ...

    def sample(self, count: int) -> Sequence[str]:
        """Return some of them, drawn at random; all where there are no more."""


class Service(ResultService, Protocol):
    """A service as a form sees it; every call may block, and none is made where that matters."""

    @property
    def uploads(self) -> Path:
        """The folder of the files that came through the browser; it need not be there yet."""

    def subscribe(self, call: Callable[[], None]) -> Look:
        """Have a method called, on any thread, after each change; return what looks for others'."""

    def quote(self, request: Request) -> wire.Quote:
        """Return what a request costs, from the best source there is."""

    def variants(self, prompt: str) -> Variants | None:
        """Return what a template stands for, None where it is none; raises `KitError`."""

    def open_model(self, model_id: str) -> tuple[wire.Model, Presets | None]:
        """Return a model, and what is kept of the values of its forms; raises `KitError`."""

    def balance(self) -> Decimal | None:
        """Return what there is to spend; None where the service does not say."""

    def generate(
        self,
        request: Request,
        on_update: Callable[[wire.Generation], None],
        on_sent: Callable[[str, float], None],
        on_wait: Callable[[str], None],
    ) -> Any:
        """Start a request, wait for its end and return the generation.

        `on_update`: called with each answer, the first one right after the start.
        `on_sent`: called with a file's name and the share of all uploads that has left, 0 to 1.
        `on_wait`: called with a sentence when the service has asked to wait.
        """

    def resume(
        self,
        generation_id: str,
        on_update: Callable[[wire.Generation], None],
        on_wait: Callable[[str], None],
    ) -> Any:
        """Wait on for what was started before and return it; nothing is paid again."""

    def earlier(self, kind: str) -> Sequence[tuple[wire.Generation, bytes]]:
        """Return the newest results of a kind, ``image`` or ``video``, each with its picture."""

    def usual_seconds(self, facts: wire.Generation) -> float | None:
        """Return how long such a generation took before on this computer, if it is known."""

    def hold(self, facts: wire.Generation) -> Any:
        """Return a generation as its user holds it."""

    def cancel(self, generation_id: str) -> None:
        """Ask to stop a generation."""

    def show(self, generation: Any) -> str:
        """Return a finished generation as HTML, with its media and its price."""

    def keep(self, name: str, content: bytes | memoryview, settle: Settle | None = None) -> Path:
        """Keep a file that came through the browser and return where it is.

        `settle`: puts the content at a path where there is nothing yet, without copying it, and
        returns whether that could be done.
        """

    def path(self, medium: Any) -> Path:
        """Return where a medium is, keeping what is no file yet; raises `KitError`."""
