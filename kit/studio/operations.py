"""Operations: actions of a studio that take several steps, as flows, shared by both faces.

Nothing here blocks or awaits. Requests are fully validated before they are sent, so that an
invalid one causes an error message and no costs.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kit import parameters, wire
from kit.client import calls, downloads, flows, uploads
from kit.client.calls import Flow, Sleep
from kit.client.flows import ONCE, PATIENT, Policy
from kit.client.journal import Journal, Notices
from kit.client.settings import Settings
from kit.client.waiting import UNKNOWN_SECONDS, OnUpdate, SharedWait
from kit.errors import (
    ConfigError,
    ConflictError,
    GenerationFailedError,
    KitError,
    MethodNotAllowedError,
    NoAnswerError,
    NotFoundError,
    ParameterError,
)
from kit.explore.filters import ALL, HistoryFilter
from kit.parameters import Request, check_count, check_limit
from kit.studio import requests
from kit.studio.billing import Billing
from kit.studio.catalog import ModelCatalog, describe_retirement
from kit.studio.changes import ChangeWatch
from kit.studio.history_sync import HistorySync
from kit.studio.requests import find_inputs, fingerprint, resolve_media, separate_media
from kit.studio.starts import OnSent, Starts, StartTrace
from kit.widgets.account import Keys
from kit.widgets.markup import count_of
from kit.widgets.progress import ProgressDisplay, ProgressUpdates, progress

if TYPE_CHECKING:
    import pandas as pd

    from kit.explore.archive import Archive

_log = logging.getLogger("kit")

_UNSUPPORTED = (NotFoundError, MethodNotAllowedError)
#: Maximum of equal requests in one call.
MAX_STARTS = 100
#: Default maximum of generations whose thumbnails are fetched for a comparison of pictures.
DEFAULT_FETCHES = 100
#: Number of pictures after which hashes are saved, so that an interruption loses no more.
_BATCH_PICTURES = 100
_UNINDEXED_WARNING = (
    "not compared, because not indexed yet: %s of the history; each call indexes up to %d, newest"
    " first; fetch= sets how many"
)
#: Number of newest generations that are checked for changes made elsewhere.
_WATCHED_COUNT = 5


class Operations:
    """The flows of one studio; those that start something take the flow that validates it.

    `keys` manages the account's keys, if that is possible from here. `temporary` is whether the
    key was typed into a panel and not saved: no cell has such a studio.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        policy: Policy = PATIENT,
        keys: Keys | None = None,
        temporary: bool = False,
        journal: Journal | None = None,
        catalog: ModelCatalog | None = None,
        line: ProgressDisplay | None = None,
    ) -> None:
        self.settings = settings
        self.keys = keys
        self.temporary = temporary
        self.journal = journal or Journal.of(settings)
        self.progress = partial(progress, enabled=settings.progress, line=line, clock=policy.clock)
        self.cache = downloads.Cache(settings.data / "notebook" / "outputs", settings.base_url)
        self.policy = policy
        self.notices = Notices()
        self.catalog = catalog or ModelCatalog(policy)
        self.models = self.catalog.models
        self.billing = Billing(settings, policy=policy, notices=self.notices, catalog=self.catalog)
        self.history_sync = HistorySync(settings, self.models, self.journal, self.progress)
        self.watch = ChangeWatch(self.billing.changes, policy.clock)
        self._shared_wait = SharedWait(policy)
        shared = self.journal, self.billing, self.notices
        self.starts = Starts(settings, policy, *shared, get=self.get_after_start, fetch=self.fetch)

    def model(self, model: str | wire.Model) -> Flow[wire.Model]:
        """Return a model by its id, even if it is not listed; log once if it retires."""
        found = yield from self.catalog.model(model)
        if sentence := describe_retirement(found, self.catalog.cached):
            self.notices.log(sentence)
        return found

    def request(
        self,
        model_id: str | wire.Model,
        prompt: str | None,
        media: Any,
        given: Mapping[str, Any],
        tags: Mapping[str, str] | None = None,
        file_metadata: bool = True,
    ) -> Flow[Request]:
        """Validate a request against its model; errors have one sentence per problem."""
        text, model = requests.json_text(prompt, "prompt"), (yield from self.model(model_id))
        media, settings = separate_media(model, media, given)
        values = requests.json_parameters(model, settings)
        resolved = yield from resolve_media(media)
        files = uploads.sources(model, resolved, ours=self.settings.ours)
        checked = parameters.check(model, prompt=text, parameters=values, media=files)
        validated = {name: checked[name] for name in values}
        inputs = [*find_inputs(media)] if files else ()
        checked_tags = requests.check_tags(tags)
        if not isinstance(file_metadata, bool):
            raise ParameterError(f"metadata must be True or False, not {file_metadata!r}")
        return Request(model, text, validated, files, checked_tags, inputs, file_metadata)

    def with_files(self, request: Request) -> Flow[Request]:
        """Return a validated request with its paths opened as files to upload."""
        yield from ()
        files = uploads.sources(request.model, request.media, ours=self.settings.ours)
        return replace(request, media=files)

    def quote(self, validation: Flow[Request]) -> Flow[wire.Quote]:
        """Return the price of a request and whether the balance allows it; see `Billing.price`."""
        return (yield from self.billing.quote((yield from validation)))

    def start(self, validation: Flow[Request]) -> Flow[wire.Generation]:
        """Upload files, send a start, write it to the journal, and return the generation."""
        return (yield from self.starts.send((yield from validation)))

    def start_many(self, validation: Flow[Request], count: int) -> Flow[list[wire.Generation]]:
        """Start a request `count` times, if the open budgets allow all of them; see `start`."""
        if not isinstance(count, int) or not 1 < count <= MAX_STARTS:
            raise ParameterError(
                f"n must be 1 to {MAX_STARTS}, not {count!r}; a model's own parameter of that "
                "name is given as parameters={'n': ...}"
            )
        request = yield from validation
        names = {parameter.name for parameter in request.model.setting_parameters}
        if "n" in names.difference(request.parameters):
            raise ParameterError(
                f"the model {request.model.id!r} has a parameter 'n' of its own: write "
                f"parameters={{'n': {count}}} for it, or give both to start {count} generations"
            )
        with (yield from self.billing.hold(request, count)):
            pass  # none is started if the open budgets do not allow all
        started: list[wire.Generation] = []
        with note_started(started, count):
            for _ in range(count):
                started.append((yield from self.starts.send(request)))
        return started

    def generate(
        self,
        validation: Flow[Request],
        *,
        again: bool = False,
        timeout: float | None = None,
        on_update: OnUpdate = lambda _: None,
        on_sent: OnSent = lambda _name, _share: None,
        trace: StartTrace | None = None,
    ) -> Flow[wire.Generation]:
        """Return the finished generation of a request, with its output in the cache.

        The result of an earlier equal request is reused, unless `again`. `timeout` covers all but
        the download; a pause that would exceed it is not started. `trace` records how far the
        request came.
        """
        trace = StartTrace() if trace is None else trace
        clock = self.policy.clock
        began = clock()
        starting = self.starts.start_or_reuse(validation, again=again, on_sent=on_sent, trace=trace)
        end = None if timeout is None else began + timeout
        started = yield from flows.limit_time(starting, end, clock)
        on_update(started)
        if not (started.finished and trace.reused):
            started = yield from self.wait(
                started.id, timeout=timeout, began=began, on_update=on_update
            )
        trace.done = True
        return (yield from self.fetch(started))

    def fetch(self, generation: wire.Generation) -> Flow[wire.Generation]:
        """Return a completed generation, with its output downloaded to the cache."""
        address = self.starts.addresses.get(generation.id)
        found = yield from downloads.wait_for_address(generation, self.policy, status_url=address)
        yield from downloads.output(self.cache, found, self.policy)
        return found

    def wait(
        self,
        generation_id: str,
        *,
        timeout: float | None = None,
        began: float | None = None,
        on_update: OnUpdate = lambda _: None,
    ) -> Flow[wire.Generation]:
        """Wait for a generation and return it completed, or raise the error that ended it."""
        ended = yield from self._shared_wait.wait(
            generation_id,
            status_url=self.starts.addresses.get(generation_id),
            timeout=requests.parse_timeout(timeout),
            began=began,
            on_update=on_update,
            is_new=self._is_new(generation_id),
        )
        self._record_end(ended)
        if ended.state != "completed":
            charged = {"credits_charged": self.find_charge(ended)}
            raise failure_error(ended.model_copy(update=charged))
        return ended

    def get(self, generation_id: str) -> Flow[wire.Generation]:
        """Return the current state of a generation."""
        address = self.starts.addresses.get(generation_id)
        call = calls.get_generation(generation_id, status_url=address)
        found = yield from flows.ask(call, self.policy)
        if found.finished:
            self._record_end(found)
        return found

    def get_after_start(self, generation_id: str) -> Flow[wire.Generation]:
        """Return the current state of a generation that other servers may not know yet."""
        while True:
            try:
                return (yield from self.get(generation_id))
            except NotFoundError:
                if not self._is_new(generation_id):
                    raise
            yield Sleep(1.0)

    def _is_new(self, generation_id: str) -> bool:
        return not self.settings.ours and self.journal.is_new(generation_id, UNKNOWN_SECONDS)

    def cancel(self, generation_id: str) -> Flow[wire.Generation]:
        """Cancel a generation and return its new state; a finished one is unchanged."""
        with suppress(ConflictError):  # it ended before the request arrived: the response says how
            yield from self._change(calls.cancel_generation(generation_id), generation_id, "cancel")
        return (yield from self.get(generation_id))

    def delete_outputs(self, generation_id: str) -> Flow[wire.Generation]:
        """Delete the files of a generation at the service and return its new state."""
        deletion = calls.delete_outputs(generation_id)
        yield from self._change(deletion, generation_id, "delete the files of")
        return (yield from self.get(generation_id))

    def _change(self, call: calls.Call[Any], generation_id: str, what: str) -> Flow[None]:
        """Ask for a change that not every service supports."""
        try:
            yield from flows.ask(call, self.policy)
        except _UNSUPPORTED:
            yield from self.get(generation_id)  # an unknown id is the clearer error
            raise NoAnswerError(f"this service cannot {what} a generation") from None

    def newest(self) -> Flow[tuple[object, ...]]:
        """Return the balance and the states of the newest generations."""
        account = yield from flows.ask(calls.get_account(), ONCE)
        listed, _ = yield from flows.fetch_page(calls.list_generations(limit=_WATCHED_COUNT), ONCE)
        newest = flows.sort_newest_first(listed)[:_WATCHED_COUNT]
        return account.credits, *((one.id, one.state, one.credits_refunded) for one in newest)

    def find_similar(
        self,
        picture: Any,
        archive: Archive,
        choice: HistoryFilter = ALL,
        limit: int | None = None,
        fetch: int = DEFAULT_FETCHES,
    ) -> Flow[pd.DataFrame]:
        """Return the generations most similar to a picture; see `History.similar`."""
        limit, fetch = check_limit(limit, "n"), check_count("fetch", fetch)
        target = yield from self._hash(picture, archive)
        if missing := archive.without_hash(choice):
            with self.progress("pictures") as line:
                found = yield from self._find_pictures(missing, fetch, line)
                names = list(found)
                for start in range(0, len(names), _BATCH_PICTURES):
                    line.show_text(f"indexing {start:,} of {len(names):,} new pictures")
                    batch = names[start : start + _BATCH_PICTURES]
                    archive.add_hashes({name: found[name] for name in batch})
                    yield Sleep(0)  # lets other tasks run
            unindexed = len(missing) - len(found)
            if unindexed and fetch:
                _log.warning(_UNINDEXED_WARNING, count_of(unindexed, "picture"), fetch)
        return archive.similar(target, limit, choice)

    def _hash(self, picture: Any, archive: Archive) -> Flow[bytes]:
        """Return the hash of a generation, given by itself or by id, or of any picture."""
        from kit.explore.search import hash_picture

        facts = getattr(picture, "facts", None)
        if requests.is_id(picture):
            facts = wire.Generation(id=picture)
        if isinstance(facts, wire.Generation):
            if stored := archive.store.find_hash(facts.id):
                return stored
            if isinstance(picture, str):
                facts = yield from self.get(picture)
            small = yield from downloads.poster(self.cache, facts)
            picture = small or (yield from downloads.output(self.cache, facts))
        file = uploads.source((yield from resolve_media(picture)))
        try:
            with file.open() as opened:
                return hash_picture(opened)
        except Exception:  # noqa: BLE001 - a file may be broken in any way
            raise ConfigError(f"similar() compares pictures, and {file.name} is none") from None

    def _find_pictures(
        self, missing: Sequence[str], fetch: int, line: ProgressUpdates
    ) -> Flow[dict[str, Path | None]]:
        """Return picture files of generations: cached ones, and thumbnails of the newest.

        None for generations that will never have a picture.
        """
        small = {name: self.cache.path(wire.Generation(id=name), poster=True) for name in missing}
        here: dict[str, Path | None] = {name: path for name, path in small.items() if path.exists()}
        new = [name for name in missing if name not in here][:fetch]
        for number, name in enumerate(new):
            line.show_text(f"fetching {number:,} of {len(new):,} pictures")
            try:
                facts = yield from self.get(name)
            except NotFoundError:
                here[name] = None
                continue
            path = self.cache.path(facts)
            if not (facts.asset_type == "image" and path.exists()):
                path = small[name]
                yield from downloads.poster(self.cache, facts)
            if path.exists() or not facts.output_url:
                here[name] = path if path.exists() else None
        return here

    def pending(self) -> Flow[list[wire.Generation]]:
        """Return started generations not yet seen to end; an ended one is returned once."""
        recovered = yield from self.starts.find_unanswered()
        addresses = {each: self.starts.addresses.get(each) for each in self.journal.pending()}
        found = recovered
        for name, state in (yield from self._shared_wait.check_all(addresses)).items():
            if isinstance(state, wire.Generation):
                found[name] = state
            else:
                self.notices.log(f"{name} was started from here and is left out: {state}")
        for generation in found.values():
            if generation.finished:
                self._record_end(generation)
        return list(found.values())

    def find_charge(self, generation: wire.Generation) -> Decimal | None:
        """Return the charge of a generation, as the service reports it, else from the receipt."""
        if generation.credits_charged is not None:
            return generation.credits_charged
        return self.journal.start(generation.id).charged

    def _record_end(self, generation: wire.Generation) -> None:
        self.billing.budgets.refund(generation.id, generation.credits_refunded or Decimal(0))
        self.notices.try_write(partial(self._write_end, generation), f"the end of {generation.id}")

    def _write_end(self, generation: wire.Generation) -> None:
        if generation.id in self.journal.pending():
            self.journal.add_end(generation, shown=fingerprint(generation))
            self.billing.changes.notify()


@contextmanager
def note_started(started: Sequence[wire.Generation], count: int) -> Iterator[None]:
    """Add to an error which of `count` generations have been started, and charged."""
    try:
        yield
    except KitError as error:
        if ids := ", ".join(one.id for one in started):
            error.add_note(f"{len(started)} of {count} were started, see studio.history: {ids}")
        raise


def failure_error(generation: wire.Generation) -> GenerationFailedError:
    """Return the error for a generation that failed or was canceled."""
    refund, charged = generation.credits_refunded, generation.credits_charged
    amount, verb = (refund, "refunded") if refund else (charged, "charged")
    cost = f"; {amount:f} credit{'s' * (amount != 1)} {verb}" if amount else ""
    why = generation.error or "the service gives no reason"
    text = f"the generation {generation.id} {generation.state}: {why}{cost}"
    if generation.state == "canceled":
        text = f"the generation {generation.id} was canceled{cost}"
    error = GenerationFailedError(text, generation)
    error.generation_id = generation.id
    return error
