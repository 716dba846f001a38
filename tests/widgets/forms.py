"""A fake service for forms, and a clock with a background that the test controls."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from ipywidgets import HTML

from kit import wire
from kit.errors import GenerationFailedError, NoAnswerError, NotFoundError
from kit.parameters import Request
from kit.studio.forms import FormService
from kit.widgets.background import BackgroundRunner
from kit.widgets.boxes import NewestFirst
from kit.widgets.form import Form
from tests.widgets.tree import every, find, styled


@dataclass
class Clock:
    """Time and background work; both stand still until the test calls `run` or `wait`."""

    now: float = 0.0
    pending: list[Callable[[], None]] = field(default_factory=list)
    timers: dict[int, tuple[float, Callable[[], None]]] = field(default_factory=dict)
    numbers: Any = field(default_factory=itertools.count)

    @property
    def background(self) -> BackgroundRunner:
        return BackgroundRunner(begin=self.pending.append, after=self.after, clock=lambda: self.now)

    def after(self, seconds: float, work: Callable[[], None]) -> Callable[[], None]:
        number = next(self.numbers)
        self.timers[number] = (self.now + seconds, work)
        return lambda: self.timers.pop(number, None) and None

    def run(self) -> None:
        """Run the pending work, and the work that it starts."""
        while self.pending:
            self.pending.pop(0)()

    def wait(self, seconds: float = 1.0) -> None:
        """Let time pass: run due timers and pending work."""
        until = self.now + seconds
        self.run()
        while due := sorted((at, n) for n, (at, _) in self.timers.items() if at <= until):
            self.now, number = due[0]
            self.timers.pop(number)[1]()
            self.run()
        self.now = until


@dataclass
class Api:
    """A service that records its requests and returns what the test has set."""

    folder: Path
    funds: Decimal | None = Decimal(10)
    price: Decimal | Exception = Decimal("0.7")
    updates: list[dict[str, Any]] = field(default_factory=lambda: [{}, {"progress": 0.5}])
    sent: tuple[float, ...] = ()
    waits: tuple[str, ...] = ()
    error: Exception | None = None
    during: Callable[[], None] = lambda: None
    html: str = "<img alt='made'>"
    requests: list[Request] = field(default_factory=list)
    quoted: list[Request] = field(default_factory=list)
    canceled: list[str] = field(default_factory=list)
    resumed: list[str] = field(default_factory=list)
    cannot_cancel: bool = False
    followers: list[Callable[[], None]] = field(default_factory=list)
    usual: float | None = None
    results: list[tuple[wire.Generation, bytes]] = field(default_factory=list)
    unfinished: list[wire.Generation] = field(default_factory=list)

    def subscribe(self, call: Callable[[], None]) -> None:
        self.followers.append(call)

    def change(self) -> None:
        """Notify all followers of a change."""
        for call in self.followers:
            call()

    def quote(self, request: Request) -> wire.Quote:
        self.quoted.append(request)
        if isinstance(self.price, Exception):
            raise self.price
        return wire.Quote(total=self.price, source="service")

    def variants(self, prompt: str) -> Any:
        return FormService.variants(self, prompt)  # type: ignore[arg-type]

    def open_model(self, model_id: str) -> tuple[wire.Model, None]:
        if model_id != "drift":
            raise NotFoundError(f"there is no model {model_id!r}")
        return wire.Model(id="drift", setting_parameters=[COUNT]), None

    def balance(self) -> Decimal | None:
        return self.funds

    def generate(
        self,
        request: Request,
        on_update: Callable[[wire.Generation], None],
        on_sent: Callable[[str, float], None],
        on_wait: Callable[[str], None],
    ) -> Any:
        self.requests.append(request)
        self.change()
        for why in self.waits:
            on_wait(why)
            self.during()
        for share in self.sent:
            on_sent("face.png", share)
            self.during()
        name = f"gen_{len(self.requests)}"
        for facts in self.updates:
            on_update(wire.Generation(id=name, **facts))
            self.during()
        if name in self.canceled:
            gone = wire.Generation(id=name, status="canceled", credits_refunded=Decimal("0.6"))
            raise GenerationFailedError("canceled", gone)
        if self.error:
            raise self.error
        return ("held", name)

    def resume(
        self,
        generation_id: str,
        on_update: Callable[[wire.Generation], None],
        on_wait: Callable[[str], None],
    ) -> Any:
        self.resumed.append(generation_id)
        on_update(wire.Generation(id=generation_id, status="completed"))
        self.during()
        if self.error:
            raise self.error
        return ("held", generation_id)

    def wrap(self, facts: wire.Generation) -> Any:
        return ("held", facts.id, facts.state)

    def fetch_output(self, facts: wire.Generation) -> Path:
        path = self.folder / f"{facts.id}.png"
        path.write_bytes(b"all pixels")
        return path

    def list_unfinished(self, model_id: str) -> list[wire.Generation]:
        return [one for one in self.unfinished if one.model_id == model_id]

    def list_earlier(self, kind: str) -> list[tuple[wire.Generation, bytes]]:
        return self.results

    def usual_seconds(self, facts: wire.Generation) -> float | None:
        return self.usual

    def accepting_models(self, facts: wire.Generation) -> list[wire.Model]:
        return [wire.Model(id="restyle", title="Restyle")]

    def open_form(self, facts: wire.Generation, model_id: str | None = None) -> Any:
        return HTML(f"form of {model_id or facts.model_id}")

    def cancel(self, generation_id: str) -> None:
        if self.cannot_cancel:
            raise NoAnswerError("this service cannot cancel a generation")
        self.canceled.append(generation_id)

    def show(self, generation: Any) -> str:
        return f"{self.html} {generation[1]}"

    @property
    def uploads(self) -> Path:
        return self.folder

    def save(self, name: str, content: bytes | memoryview, settle: Any = None) -> Path:
        path = self.folder / name
        path.write_bytes(content)
        return path

    def path(self, medium: Any) -> Path:
        return self.save("medium.png", medium) if isinstance(medium, bytes) else Path(medium)


COUNT = wire.Parameter(name="count", type="integer", default=1, minimum=1, maximum=10)
SIZE = wire.Parameter(name="size", default="small", enum=["small", "big"])
SEED = wire.Parameter(name="seed", type="integer", minimum=0, maximum=99)
RULE = wire.Rule.model_validate(
    {
        "base": 0.5,
        "units": [{"parameter": "count", "credits": 0.1}],
        "multipliers": [{"parameter": "size", "values": {"big": 2}}],
    }
)


def model(**changed: Any) -> wire.Model:
    """A model with a price rule, a slider, buttons and an optional seed."""
    facts: dict[str, Any] = {
        "id": "flat",
        "title": "Flat",
        "prompt_required": True,
        "setting_parameters": [COUNT, SIZE, SEED],
        "pricing": RULE,
    }
    return wire.Model(**(facts | changed))


def control(form: Form, path: str) -> Any:
    """The input widget of a field."""
    return form.fields[path].control


def note(form: Form, path: str) -> str:
    """The note beside a field."""
    return str(form.fields[path].note.value)


def price(form: Form) -> str:
    """What stands beside the button."""
    return str(styled(form, "kit-price").value)


def submit_button(form: Form) -> Any:
    """The button that starts a generation."""
    return find(form, "Generate")


def click(form: Form, clock: Clock) -> None:
    """Click Generate, and wait until the button is enabled again."""
    submit_button(form).click()
    clock.wait(1)


def button(form: Form, word: str) -> Any:
    """A button of the form's bar, by its label."""
    return find(form, word)


def results(form: Form) -> NewestFirst:
    """The box with the results."""
    return every(form, NewestFirst)[0]


def shown(form: Form) -> list[str]:
    """The texts of the results below the form, newest first."""
    return [words(panel) for panel in results(form).shown]


def words(panel: Any) -> str:
    """The text of a result panel: the progress, the output or the error of a run."""
    return str(every(panel, HTML)[0].value)
