"""Results that can be reused, so that an equal request is not paid for twice.

What is no longer it, or may not be read any more, is passed over; a message says so before
anything is made anew. An error that may pass is raised instead: making it anew would pay again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kit import wire
from kit.client import calls, downloads, flows
from kit.client.calls import Flow
from kit.client.flows import Policy
from kit.client.journal import Journal
from kit.client.records import Notices
from kit.client.waiting import SharedWait
from kit.errors import ApiError, InsufficientScopeError, KitError, NotFoundError
from kit.parameters import Request
from kit.studio import starts
from kit.studio.requests import body_of, fingerprint, matches_request

#: Refusals that concern the key or the moment, and not the generation that was asked for.
_ANY = frozenset({401, 402, 408, 425, 429, 502, 503, 504})
#: Refusals of an id that is not there, or is none at this service.
_GONE = frozenset({400, 404, 410, 422})


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ReusableResults:
    """Looks up what requests of one studio led to.

    `get` returns the flow of a generation as it is now, `fetch` that of a completed one whose
    output is here.
    """

    journal: Journal
    notices: Notices
    policy: Policy
    get: Callable[[str], Flow[wire.Generation]]
    fetch: Callable[[wire.Generation], Flow[wire.Generation]]

    def find(
        self, request: Request, ids: Sequence[str], *, fetched: bool = True
    ) -> Flow[wire.Generation | None]:
        """Return the first that is usable, or None where there is none.

        `fetched`: whether the output of a completed one has to be here, too.

        Raises `NoAnswerError`: it was made before and its output is gone.
        """
        passed: list[str] = []
        gone: KitError | None = None
        for known in ids:
            facts = yield from self._check_one(known, request, passed)
            if facts is None:
                continue
            if facts.state != "completed" or not fetched:
                return facts
            try:
                return (yield from self.fetch(facts))
            except downloads.GoneError as error:
                gone = gone or error
        if gone is not None:
            raise starts.suggest_again(gone)
        if passed:
            self.notices.log(f"the request is made anew, because {'; '.join(passed)}")
        return None

    def check_all(
        self, addresses: Mapping[str, str | None], shared_wait: SharedWait
    ) -> Flow[dict[str, wire.Generation]]:
        """Return generations as they are now; one that cannot be read is named and left out."""
        try:
            return (yield from shared_wait.check_all(addresses))
        except ApiError as error:
            if error.answered in _ANY:
                raise
        found = {}
        for known, address in addresses.items():
            call = calls.get_generation(known, status_url=address)
            try:
                found[known] = yield from flows.ask(call, self.policy)
            except NotFoundError:
                continue
            except ApiError as error:
                if error.answered in _ANY:
                    raise
                self.notices.log(f"{known} was started from here and is left out: {error}")
        return found

    def _check_one(
        self, known: str, request: Request, passed: list[str]
    ) -> Flow[wire.Generation | None]:
        try:
            facts = yield from self.get(known)
        except KitError as error:
            if not (_concerns_one(error) or (yield from self._may_read(error))):
                raise starts.suggest_again(error) from None
            passed.append(f"{known}, which it led to before, cannot be had ({error})")
            return None
        if facts.state not in ("processing", "completed"):
            return None
        if not self._is_same(facts, request):
            passed.append(f"{known}, which it led to before, is another one at this service now")
            return None
        return facts

    def _may_read(self, error: KitError) -> Flow[bool]:
        """Whether a refusal for want of rights is about one generation, because others are read."""
        if not isinstance(error, InsufficientScopeError):
            return False
        try:
            yield from flows.ask(calls.list_generations(), self.policy)
        except KitError:
            return False
        return True

    def _is_same(self, facts: wire.Generation, request: Request) -> bool:
        shown = self.journal.shown_hash(facts.id)
        return matches_request(facts, body_of(request)) or (
            bool(shown) and shown == fingerprint(facts)
        )


def _concerns_one(error: KitError) -> bool:
    """Whether an error concerns the generation that was asked for, now and later."""
    return isinstance(error, ApiError) and error.answered in _GONE
