"""Starts of generations: how they are sent and journaled, and when earlier results are reused.

An intent is written to the journal before a start is sent. If no response was received, because
the cell was stopped or the kernel died, the start is sent again with its idempotency key if the
service honors keys; otherwise it is searched in the service's list, and never sent again blindly.

Results of an equal earlier request are reused instead of paid for again. Results that have changed
or cannot be read any more are skipped, and a message says so before a new start. Temporary errors
are raised instead, because a new start would be charged again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any, TypeAlias

from kit import errors, wire
from kit.client import answers, calls, downloads, flows, uploads
from kit.client.calls import Call, Flow, Reply, SendRequest, Sleep, Step, failure_reason
from kit.client.flows import Policy
from kit.client.journal import SLACK, Intent, Journal, Notices
from kit.client.settings import Settings
from kit.errors import KitError, NoAnswerError
from kit.parameters import Request
from kit.studio.billing import Billing
from kit.studio.requests import body_of, digest_of, fingerprint, matches_request, new_generation

References: TypeAlias = Mapping[str, str | list[str]]
Starter: TypeAlias = Callable[[References], Flow[wire.Generation]]
OnSent: TypeAlias = Callable[[str, float], None]
#: Maximum of list pages that are searched.
_MAX_PAGES = 10
#: Error statuses that concern all requests, not only the list.
_GENERAL_STATUSES = frozenset({401, 429, 503})
#: The same for a new start, which would fail as well.
_OUTAGE_STATUSES = _GENERAL_STATUSES | {502, 504}
#: Error statuses sent before an idempotency key is looked up.
_UNCHECKED_STATUSES = _GENERAL_STATUSES | {403}
#: Error statuses for an id that does not exist, or is not an id of this service.
_MISSING_STATUSES = frozenset({400, 404, 410, 422})
#: Maximum of generations of an equal request that are checked before a new start, one by one.
_MAX_CHECKED = 100
_MEDIA_FIELD = "mediaUploads"
#: How long a key is valid, with an hour to spare. Source: contract, "Conventions".
_KEY_LIFETIME = timedelta(hours=23)
#: How far back `pending` searches for a start, and names one that no list shows.
_MAX_AGE = timedelta(days=3)
#: Seconds between two checks of an equal start that is being sent.
_CHECK_SECONDS = 0.1


@dataclass(slots=True)
class StartTrace:
    """How far a request came when it was stopped, as far as that is known.

    `again` is whether a new start was requested in any case, `reused` whether the generation is of
    an earlier equal request, `sent` whether the start was sent, so that it may be executed.
    """

    again: bool = False
    sent: bool = False
    id: str | None = None
    reused: bool = False
    done: bool = False
    credits: Decimal | None = None

    def note(self, finds: str) -> str:
        """Return a sentence about the start if the call is interrupted now, and what finds it."""
        same = "the same call without again=True" if self.again else "the same call"
        if self.done:
            return f"the generation {self.id} is completed: {same} fetches it at no cost"
        if self.id:
            cost = "" if self.credits is None else f" and is charged ({self.credits:f} credits)"
            return f"the generation {self.id} continues{cost}: {finds}, and {same} waits for it"
        if self.sent:
            return (
                f"its start was sent and may be executed: {finds} "
                f"once the service lists it, and {same} is not charged a second time"
            )
        return "it was stopped before a start was accepted: nothing was charged"


def suggest_again(error: KitError) -> KitError:
    """Return an error about an earlier result, with the advice to generate it again."""
    error.args = (f"{error}; again=True generates it again, and is charged",)
    return error


class OvertakenError(Exception):
    """An equal request was journaled while this one was prepared: its result should be reused."""


@dataclass(slots=True)
class ListedGenerations:
    """A service's list, newest first; `since` is in the time of its clock."""

    since: datetime
    items: list[wire.Generation] = field(default_factory=list)
    complete: bool = False

    def is_new(self, facts: wire.Generation) -> bool:
        """Whether a generation is not older than `since`; true if it has no time."""
        return facts.created_at is None or facts.created_at >= self.since


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Starts:
    """The starts of one studio, with the status URLs of their receipts by id.

    `get` returns the flow that fetches a generation, `fetch` the flow that also downloads the
    output of a completed one.
    """

    settings: Settings
    policy: Policy
    journal: Journal
    billing: Billing
    notices: Notices
    get: Callable[[str], Flow[wire.Generation]]
    fetch: Callable[[wire.Generation], Flow[wire.Generation]]
    addresses: dict[str, str] = field(default_factory=dict)
    _uploads: dict[uploads.UploadKey, str] = field(default_factory=dict)
    _in_flight: set[str] = field(default_factory=set)

    def start_or_reuse(
        self, validation: Flow[Request], *, again: bool, on_sent: OnSent, trace: StartTrace
    ) -> Flow[wire.Generation]:
        """Return the result of an earlier equal request, unless `again`, or send a new start."""
        request = yield from validation
        digest = digest_of(request)
        while not again and self.settings.reuse:
            known = self.journal.find_earlier(digest)
            started = yield from self.find_earlier(request, digest, trace)
            if started is not None:
                return started
            with suppress(OvertakenError):
                return (yield from self.send(request, on_sent=on_sent, trace=trace, known=known))
        return (yield from self.send(request, on_sent=on_sent, trace=trace))

    def check_keys(self) -> Flow[None]:
        """Find out which keys in the journal are of other accounts, whose starts are not found."""
        for key, newest in self.journal.unchecked().items():
            try:
                yield from self.get(newest)
                self.journal.checked[key] = True
            except errors.ApiError as error:
                self.journal.checked[key] = not (yield from self._is_missing(error))

    def send(
        self,
        request: Request,
        *,
        key: str | None = None,
        digest: str | None = None,
        body: Mapping[str, Any] | None = None,
        references: References | None = None,
        on_sent: OnSent = lambda _name, _share: None,
        trace: StartTrace | None = None,
        known: Sequence[str] | None = None,
    ) -> Flow[wire.Generation]:
        """Send a start, if the open budgets allow it, and return the generation as known so far.

        `key` is for starts that can be repeated after a restart of the kernel, `digest` identifies
        the request in the journal, `body` is an earlier one, `references` are ids of its files.

        Nothing is sent if the journal cannot be written (`ConfigError`), or if an equal request has
        results that are not `known` or is being sent elsewhere (`OvertakenError`).
        """
        digest, trace = digest or digest_of(request), trace or StartTrace()

        def start(references: References) -> Flow[wire.Generation]:
            call = calls.start_generation(body_of(request, references), key=key)
            call = call if body is None else replace(call, body=body)
            name = call.key or ""
            # equal requests wait for it: otherwise its open intent would look like a lost start
            self._in_flight.add(name)
            try:
                self._write_intent(call, digest, request.tags)
                if known is not None and self._is_overtaken(digest, name, known):
                    self._settle(name)
                    raise OvertakenError
                receipt = yield from self._ask(call, name, trace)
                trace.id, trace.credits = receipt.id, receipt.credits_charged
                if receipt.status_url and self.settings.owns(receipt.status_url):
                    self.addresses[receipt.id] = receipt.status_url
                try:  # before anything else: whatever fails from here on, it can be found
                    self._write_start(receipt, request, digest, name)
                finally:
                    self.billing.count_payment(request, receipt, hold)
            finally:
                self._in_flight.discard(name)
                hold.mark_sent(trace.sent, name)
            return new_generation(request, receipt)

        with (yield from self.billing.hold(request, start=key or "")) as hold:
            new = self.upload(request, start, on_sent) if references is None else start(references)
            return (yield from new)

    def upload(
        self, request: Request, start: Starter, on_sent: OnSent = lambda _name, _share: None
    ) -> Flow[wire.Generation]:
        """Upload files, unless they were before, and `start`; if refused, again with new ids."""
        earlier = frozenset(self._uploads.values())
        facts = request.model, request.media, self.policy, on_sent, self._uploads
        references = yield from uploads.upload_all(*facts)
        try:
            return (yield from start(references))
        except errors.ApiError as error:
            used = {each for ids in references.values() for each in uploads.as_list(ids)}
            status = error.response_status  # 409: an id that may be used only once
            if status not in (*_MISSING_STATUSES, 409) or error.unsettled or not earlier & used:
                raise
        self._uploads.clear()
        return (yield from start((yield from uploads.upload_all(*facts))))

    def find_earlier(
        self, request: Request, digest: str, trace: StartTrace, *, ids: Sequence[str] | None = None
    ) -> Flow[wire.Generation | None]:
        """Return the result of an earlier equal request, even if its response was never received.

        If the results are known (`ids`), outputs are not downloaded.

        Raises `NoAnswerError` if the output of an earlier result is gone, or if it is unknown
        whether an equal start was executed.
        """
        try:
            # an equal start that this studio is sending may have the result
            while self._in_flight.intersection(i.key for i in self.journal.intents(digest)):
                yield Sleep(_CHECK_SECONDS)
        except flows.Late:
            raise NoAnswerError(
                "an equal request is being started and has not been answered yet"
            ) from None
        known = ids or self.journal.find_earlier(digest)[:_MAX_CHECKED]
        started = yield from self._find_usable(request, known, fetched=ids is None)
        if started is None:
            return (yield from self._recover(request, digest, trace))
        trace.id, trace.reused = started.id, True
        return started

    def _find_usable(
        self, request: Request, ids: Sequence[str], *, fetched: bool
    ) -> Flow[wire.Generation | None]:
        """Return the first usable generation, or None.

        `fetched`: whether the output of a completed one must also be downloaded.
        """
        reasons: list[str] = []
        gone: KitError | None = None
        for name in ids:
            facts = yield from self._check_one(name, request, reasons)
            if facts is None:
                continue
            if facts.state != "completed" or not fetched:
                return facts
            try:
                return (yield from self.fetch(facts))
            except downloads.GoneError as error:
                gone = gone or error
        if gone is not None:
            raise suggest_again(gone)
        if why := "; ".join(dict.fromkeys(reasons)):
            self.notices.log(f"the request is sent again, because {why}")
        return None

    def _check_one(
        self, name: str, request: Request, reasons: list[str]
    ) -> Flow[wire.Generation | None]:
        try:
            facts = yield from self.get(name)
        except KitError as error:
            if not (yield from self._is_missing(error)):
                status = getattr(error, "response_status", None)
                general = status in _OUTAGE_STATUSES or flows.is_connection_error(error)
                raise (error if general else suggest_again(error)) from None
            yield from self.check_keys()
            is_own = self.journal.checked.get(self.journal.start(name).by, True)
            what = f"{name} cannot be fetched ({error})" if is_own else "is of another account"
            reasons.append(f"its earlier result {what}")
            return None
        if facts.state not in ("processing", "completed"):
            return None
        shown, start = self.journal.shown_hash(facts.id), self.journal.start(facts.id)
        is_same = shown == fingerprint(facts) if shown else start.is_start_of(facts)
        if is_same or matches_request(facts, body_of(request)):
            return facts
        reasons.append(f"its earlier result {name} is a different generation at this service now")
        return None

    def _is_missing(self, error: KitError) -> Flow[bool]:
        """Whether an error concerns only one generation: others can be read."""
        if not isinstance(error, errors.InsufficientScopeError):
            return isinstance(error, errors.ApiError) and error.response_status in _MISSING_STATUSES
        try:
            yield from flows.ask(calls.list_generations(), self.policy)
        except KitError:
            return False
        return True

    def _is_overtaken(self, digest: str, key: str, known: Sequence[str]) -> bool:
        """Whether an equal start was journaled before; lines of all kernels share one order."""
        first = next((intent.key for intent in self.journal.intents(digest)), key)
        return first != key or not set(known).issuperset(self.journal.find_earlier(digest))

    def _recover(
        self, request: Request, digest: str, trace: StartTrace
    ) -> Flow[wire.Generation | None]:
        """Return the result of an equal start whose response was never received, or None.

        Raises `NoAnswerError` if it is unknown whether the start was executed.
        """
        for intent in reversed(self.journal.intents(digest)):
            if self.settings.ours and datetime.now(UTC) - intent.moment < _KEY_LIFETIME:
                found = yield from self._repeat(request, intent, trace)
            else:
                found = yield from self._search_list(intent)
            if found is not None:
                trace.id = found.id
                return found
        return None

    def find_unanswered(self) -> Flow[dict[str, wire.Generation]]:
        """Return the generations of starts without a response, if the service lists them.

        Nothing is sent again, so this costs nothing. Starts that are not listed are logged.
        """
        oldest, intents = datetime.now(UTC) - _MAX_AGE, self.journal.intents()
        intents = [i for i in intents if i.key not in self._in_flight and i.moment > oldest]
        if intents:
            yield from self.check_keys()
        intents = [each for each in intents if self.journal.checked.get(each.by) is not False]
        if not intents:
            return {}
        listed = yield from self._list_since(min(intent.moment for intent in intents))
        found = {}
        for intent in intents:
            if facts := self._claim(intent, listed):
                found[facts.id] = facts
            elif not self._is_unlisted(intent, listed):
                self.notices.log(self._doubt_text(intent, listed))
        return found

    def _ask(self, call: Call[wire.Receipt], key: str, trace: StartTrace) -> Flow[wire.Receipt]:
        """Send a start; its intent is settled only if the service clearly refused it.

        If `trace` says that it was sent before, only an answer about its key settles it.
        """
        before = trace.sent

        def execute(step: Step) -> Flow[Any]:
            if not isinstance(step, SendRequest):
                return (yield step)
            earlier, trace.sent = trace.sent, True
            outcome = yield step
            is_success = isinstance(outcome, Reply) and outcome.status < 400
            trace.sent = earlier or is_success or answers.may_have_run(call, outcome)
            return outcome

        try:
            return (yield from flows.run_steps(flows.ask(call, self.policy), execute))
        except KitError as error:
            status = error.response_status if isinstance(error, errors.ApiError) else None
            trace.sent = error.unsettled or (before and status in _UNCHECKED_STATUSES)
            raise
        finally:
            if not trace.sent:
                self._settle(key)

    def _settle(self, key: str) -> None:
        self.notices.try_write(lambda: self.journal.settle_intent(key), "a start without effect")

    def _write_intent(self, call: Call[Any], digest: str, tags: Mapping[str, str]) -> None:
        try:
            self.journal.add_intent(call.key or "", call.body or {}, request=digest, tags=tags)
        except OSError as error:
            raise errors.ConfigError(
                f"the journal of starts in {self.settings.data} cannot be written "
                f"({failure_reason(error)}), so that a paid start could be lost: nothing was sent; "
                "set KIT_DATA to a folder that can be written"
            ) from None

    def _write_start(self, receipt: wire.Receipt, request: Request, digest: str, key: str) -> None:
        """Write a start to the journal; raises `NoAnswerError` if that fails."""
        facts: Any = {"request": digest, "key": key, "tags": request.tags, "inputs": request.inputs}
        try:
            self.journal.add_start(receipt, model_id=request.model.id, **facts)
        except OSError as error:
            failure = NoAnswerError(
                f"the generation {receipt.id} was started, and could not be written into the "
                f"journal ({failure_reason(error)}): keep its id; "
                f"studio.history[{receipt.id!r}] finds it"
            )
            failure.generation_id = receipt.id
            raise failure from None

    def _repeat(
        self, request: Request, intent: Intent, trace: StartTrace
    ) -> Flow[wire.Generation | None]:
        """Send the same body with the same key: the service executes and charges it only once."""
        options: Any = {"key": intent.key, "digest": intent.request, "body": intent.body}
        trace.sent = True
        try:
            return (yield from self.send(request, **options, references={}, trace=trace))
        except (errors.NotFoundError, errors.BadRequestError):
            return None  # it was never executed, and its files are gone by now

    def _search_list(self, intent: Intent) -> Flow[wire.Generation | None]:
        listed = yield from self._list_since(intent.moment)
        facts = self._claim(intent, listed)
        if facts is None and not self._is_unlisted(intent, listed):
            hint = "the same call checks again, and again=True sends a new request"
            error = NoAnswerError(f"{self._doubt_text(intent, listed)}; {hint}")
            error.unsettled = True
            raise error
        return facts

    def _is_unlisted(self, intent: Intent, listed: ListedGenerations) -> bool:
        """Whether a complete list lacks a start; it is settled once its key cannot repeat it."""
        age = datetime.now(UTC) - intent.moment
        if not listed.complete or age < SLACK or self._find_similar(intent, listed):
            return False  # a kernel may just be sending it
        if age > _KEY_LIFETIME:
            self._settle(intent.key)
        return True

    def _list_since(self, since: datetime) -> Flow[ListedGenerations]:
        """Return the service's list back to a time, or slightly further.

        Times in the list are by the service's clock; its offset from ours is taken from a response.
        """
        query = {"created_after": since - 2 * SLACK, "limit": 1000} if self.settings.ours else {}
        call = calls.list_generations(**query)
        listed = ListedGenerations(since - SLACK)
        for number in range(_MAX_PAGES):
            try:
                reply, following = yield from flows.fetch_rows(call, self.policy)
                items = answers.read(call, reply)
            except errors.ApiError as error:
                if error.response_status in _GENERAL_STATUSES:
                    raise
                return listed
            listed.since += timedelta(0) if number else answers.moment(reply) - datetime.now(UTC)
            listed.items += items
            if not following or not items or not listed.is_new(items[-1]):
                # lists of other services may lack some, and the query is by the service's clock
                listed.complete = self.settings.ours and listed.since > since - 2 * SLACK
                break
            call = following
        return listed

    def _claim(self, intent: Intent, listed: ListedGenerations) -> wire.Generation | None:
        """Return the oldest listed generation that matches a start, and write it to the journal.

        Lists do not show input files, so a start with files needs a match without alternatives.
        """
        new = [facts for facts in self._find_similar(intent, listed) if listed.is_new(facts)]
        if not new or (intent.body.get(_MEDIA_FIELD) and (len(new) > 1 or self._has_rival(intent))):
            return None
        facts = new[0]
        receipt = wire.Receipt(id=facts.id, credits_charged=facts.credits_charged)
        options: Any = {"request": intent.request, "key": intent.key, "tags": intent.tags}
        write = partial(self.journal.add_start, receipt, model_id=facts.model_id or "", **options)
        self.notices.try_write(write, f"the start of {facts.id}")
        return facts

    def _doubt_text(self, intent: Intent, listed: ListedGenerations) -> str:
        """Return the message about a start that cannot be identified, with possible matches."""
        model = intent.body.get("modelId", "a model")
        found = self._find_similar(intent, listed)
        if not found:  # it may be listed with another prompt
            new = (one for one in listed.items if one.model_id == model and listed.is_new(one))
            found = [one for one in new if not self.journal.start(one.id).at]
        why = "the service does not list it (yet)"
        if choices := " or ".join(each.id for each in found[-3:]):
            why = f"what the service lists is not enough to decide: it may be {choices}"
        return (
            f"a start of {model} may have been carried out at {intent.moment:%Y-%m-%d %H:%M} UTC: "
            f"no response was received, and {why}; studio.history.list() shows all generations"
        )

    def _find_similar(self, intent: Intent, listed: ListedGenerations) -> list[wire.Generation]:
        """Return the generations equal to a request and not started from here, oldest first."""
        try:
            request = wire.StartGeneration.model_validate(dict(intent.body))
        except ValueError:
            return []  # written by another release, or by hand
        found = (o for o in reversed(listed.items) if matches_request(o, request, strict=True))
        return [one for one in found if not self.journal.start(one.id).at]

    def _has_rival(self, intent: Intent) -> bool:
        """Whether another start differs only in its files."""
        bodies = [{**each.body, _MEDIA_FIELD: None} for each in self.journal.intents()]
        return bodies.count({**intent.body, _MEDIA_FIELD: None}) > 1
