"""Starts: what leaves, what is written down around it, and how a broken one is found again.

An intent is in the journal before a start leaves. One that was never answered, because somebody
stopped the cell or the kernel died, is repeated under its key where the service honors keys; where
nobody knows that, it is looked for in the service's list, and never sent blindly once more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from kit import wire
from kit.client import calls, flows
from kit.client.actions import Flow, Sleep
from kit.client.calls import Call
from kit.client.flows import Policy
from kit.client.journal import Intent, Journal
from kit.client.settings import Settings
from kit.errors import (
    BadRequestError,
    ConfigError,
    KitError,
    NoAnswerError,
    NotFoundError,
)
from kit.studio import outcomes
from kit.studio.orders import Order
from kit.studio.outcomes import Trace
from kit.studio.remarks import Remarks, reason
from kit.studio.searching import Search
from kit.studio.till import Till

#: How long a key is good for, with an hour to spare. Source: contract, "Conventions".
_REPEATABLE = timedelta(hours=23)
#: How long `pending` looks for a start, and names one that no list shows.
_SOUGHT = timedelta(days=3)
#: Seconds between two looks at an equal start that is on its way.
_LOOK = 0.1


class Starts:
    """What one studio starts.

    Parameters
    ----------
    addresses : dict
        Where receipts said that a generation is to be asked for, by its id.
    """

    def __init__(
        self, settings: Settings, policy: Policy, journal: Journal, till: Till, remarks: Remarks
    ) -> None:
        self.addresses: dict[str, str] = {}
        self._settings = settings
        self._policy = policy
        self._journal = journal
        self._till = till
        self._remarks = remarks
        self._flying: set[str] = set()
        self._honored = settings.ours
        self._search = Search(policy, journal, remarks, own=self._honored)

    def send(
        self, order: Order, made: Flow[Call[wire.Receipt]], request: str, trace: Trace
    ) -> Flow[wire.Generation]:
        """Send a start, if the open budgets allow it, and return what is known so far.

        Parameters
        ----------
        made : flow
            Returns the start; files are uploaded by it.

        Raises
        ------
        ConfigError
            The journal cannot be written; nothing was sent.
        """
        with (yield from self._till.hold(order)) as hold:
            call = yield from made
            key = call.key or ""
            with self._underway(key):
                self._intend(key, call.body or {}, request)
                hold.sending()
                receipt = yield from self._asked(call, key, trace)
                trace.id = receipt.id
                if receipt.status_url and self._settings.owns(receipt.status_url):
                    self.addresses[receipt.id] = receipt.status_url
                # first of all: whatever goes wrong from here on, the generation can be found
                missing = self._started(receipt, order.model.id, request, key)
            self._till.paid(order, receipt, hold)
        if missing:
            raise outcomes.unwritten(receipt.id, missing)
        return outcomes.begun(order, receipt)

    def landed(self, requests: Sequence[str]) -> Flow[None]:
        """Wait until no equal start of this studio is on its way: it may be what is wanted."""
        try:
            while self._flying.intersection(i.key for i in self._intents(requests)):
                yield Sleep(_LOOK)
        except flows.Late:
            raise NoAnswerError("an equal request is being started, and not answered yet") from None

    def broken(
        self, order: Order, requests: Sequence[str], trace: Trace
    ) -> Flow[wire.Generation | None]:
        """Return what an equal start led to whose answer was never seen; None where there is none.

        Raises
        ------
        NoAnswerError
            Nobody can tell whether it was carried out.
        """
        for intent in reversed(self._intents(requests)):
            if self._honored and datetime.now(UTC) - intent.moment < _REPEATABLE:
                found = yield from self._repeated(order, intent, trace)
            else:
                found = yield from self._sought(intent)
            if found is not None:
                trace.id = found.id
                return found
        return None

    def found(self) -> Flow[dict[str, wire.Generation]]:
        """Return the generations of starts whose answer was never seen, as the list shows them.

        Nothing is sent once more: to look costs nothing. What the list does not show is named.
        """
        oldest = datetime.now(UTC) - _SOUGHT
        intents = [
            each
            for each in self._journal.intents()
            if each.key not in self._flying and each.moment > oldest
        ]
        if not intents:
            return {}
        listed = yield from self._search.listed(min(intent.moment for intent in intents))
        found = {}
        for intent in intents:
            facts = self._search.claimed(intent, listed)
            if facts is not None:
                found[facts.id] = facts
            else:
                self._remarks.say(self._search.doubt(intent, listed))
        return found

    def _asked(self, call: Call[wire.Receipt], key: str, trace: Trace) -> Flow[wire.Receipt]:
        """Send a start; only a clear refusal settles what was written down."""
        trace.sent = True
        try:
            return (yield from flows.ask(call, self._policy))
        except KitError as error:
            trace.sent = error.unsettled
            if not error.unsettled:
                self._remarks.tried(lambda: self._journal.refused(key), "a refused start")
            raise

    @contextmanager
    def _underway(self, key: str) -> Iterator[None]:
        """Have equal requests wait for a start, from before its intent is written to its end.

        An intent that is open and not on its way would be taken for one that was broken.
        """
        self._flying.add(key)
        try:
            yield
        finally:
            self._flying.discard(key)

    def _intents(self, requests: Sequence[str]) -> list[Intent]:
        return [each for request in requests for each in self._journal.intents(request)]

    def _intend(self, key: str, body: Mapping[str, object], request: str) -> None:
        try:
            self._journal.sending(key, body, request=request)
        except OSError as error:
            raise ConfigError(
                f"the journal of starts cannot be written ({reason(error)}), so that a paid start "
                f"could be lost: nothing was sent; it lies in {self._settings.data}"
            ) from None

    def _started(self, receipt: wire.Receipt, model_id: str, request: str, key: str) -> str:
        """Write down a start; return why that could not be, empty if it could."""
        try:
            self._journal.started(receipt, request=request, model_id=model_id, key=key)
        except OSError as error:
            return reason(error)
        return ""

    def _repeated(self, order: Order, intent: Intent, trace: Trace) -> Flow[wire.Generation | None]:
        """Send the very same under the same key: it is carried out and paid once in all."""
        call = calls.start_generation(order.body({}), key=intent.key)
        try:
            same = _ready(replace(call, body=intent.body))
            return (yield from self.send(order, same, intent.request, trace))
        except (NotFoundError, BadRequestError):
            return None  # it was never carried out, and its files are gone by now

    def _sought(self, intent: Intent) -> Flow[wire.Generation | None]:
        listed = yield from self._search.listed(intent.moment)
        facts = self._search.claimed(intent, listed)
        if facts is None and self._honored and self._search.nothing(intent, listed):
            # the list of such a service is complete: nothing came of it
            self._remarks.tried(lambda: self._journal.refused(intent.key), "a lost start")
        elif facts is None:
            error = NoAnswerError(
                f"{self._search.doubt(intent, listed)}; the same call looks again, and again=True "
                "orders it anew"
            )
            error.unsettled = True
            raise error
        return facts


def _ready(call: Call[wire.Receipt]) -> Flow[Call[wire.Receipt]]:
    """Return a call that needs nothing more."""
    yield from ()
    return call
