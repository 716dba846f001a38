"""Searching: the starts whose answer was never seen, in the list of the service.

The API document says nothing of the list's order, size or clock. So only what shows the very same
request, was made since and was not started from here is taken for it, and only without a doubt.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial

from kit import wire
from kit.client import answers, calls, flows
from kit.client.actions import Flow, Reply
from kit.client.calls import Call
from kit.client.flows import Policy
from kit.client.journal import Intent, Journal
from kit.errors import ApiError
from kit.studio.likeness import alike
from kit.studio.remarks import Remarks

#: How far the clocks of a service may differ among themselves.
_SLACK = timedelta(minutes=2)
#: Pages of a list that are looked through.
_PAGES = 10
#: Refusals that concern every request, and not the list.
_ANY = frozenset({401, 429, 503})
_FILES = "mediaUploads"


@dataclass(slots=True)
class Listed:
    """What a service lists, newest first.

    Parameters
    ----------
    since : datetime
        From when on something is new, by the clock of the service.
    complete : bool
        Whether all that is new is there.
    """

    since: datetime
    items: list[wire.Generation] = field(default_factory=list)
    complete: bool = False

    def new(self, facts: wire.Generation) -> bool:
        """Whether it was made since; one without a time may have been."""
        return facts.created_at is None or facts.created_at >= self.since


class Search:
    """Looks for starts of one studio.

    Parameters
    ----------
    own : bool
        Whether it is a service like this one, which filters its list.
    """

    def __init__(self, policy: Policy, journal: Journal, remarks: Remarks, *, own: bool) -> None:
        self._policy = policy
        self._journal = journal
        self._remarks = remarks
        self._own = own

    def listed(self, since: datetime) -> Flow[Listed]:
        """Return what the service lists, as far back as a moment or a little more.

        Its times are by its own clock: an answer tells how far that is from ours.
        """
        query = {"created_after": since - 2 * _SLACK, "limit": 1000} if self._own else {}
        call = calls.list_generations(**query)
        listed = Listed(since - _SLACK)
        for number in range(_PAGES):
            try:
                reply: Reply = yield from flows.exchange(call, self._policy)
                items = answers.read(call, reply)
            except ApiError as error:
                if error.answered in _ANY:
                    raise
                return listed
            listed.since += timedelta(0) if number else _ahead(reply)
            listed.items += items
            following = answers.next_link(reply.headers.get("link"))
            if not following or not items or not listed.new(items[-1]):
                listed.complete = True
                break
            call = Call("GET", following, call.answer)
        return listed

    def claimed(self, intent: Intent, listed: Listed) -> wire.Generation | None:
        """Return the oldest of a list that is what was sent, and write down that it is.

        A list does not show which files went along: with files there must be one alone.
        """
        new = [facts for facts in self._alike(intent, listed) if listed.new(facts)]
        if not new or (intent.body.get(_FILES) and (len(new) > 1 or self._rivaled(intent))):
            return None
        facts = new[0]
        receipt = wire.Receipt(id=facts.id, credits_charged=facts.credits_charged)
        started = partial(self._journal.started, request=intent.request, key=intent.key)
        note = partial(started, receipt, model_id=facts.model_id or "")
        self._remarks.tried(note, f"the start of {facts.id}")
        return facts

    def nothing(self, intent: Intent, listed: Listed) -> bool:
        """Return whether a list shows that nothing came of what was sent."""
        return listed.complete and not self._alike(intent, listed)

    def doubt(self, intent: Intent, listed: Listed) -> str:
        """Return what is said of a start that cannot be told, and what looks like it."""
        model = intent.body.get("modelId", "a model")
        when = f"{intent.moment:%Y-%m-%d %H:%M} UTC"
        why = "the service does not list it (yet)"
        if looks := [facts.id for facts in self._alike(intent, listed)]:
            why = f"what the service lists does not tell: it may be {' or '.join(looks[-3:])}"
        return (
            f"a start of {model} may have been carried out at {when}: its answer was never seen, "
            f"and {why}; studio.history.list() shows what there is"
        )

    def _alike(self, intent: Intent, listed: Listed) -> list[wire.Generation]:
        """Return what is equal to what was sent and was not started from here, oldest first."""
        try:
            asked = wire.StartGeneration.model_validate(dict(intent.body))
        except ValueError:
            return []  # written by another release, or by hand
        return [
            facts
            for facts in reversed(listed.items)
            if not self._journal.knows(facts.id) and alike(facts, asked, strictly=True)
        ]

    def _rivaled(self, intent: Intent) -> bool:
        """Whether another start differs in its files alone."""
        mine = {**intent.body, _FILES: None}
        others = [each.body for each in self._journal.intents() if each.key != intent.key]
        return any({**body, _FILES: None} == mine for body in others)


def _ahead(reply: Reply) -> timedelta:
    """Return how far the clock of a service is ahead of this computer's."""
    try:
        there = parsedate_to_datetime(reply.headers.get("date", ""))
    except ValueError:
        return timedelta(0)
    now = datetime.now(UTC)
    return (there if there.tzinfo else there.replace(tzinfo=UTC)) - now
