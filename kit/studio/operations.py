"""The operations: what a studio does in several steps, as flows; it is the same for both faces.

Nothing here blocks or awaits. Everything a start could refuse is checked here first, so that a bad
request costs a sentence and no credits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

from kit import parameters, wire
from kit.client import calls, downloads, flows, uploads
from kit.client.calls import Flow
from kit.client.flows import ONCE, PATIENT, Policy
from kit.client.journal import Journal
from kit.client.records import Notices
from kit.client.settings import Settings
from kit.client.waiting import SharedWait
from kit.errors import (
    ConflictError,
    MethodNotAllowedError,
    NoAnswerError,
    NotFoundError,
    ParameterError,
)
from kit.parameters import Request
from kit.studio import requests, starts
from kit.studio.billing import Billing
from kit.studio.catalog import ModelCatalog, describe_retirement
from kit.studio.changes import ChangeWatch
from kit.studio.history_sync import HistorySync
from kit.studio.requests import (
    body_of,
    digest_of,
    find_inputs,
    fingerprint,
    resolve_media,
    separate_media,
)
from kit.studio.reuse import ReusableResults
from kit.studio.starts import Starts, StartTrace
from kit.widgets.account import Keys
from kit.widgets.progress import ProgressDisplay, progress

OnUpdate = Callable[[wire.Generation], None]
References = dict[str, str | list[str]]
OnSent = Callable[[str, float], None]
_UNSUPPORTED = (NotFoundError, MethodNotAllowedError)
#: Equal requests that one call makes.
MOST_AT_ONCE = 100
#: How many generations of an equal request are looked at before it is made anew.
_LOOKED_AT = 10
#: How many of the newest generations are looked at for what others have changed.
_WATCHED = 5


class Operations:
    """The flows of one studio; those that make something take the flow that checks it.

    `keys` manages the account's keys, where that can be done from here. `passing` is whether the
    key was typed into a panel and not saved: no cell has such a studio.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        policy: Policy = PATIENT,
        keys: Keys | None = None,
        passing: bool = False,
        journal: Journal | None = None,
        catalog: ModelCatalog | None = None,
        line: ProgressDisplay | None = None,
    ) -> None:
        self.settings = settings
        self.keys = keys
        self.passing = passing
        self.journal = journal or Journal.of(settings)
        self.progress = partial(progress, enabled=settings.progress, line=line, clock=policy.clock)
        self.cache = downloads.Cache(settings.data / "notebook" / "outputs", settings.base_url)
        self.policy = policy
        self.notices = Notices()
        self.billing = Billing(settings, policy=policy, notices=self.notices, models=self.models)
        self.history_sync = HistorySync(settings, self.models, self.journal)
        self.watch = ChangeWatch(self.billing.changes, policy.clock)
        self._shared_wait = SharedWait(policy)
        self.catalog = catalog or ModelCatalog(policy)
        self._starts = Starts(settings, policy, self.journal, self.billing, self.notices)
        self._reusable = ReusableResults(self.journal, self.notices, policy, self.get, self.fetch)

    def models(self, *, refresh: bool = False) -> Flow[dict[str, wire.Model]]:
        """Return all models by id; they are asked for once."""
        return self.catalog.models(refresh=refresh)

    def model(self, model: str | wire.Model) -> Flow[wire.Model]:
        """Return a model by its id, also one that is not listed; warn once of one that retires."""
        found = yield from self.catalog.model(model)
        if sentence := describe_retirement(found, self.catalog.known):
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
        """Check a request against its model, with one sentence for each problem."""
        text, model = requests.json_text(prompt, "prompt"), (yield from self.model(model_id))
        media, rest = separate_media(model, media, given)
        wanted = requests.json_parameters(model, rest)
        resolved = yield from resolve_media(media)
        files = uploads.sources(model, resolved, ours=self.settings.ours)
        checked = parameters.check(model, prompt=text, parameters=wanted, media=files)
        known = {name: checked[name] for name in wanted}
        inputs = [*find_inputs(media)] if files else ()
        checked_tags = requests.check_tags(tags)
        if not isinstance(file_metadata, bool):
            raise ParameterError(f"metadata is True or False, not {file_metadata!r}")
        return Request(model, text, known, files, checked_tags, inputs, file_metadata)

    def with_files(self, request: Request) -> Flow[Request]:
        """Return a request that was checked before, its paths as files that can be sent."""
        yield from ()
        files = uploads.sources(request.model, request.media, ours=self.settings.ours)
        return replace(request, media=files)

    def quote(self, wanted: Flow[Request]) -> Flow[wire.Quote]:
        """Return the price of a request and whether the balance allows it; see `Billing.price`."""
        return (yield from self.billing.quote((yield from wanted)))

    def start(self, wanted: Flow[Request]) -> Flow[wire.Generation]:
        """Upload, start, write it into the journal, and return what is known so far."""
        return (yield from self.start_checked((yield from wanted)))

    def start_many(self, wanted: Flow[Request], count: int) -> Flow[list[wire.Generation]]:
        """Start a request so many times, if the open budgets allow all of them; see `start`."""
        if not isinstance(count, int) or not 1 < count <= MOST_AT_ONCE:
            raise ParameterError(
                f"n must be 1 to {MOST_AT_ONCE}, not {count!r}; a model's own parameter of that "
                "name is given as parameters={'n': ...}"
            )
        request = yield from wanted
        with (yield from self.billing.hold(request, count)):
            files = yield from self.upload(request)
        begun = []
        for _ in range(count):
            begun.append((yield from self.start_checked(request, references=files)))
        return begun

    def generate(
        self,
        wanted: Flow[Request],
        *,
        again: bool = False,
        timeout: float | None = None,
        on_update: OnUpdate = lambda _: None,
        on_sent: OnSent = lambda _name, _share: None,
        trace: StartTrace | None = None,
    ) -> Flow[wire.Generation]:
        """Return the finished generation of a request, with its output in the cache.

        The same request is not paid for twice: what it led to before is looked up, unless `again`.
        A pause that would pass `timeout`, which is for all but the download, is not begun. `trace`
        learns how far the request came.
        """
        trace = StartTrace() if trace is None else trace
        clock = self.policy.clock
        began = clock()
        starting = self._start_or_reuse(wanted, again=again, on_sent=on_sent, trace=trace)
        ends = None if timeout is None else began + timeout
        begun = yield from flows.limit_time(starting, ends, clock)
        on_update(begun)
        if not (begun.finished and trace.before):
            begun = yield from self.wait(
                begun.id, timeout=timeout, began=began, on_update=on_update
            )
        trace.done = True
        return (yield from self.fetch(begun))

    def fetch(self, generation: wire.Generation) -> Flow[wire.Generation]:
        """Return a completed generation whose output is in the cache."""
        address = self._starts.addresses.get(generation.id)
        found = yield from downloads.wait_for_address(generation, self.policy, status_url=address)
        yield from downloads.output(self.cache, found, self.policy)
        return found

    def _start_or_reuse(
        self, wanted: Flow[Request], *, again: bool, on_sent: OnSent, trace: StartTrace
    ) -> Flow[wire.Generation]:
        request = yield from wanted
        digest = digest_of(request)
        while not again and self.settings.reuse:
            known = self.journal.find_earlier(digest)
            begun = yield from self.find_earlier(request, digest, trace)
            if begun is not None:
                return begun
            with suppress(starts.OvertakenError):
                return (
                    yield from self.start_checked(
                        request, on_sent=on_sent, trace=trace, known=known
                    )
                )
        return (yield from self.start_checked(request, on_sent=on_sent, trace=trace))

    def find_earlier(
        self, request: Request, digest: str, trace: StartTrace, *, ids: Sequence[str] | None = None
    ) -> Flow[wire.Generation | None]:
        """Return what an equal request led to before, also where its answer was never seen.

        Where it is known what it led to (`ids`), outputs are left where they are.
        """
        yield from self._starts.wait_for_equal(digest)
        known = ids or self.journal.find_earlier(digest)[:_LOOKED_AT]
        begun = yield from self._reusable.find(request, known, fetched=ids is None)
        if begun is None:
            return (yield from self._starts.recover(request, digest, trace))
        trace.id, trace.before = begun.id, True
        return begun

    def wait(
        self,
        generation_id: str,
        *,
        timeout: float | None = None,
        began: float | None = None,
        on_update: OnUpdate = lambda _: None,
    ) -> Flow[wire.Generation]:
        """Wait for a generation and return it completed, or say how it ended."""
        done = yield from self._shared_wait.wait(
            generation_id,
            status_url=self._starts.addresses.get(generation_id),
            timeout=requests.parse_timeout(timeout),
            began=began,
            on_update=on_update,
        )
        self._note_end(done)
        if done.state != "completed":
            raise starts.failure_error(done)
        return done

    def get(self, generation_id: str) -> Flow[wire.Generation]:
        """Return a generation as it is now."""
        address = self._starts.addresses.get(generation_id)
        call = calls.get_generation(generation_id, status_url=address)
        found = yield from flows.ask(call, self.policy)
        if found.finished:
            self._note_end(found)
        return found

    def cancel(self, generation_id: str) -> Flow[wire.Generation]:
        """Stop a generation and return it as it is then; a finished one stays as it is."""
        with suppress(ConflictError):  # it ended before the wish arrived: the answer says how
            yield from self._change(calls.cancel_generation(generation_id), generation_id, "cancel")
        return (yield from self.get(generation_id))

    def delete_outputs(self, generation_id: str) -> Flow[wire.Generation]:
        """Delete the files of a generation at the service and return it as it is then."""
        deletion = calls.delete_outputs(generation_id)
        yield from self._change(deletion, generation_id, "delete the files of")
        return (yield from self.get(generation_id))

    def _change(self, call: calls.Call[Any], generation_id: str, what: str) -> Flow[None]:
        """Ask for a change that not every service makes."""
        try:
            yield from flows.ask(call, self.policy)
        except _UNSUPPORTED as error:
            yield from self.get(generation_id)  # an unknown id is the clearer error
            raise NoAnswerError(f"this service cannot {what} a generation ({error})") from None

    def newest(self) -> Flow[tuple[object, ...]]:
        """Return what there is to spend, and how the newest generations are."""
        account = yield from flows.ask(calls.get_account(), ONCE)
        listed = yield from flows.fetch_page(calls.list_generations(limit=_WATCHED), ONCE)
        states = ((one.id, one.state, one.credits_refunded) for one in listed.items[:_WATCHED])
        return account.credits, *states

    def pending(self) -> Flow[list[wire.Generation]]:
        """Return what was started from here and was not seen to end; an end is reported once."""
        broken = yield from self._starts.find_unanswered()
        addresses = {each: self._starts.addresses.get(each) for each in self.journal.pending()}
        found = {**broken, **(yield from self._reusable.check_all(addresses, self._shared_wait))}
        for generation in found.values():
            if generation.finished:
                self._note_end(generation)
        return list(found.values())

    def find_charge(self, generation: wire.Generation) -> Decimal | None:
        """Return what a generation was charged: the service's figure, else the receipt's."""
        if generation.credits_charged is not None:
            return generation.credits_charged
        return self.journal.start(generation.id).charged

    def start_checked(
        self,
        request: Request,
        *,
        key: str | None = None,
        digest: str | None = None,
        references: References | None = None,
        on_sent: OnSent = lambda _name, _share: None,
        trace: StartTrace | None = None,
        known: Sequence[str] | None = None,
    ) -> Flow[wire.Generation]:
        """Start what was checked, if the open budgets allow it; see `start`.

        `key` is for starts that may be repeated after a restart of the kernel, `digest` what the
        journal knows the request by, `references` are ids of files that were uploaded before,
        `known` of generations that are all that the request led to: see `Starts.send`.
        """
        made = self._call(request, key, references, on_sent)
        digest = digest or digest_of(request)
        return (yield from self._starts.send(request, made, digest, trace or StartTrace(), known))

    def _call(
        self, request: Request, key: str | None, references: References | None, on_sent: OnSent
    ) -> Flow[calls.Call[wire.Receipt]]:
        if references is None:
            references = yield from self.upload(request, on_sent)
        return calls.start_generation(body_of(request, references), key=key)

    def upload(
        self, request: Request, on_sent: OnSent = lambda _name, _share: None
    ) -> Flow[References]:
        """Send the files of a request and return their ids."""
        return (yield from uploads.upload_all(request.model, request.media, self.policy, on_sent))

    def _note_end(self, generation: wire.Generation) -> None:
        self.billing.count_refund(generation)
        self.notices.try_write(partial(self._write_end, generation), f"the end of {generation.id}")

    def _write_end(self, generation: wire.Generation) -> None:
        if generation.id in self.journal.pending():
            self.journal.add_end(generation, shown=fingerprint(generation))
            self.billing.changes.notify()
