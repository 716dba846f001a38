"""Forms of a studio: what `kit.widgets.form` needs of a service, made of a operations and a client.

Every call blocks; a form makes them in threads of its own. It is the same for both faces: what they
differ in is how they run a flow, and which generation they hand out.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kit import wire
from kit.client import calls, downloads, flows, uploads
from kit.client.actions import Flow, Sleep
from kit.errors import KitError
from kit.private import make_folder
from kit.studio import requests
from kit.studio.generation import BaseGeneration, Session
from kit.studio.requests import resolve_media

if TYPE_CHECKING:
    from kit.parameters import Request
    from kit.widgets.form import Form
    from kit.widgets.form.service import Settle

T = TypeVar("T")


class FormService:
    """A service as a form sees it."""

    def __init__(self, session: Session[Any]) -> None:
        self._session = session
        self._operations = session.operations
        self._client = session.client

    @property
    def uploads(self) -> Path:
        """The folder of the files that came through the browser."""
        return self._operations.settings.data / "notebook" / "uploads"

    def quote(self, request: Request) -> wire.Quote:
        """Return what a request costs, by the rule, the service, or the defaults."""
        return self._client.block(self._operations.quote(self._operations.with_files(request)))

    def balance(self) -> Decimal | None:
        """Return what there is to spend; None where the service does not tell."""
        return self._client.block(flows.ask(calls.get_account(), flows.ONCE)).credits

    def generate(
        self,
        request: Request,
        on_update: Callable[[wire.Generation], None],
        on_sent: Callable[[str, float], None],
        on_wait: Callable[[str], None],
    ) -> Any:
        """Start a request anew, wait for it, and return it with its output in the cache."""
        flow = self._operations.generate(
            self._operations.with_files(request), again=True, on_update=on_update, on_sent=on_sent
        )
        return self._held(flow, on_wait)

    def resume(
        self,
        generation_id: str,
        on_update: Callable[[wire.Generation], None],
        on_wait: Callable[[str], None],
    ) -> Any:
        """Wait on for what was started, and return it with its output in the cache."""
        return self._held(self._waited(generation_id, on_update), on_wait)

    def held(self, facts: wire.Generation) -> Any:
        """Return a generation as the user of this face holds it."""
        return self._session.hold(facts)

    def cancel(self, generation_id: str) -> None:
        """Ask to stop a generation."""
        self._client.block(self._operations.cancel(generation_id))

    def show(self, generation: BaseGeneration) -> str:
        """Return a finished generation as HTML."""
        return generation._repr_mimebundle_()["text/html"]

    def keep(self, name: str, content: bytes | memoryview, settle: Settle | None = None) -> Path:
        """Keep a file once, however often it comes, and return where it is."""
        safe = re.sub(r"[^\w.-]", "_", Path(name).name)[-100:] or "upload"
        digest = hashlib.sha256(content).hexdigest()[:16]
        path = self.uploads / digest / safe
        if not path.exists():
            make_folder(path.parent)
            if settle is None or not settle(path):
                beside = path.with_suffix(".part")
                beside.write_bytes(content)
                beside.replace(path)
        return path

    def path(self, medium: Any) -> Path:
        """Return where a medium is; what is no file yet becomes one."""
        if isinstance(medium, (str, Path)):
            return Path(medium).expanduser()
        if hasattr(medium, "_kit_file"):
            found: Path = self._client.block(resolve_media(medium))
            return found
        source = uploads.source(medium, ours=self._operations.settings.ours)
        with source.open() as file:
            return self.keep(source.name, file.read())

    def _held(self, flow: Flow[wire.Generation], on_wait: Callable[[str], None]) -> Any:
        try:
            return self._session.hold(self._client.block(report_waits(flow, on_wait)))
        except KitError as error:
            if error.generation_id:
                error.resume = self._session.hold(wire.Generation(id=error.generation_id)).wait
            raise

    def _waited(
        self, generation_id: str, on_update: Callable[[wire.Generation], None]
    ) -> Flow[wire.Generation]:
        done = yield from self._operations.wait(generation_id, on_update=on_update)
        yield from downloads.output(self._operations.cache, done)
        return done


def report_waits(flow: Flow[T], on_wait: Callable[[str], None]) -> Flow[T]:
    """Return a flow that also tells why it waits, where the service has asked for that."""
    outcome: Any = None
    try:
        while True:
            step = flow.send(outcome)
            if isinstance(step, Sleep) and step.why:
                on_wait(step.why)
            outcome = yield step
    except StopIteration as stop:
        result: T = stop.value
        return result
    finally:
        flow.close()


def build_form(
    session: Session[Any],
    model: wire.Model,
    prompt: str | None,
    media: Any,
    given: Mapping[str, Any],
) -> Form:
    """Return the form of a model, holding what was given."""
    from kit.widgets.form import Form, Presets, code

    operations = session.operations
    settings = operations.settings
    awaited = session.awaited and not operations.passing
    profile = "" if operations.keys else settings.name
    return Form(
        model,
        {
            "prompt": requests.json_text(prompt, "prompt"),
            "media": media,
            "parameters": requests.json_parameters(given),
        },
        service=FormService(session),
        presets=Presets(operations.settings.data / "notebook" / "presets", model.id),
        awaited=awaited,
        studio=code.studio(
            profile, settings.base_url if operations.passing else "", awaited=awaited
        ),
    )
