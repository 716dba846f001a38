"""Looking after many generations with few requests: through the list, and one by one.

The API document says nothing of the list's size, order or completeness. So a list is followed from
page to page only while its pages show several of those that are looked for; what it does not show
is asked for one by one, those first that had to wait longest. Four requests a second are the most
that this takes on average, however many are looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from kit import wire
from kit.client import calls, flows
from kit.client.actions import Flow
from kit.client.calls import Call
from kit.client.flows import Policy
from kit.errors import (
    ApiError,
    BadRequestError,
    InsufficientScopeError,
    InternalError,
    MethodNotAllowedError,
    NotFoundError,
)

#: Generations up to which each is asked for by itself.
FEW = 1
#: Requests a second that glances may take on average.
EACH_SECOND = 4
#: Requests that one glance may take beside the first page of the list, however long ago the last.
_LEAST, _MOST = 8, 20
#: Pages of the list without any of ours after which it is asked for in one look of so many.
_USELESS, _SELDOM = 3, 8
#: Generations of a page that must be ours for the next page to be worth more than asking singly.
_WORTH = 2
#: A service without a list answers one of these.
_UNSUPPORTED = (NotFoundError, MethodNotAllowedError, InsufficientScopeError)


class Wanted(Protocol):
    """A generation that is looked for."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def status_url(self) -> str | None:
        """The address that replaces the usual path, where a receipt had one."""

    asked: float


S = TypeVar("S", bound=Wanted)


@dataclass(slots=True)
class _One:
    id: str
    status_url: str | None
    asked: float = 0.0


class StatusPoller:
    """Looks after the generations of one session."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        # one check of many: its caller knows what to do when the service does not answer
        self._quick = replace(policy, quick=True)
        self._checks = 0
        self._misses = 0
        self._has_list = True
        self._limits = True

    def check_all(self, addresses: Mapping[str, str | None]) -> Flow[dict[str, wire.Generation]]:
        """Return all generations as they are now, by id; those that are not there are left out."""
        found: dict[str, wire.Generation] = {}
        if len(addresses) > FEW:
            found, _ = yield from self._check_list(set(addresses), len(addresses), self._policy)
        left = [_One(*pair) for pair in addresses.items() if pair[0] not in found]
        yield from self._check_each(left, found.__setitem__, lambda _id, _error: None, self._policy)
        return {known: found[known] for known in addresses if known in found}

    def check_some(
        self,
        wanted: Iterable[S],
        seen: Callable[[str, wire.Generation], None],
        lost: Callable[[str, NotFoundError], None],
        since: float,
    ) -> Flow[int]:
        """Ask how some generations are, as many of them as a few requests can show.

        `since` is the seconds since the last glance. Returns how many requests it took.
        """
        by_id = {one.id: one for one in wanted}
        most = min(_MOST, max(_LEAST, int(EACH_SECOND * since)))
        found, spent = yield from self._check_list(set(by_id), most, self._quick)
        for known, generation in found.items():
            seen(known, generation)
        missing = [one for known, one in by_id.items() if known not in found]
        longest = sorted(missing, key=lambda one: one.asked)[: max(1, most - spent)]
        yield from self._check_each(longest, seen, lost, self._quick)
        return 1 + spent + len(longest)

    def _check_list(
        self, wanted: set[str], most: int, policy: Policy
    ) -> Flow[tuple[dict[str, wire.Generation], int]]:
        """Return those that the list shows, and how many pages after the first that took."""
        self._checks += 1
        seldom = self._misses >= _USELESS and self._checks % _SELDOM != 0
        if seldom or not self._has_list:
            return {}, 0
        # a service that knows no limits may refuse one, and few fit on the page it shows anyway
        limit = min(1000, 2 * len(wanted)) if self._limits and len(wanted) > 25 else None
        try:
            page = yield from flows.fetch_page(calls.list_generations(limit=limit), policy)
        except ApiError as error:
            self._note_refusal(error, limited=limit is not None)
            return {}, 0
        found = {item.id: item for item in page.items if item.id in wanted}
        self._misses = 0 if found else self._misses + 1
        spent, shown, following = 0, len(found), page.following
        while following and shown >= _WORTH and spent < most and len(found) < len(wanted):
            more, following = yield from self._fetch_next(following, policy)
            spent += 1
            fresh = {item.id: item for item in more if item.id in wanted and item.id not in found}
            found |= fresh
            shown = len(fresh)
        return found, spent

    def _fetch_next(
        self, call: Call[list[wire.Generation]], policy: Policy
    ) -> Flow[tuple[list[wire.Generation], Call[list[wire.Generation]] | None]]:
        """Return a later page and the call for the one behind it; none where it is refused."""
        try:
            page = yield from flows.fetch_page(call, policy)
        except ApiError:
            return [], None
        return page.items, page.following

    def _note_refusal(self, error: ApiError, *, limited: bool) -> None:
        """Note that there is no list, or none with a limit; what concerns all requests is raised.

        A list that fails, or cannot be read, is no reason to give up waiting.
        """
        if isinstance(error, _UNSUPPORTED):
            self._has_list = False
        elif isinstance(error, BadRequestError):
            self._limits, self._misses = False, self._misses + (not limited)
        elif isinstance(error, InternalError) or type(error) is ApiError:
            self._misses += 1
        else:
            raise error

    def _check_each(
        self,
        wanted: Iterable[S],
        seen: Callable[[str, wire.Generation], None],
        lost: Callable[[str, NotFoundError], None],
        policy: Policy,
    ) -> Flow[None]:
        for one in wanted:
            call = calls.get_generation(one.id, status_url=one.status_url)
            one.asked = self._policy.clock()
            try:
                seen(one.id, (yield from flows.ask(call, policy)))
            except NotFoundError as error:
                lost(one.id, error)
