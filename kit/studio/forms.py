"""Forms of a studio: the service interfaces of `kit.widgets.form` and `kit.widgets.writing`.

All calls block; forms make them in threads. The blocking and the async studio share this module;
they differ in how they run flows, and in the class of the generations that they return.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kit import wire
from kit.client import calls, downloads, flows, uploads
from kit.client.calls import Flow
from kit.errors import ConfigError, KitError, NotFoundError, ParameterError
from kit.explore.sweeps.templates import PromptTemplate, UnknownListError, template
from kit.parameters import suggest
from kit.private import make_folder, replace_file, user_path
from kit.studio import requests
from kit.studio.catalog import describe_retirement
from kit.studio.generation import BaseGeneration, Session, find_thumbnail
from kit.studio.requests import resolve_media

if TYPE_CHECKING:
    from kit.parameters import Request
    from kit.widgets.form import Form
    from kit.widgets.form.presets import Presets
    from kit.widgets.form.service import Link
    from kit.widgets.writing import Writing, WritingOrder

#: Number of earlier results offered as an input, and of files fetched at the same time.
MAX_EARLIER, _MAX_FETCHES = 24, 6
#: Maximum of unfinished generations that a new form shows, and their maximum age.
MAX_UNFINISHED, _UNFINISHED_AGE = 3, timedelta(days=1)


class PaidService:
    """The service as forms and the writing panel use it; calls block."""

    def __init__(self, session: Session[Any]) -> None:
        self._session = session
        self._operations = session.operations
        self._client = session.client
        self.subscribe = session.subscribe

    def balance(self) -> Decimal | None:
        """Return the balance; None if the service does not report it."""
        return self._client.block(flows.ask(calls.get_account(), flows.ONCE)).credits


class FormService(PaidService):
    """The service as a form uses it."""

    def __init__(self, session: Session[Any]) -> None:
        super().__init__(session)
        self._opened = datetime.now(UTC)

    @property
    def uploads(self) -> Path:
        """The folder of files uploaded through the browser."""
        return self._operations.settings.uploads

    def quote(self, request: Request) -> wire.Quote:
        """Return the price of a request, by rule, from the service, or from the defaults."""
        return self._client.block(self._operations.quote(self._operations.with_files(request)))

    def variants(self, prompt: str) -> PromptTemplate | None:
        """Return a prompt as a template, with the named lists of the folder ``lists``.

        Raises `ConfigError` if a list does not exist.
        """
        try:
            found = template(prompt, "lists")
        except UnknownListError as error:
            name = str(error).partition(":")[0]
            raise ConfigError(f"{name}: a form reads it from the folder lists") from None
        except ConfigError:  # the braces are text, as in a prompt of JSON
            return None
        if len(found) == 1 and all(name.isdigit() for name in next(iter(found)).choices):
            return None
        return found

    def generate(
        self,
        request: Request,
        on_update: Callable[[wire.Generation], None],
        on_sent: Callable[[str, float], None],
        on_wait: Callable[[str], None],
    ) -> Any:
        """Start a new generation, wait for it, and return it with its output in the cache."""
        flow = self._operations.generate(
            self._operations.with_files(request), again=True, on_update=on_update, on_sent=on_sent
        )
        return self._hold_result(flow, on_wait)

    def resume(
        self,
        generation_id: str,
        on_update: Callable[[wire.Generation], None],
        on_wait: Callable[[str], None],
    ) -> Any:
        """Continue to wait for a generation, and return it with its output in the cache."""
        return self._hold_result(self._wait_and_fetch(generation_id, on_update), on_wait)

    def usual_seconds(self, facts: wire.Generation) -> float | None:
        """Return the usual duration of generations of its model and size on this computer."""
        charged = self._operations.find_charge(facts)
        return self._operations.journal.usual_seconds(facts.model_id or "", charged)

    def wrap(self, facts: wire.Generation) -> Any:
        """Return a generation as an object of the user's studio."""
        return self._session.wrap(facts)

    def cancel(self, generation_id: str) -> None:
        """Ask the service to cancel a generation."""
        self._client.block(self._operations.cancel(generation_id))

    def show(self, generation: BaseGeneration) -> str:
        """Return a finished generation as HTML."""
        return generation._repr_mimebundle_()["text/html"]

    def fetch_output(self, facts: wire.Generation) -> Path:
        """Return the output file of a generation, downloaded if necessary."""
        return self._client.block(downloads.output(self._operations.cache, facts))

    def list_unfinished(self, model_id: str) -> list[wire.Generation]:
        """Return the newest generations of a model that were started before and not seen to end."""
        journal, own = self._operations.journal, self._operations.settings.key_hash
        first, last = wire.timestamp(self._opened - _UNFINISHED_AGE), wire.timestamp(self._opened)
        known = (
            start.id
            for start in map(journal.start, reversed(journal.pending()))
            if start.model_id == model_id and start.by == own and first < start.at <= last
        )
        found = []
        for name in islice(known, MAX_UNFINISHED):
            with suppress(NotFoundError):
                found.append(self._client.block(self._operations.get(name)))
        return found[::-1]

    def list_earlier(self, kind: str) -> list[tuple[wire.Generation, bytes]]:
        """Return the newest results of a kind with their thumbnails, fetched in parallel.

        Videos whose thumbnail is missing are listed without one.
        """
        asset_type = kind if kind in wire.CATEGORIES else None
        listed = calls.list_generations(
            limit=MAX_EARLIER, status="completed", asset_type=asset_type
        )
        found, _ = self._client.block(flows.fetch_page(listed))
        available = (one for one in found if one.state == "completed" and not one.deletion)
        kinds = ((one, one.asset_type or "image") for one in flows.sort_newest_first(available))
        matching = [one for one, each in kinds if asset_type in (None, each)][:MAX_EARLIER]
        with ThreadPoolExecutor(_MAX_FETCHES, thread_name_prefix="kit-earlier") as pool:
            pictures = list(pool.map(find_thumbnail, map(self._session.wrap, matching)))
        found_pictures = zip(matching, pictures, strict=True)
        return [(one, p or b"") for one, p in found_pictures if p or one.asset_type == "video"]

    def accepting_models(self, facts: wire.Generation) -> list[wire.Model]:
        """Return the models with an input parameter for a generation's output."""
        models = self._client.block(self._operations.models())
        return [one for one in models.values() if _input_for(one, facts)]

    def open_form(self, facts: wire.Generation, model_id: str | None = None) -> Form:
        """Return the form for a generation's request, or for a model that gets its output."""
        model = self._client.block(self._operations.model(model_id or facts.model_id or ""))
        if model_id is None:
            names = {parameter.name for parameter in model.setting_parameters}
            given = {n: v for n, v in (facts.parameters or {}).items() if n in names}
            return build_form(self._session, model, facts.prompt, None, given)
        media = {_input_for(model, facts): self.fetch_output(facts)}
        return build_form(self._session, model, None, media, {})

    def open_model(self, model_id: str) -> tuple[wire.Model, Presets]:
        """Return a model as forms show it, and its presets."""
        return open_model(self._session, self._client.block(self._operations.model(model_id)))

    def save(self, name: str, content: bytes | memoryview, link: Link | None = None) -> Path:
        """Save a file, once for each content, and return its path."""
        safe = re.sub(r"[^\w.-]", "_", Path(name).name)[-100:] or "upload"
        path = self.uploads / hashlib.sha256(content).hexdigest()[:16] / safe
        if not path.exists():
            make_folder(path.parent)
            if link is None or not link(path):
                part = path.with_suffix(".part")
                part.write_bytes(content)
                replace_file(part, path)
        return path

    def path(self, medium: Any) -> Path:
        """Return the path of a medium; other media are saved to a file first."""
        medium = self._client.block(resolve_media(medium))
        if isinstance(medium, (str, Path)):
            return user_path(medium)
        source = uploads.source(medium, ours=self._operations.settings.ours)
        with source.open() as file:
            return self.save(source.name, file.read())

    def _hold_result(self, flow: Flow[wire.Generation], on_wait: Callable[[str], None]) -> Any:
        resumable = self._session.resumable(flows.report_waits(flow, on_wait))
        return self._session.wrap(self._client.block(resumable))

    def _wait_and_fetch(
        self, generation_id: str, on_update: Callable[[wire.Generation], None]
    ) -> Flow[wire.Generation]:
        generation = yield from self._operations.wait(generation_id, on_update=on_update)
        return (yield from self._operations.fetch(generation))


