"""The service as a form uses it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol

from kit import wire
from kit.parameters import Request
from kit.widgets.background import ChangeCheck
from kit.widgets.form.presets import Presets
from kit.widgets.result import ResultService

Link = Callable[[Path], bool]
SaveFile = Callable[[str, memoryview, Link], Path]


class Variants(Protocol):
    """The prompts of a template."""

    def __len__(self) -> int: ...

    def sample(self, count: int) -> Sequence[str]:
        """Return some prompts, drawn at random; all if there are not more."""


class Service(ResultService, Protocol):
    """The service as a form uses it; all calls may block, so they are made in the background."""

    @property
    def uploads(self) -> Path:
        """The folder of uploaded files; it may not exist yet."""

    def subscribe(self, call: Callable[[], None]) -> ChangeCheck:
        """Call a method after each change, on any thread; return a check for others' changes."""

    def quote(self, request: Request) -> wire.Quote:
        """Return the price of a request from the best source."""

    def variants(self, prompt: str) -> Variants | None:
        """Return a prompt as a template, None if it is none; raises `KitError`."""

    def open_model(self, model_id: str) -> tuple[wire.Model, Presets | None]:
        """Return a model and the presets of its forms; raises `KitError`."""

    def balance(self) -> Decimal | None:
        """Return the balance; None if the service does not report it."""

    def generate(
        self,
        request: Request,
        on_update: Callable[[wire.Generation], None],
        on_sent: Callable[[str, float], None],
        on_wait: Callable[[str], None],
    ) -> Any:
        """Start a request, wait for its end and return the generation.

        `on_update`: called with each response, the first one right after the start.
        `on_sent`: called with a file's name and the share of all uploads sent so far, 0 to 1.
        `on_wait`: called with a message when the service asks to wait.
        """

    def resume(
        self,
        generation_id: str,
        on_update: Callable[[wire.Generation], None],
        on_wait: Callable[[str], None],
    ) -> Any:
        """Continue to wait for a started generation and return it; nothing is charged again."""

    def list_unfinished(self, model_id: str) -> Sequence[wire.Generation]:
        """Return a model's newest generations that were started before and not seen to end."""

    def list_earlier(self, kind: str) -> Sequence[tuple[wire.Generation, bytes]]:
        """Return the newest results of a kind, ``image`` or ``video``, each with its thumbnail."""

    def usual_seconds(self, facts: wire.Generation) -> float | None:
        """Return the usual duration of such a generation on this computer, if known."""

    def wrap(self, facts: wire.Generation) -> Any:
        """Return a generation as an object of the user's studio."""

    def cancel(self, generation_id: str) -> None:
        """Ask the service to cancel a generation."""

    def show(self, generation: Any) -> str:
        """Return a finished generation as HTML, with its media and its price."""

    def save(self, name: str, content: bytes | memoryview, link: Link | None = None) -> Path:
        """Save a file from the browser and return its path.

        `link`: moves the content to a new path without copying it, and returns whether that was
        possible.
        """

    def path(self, medium: Any) -> Path:
        """Return the path of a medium, saving it to a file if necessary; raises `KitError`."""