def _input_for(model: wire.Model, facts: wire.Generation) -> str:
    """Return the parameter of a model that accepts a generation's output, or an empty text."""
    others = {*wire.MEDIA_TYPES} - {facts.asset_type or "image"}
    fits = (p for p in model.media_parameters if p.type not in others and p.name != "mask")
    return next((one.name for one in fits), "")


def open_model(session: Session[Any], model: wire.Model) -> tuple[wire.Model, Presets]:
    """Return a model with its retirement notice, and its presets, also kept for its successor."""
    from kit.widgets.form.presets import Presets

    operations = session.operations
    folder, models = operations.settings.data / "notebook" / "presets", operations.catalog.cached
    for other in models.values():
        if other.replaced_by:
            Presets(folder, other.replaced_by).add(Presets(folder, other.id))
    if sentence := describe_retirement(model, models):
        described = f"{sentence[0].upper()}{sentence[1:]}. {model.description}"
        model = model.model_copy(update={"description": described})
    return model, Presets(folder, model.replaced_by or model.id)


def build_form(
    session: Session[Any],
    model: wire.Model,
    prompt: str | None,
    media: Any,
    given: Mapping[str, Any],
) -> Form:
    """Return the form of a model, filled in with the given values."""
    from kit.widgets.form import Form, code

    operations = session.operations
    settings = operations.settings
    awaited = session.client.awaited and not operations.temporary
    model, presets = open_model(session, model)
    profile = "" if operations.keys else settings.name
    return Form(
        model,
        {
            "prompt": requests.json_text(prompt, "prompt"),
            "media": media,
            "parameters": requests.json_parameters(model, given),
        },
        service=FormService(session),
        presets=presets,
        awaited=awaited,
        studio=code.studio(
            profile, settings.base_url if operations.temporary else "", awaited=awaited
        ),
    )


#: The parameter for captions, the same in all models that have it.
_CAPTIONS = "captions"


class WritingService(PaidService):
    """The service as the writing panel uses it."""

    def title(self, topic: str) -> wire.Title:
        """Return a title; it is charged."""
        return self._client.block(self._operations.billing.buy_title(topic))[0]

    def scripts(self, brief: WritingOrder) -> Sequence[wire.Script]:
        """Return one script per variation; they are charged."""
        order = requests.script_request(**asdict(brief))
        return self._client.block(self._operations.billing.buy_scripts(order))[0]

    def captions(self, text: str) -> Any:
        """Return the form of the model that accepts captions, with the text filled in.

        Raises `KitError` if the service has no such model.
        """
        models = self._client.block(self._operations.models()).values()
        editors = (m for m in models if any(p.type == "video" for p in m.media_parameters))
        parameters = ((m, p.name) for m in editors for p in m.setting_parameters)
        model = next((m for m, name in parameters if name == _CAPTIONS), None)
        if model is None:
            raise KitError("no model of this service takes captions; copy the text instead")
        return build_form(self._session, model, None, None, {_CAPTIONS: text})


def build_writing(session: Session[Any], topic: str) -> Writing:
    """Return the writing panel of a studio.

    Raises `ParameterError` if our service does not know the topic.
    """
    from kit.widgets.writing import Writing

    own = session.operations.settings.ours
    if own and topic not in wire.TOPICS:
        raise ParameterError(f"unknown topic {topic!r}{suggest(topic, wire.TOPICS)}")
    return Writing(WritingService(session), topic, own=own, awaited=session.client.awaited)
