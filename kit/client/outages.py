"""A service that is away for a while: when it is asked again, and what is told meanwhile.

Asking how something is costs nothing and changes nothing, so whoever waits goes on asking until
their own time is over. What a service itself refuses is final all the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kit.client import flows
from kit.client.flows import Policy
from kit.client.steps import Flow, Sleep
from kit.errors import KitError, NoAnswerError, RateLimitError, UnavailableError

#: Seconds between two looks at most while a service is away, and between two words about it.
_LONGEST, _EACH = 10.0, 1.0


@dataclass(slots=True)
class Outage:
    """How long a service has been away, for those who ask it together; over when it answers.

    Parameters
    ----------
    policy : Policy
        Has the clock, the dice and the first pause.
    """

    policy: Policy
    since: float | None = None
    failed: int = 0
    error: KitError | None = None
    told: bool = False

    def over(self) -> None:
        """Note that the service has answered."""
        self.since = self.error = None
        self.failed, self.told = 0, False

    def pause(self, error: KitError, *, began: float, left: float | None = None) -> float:
        """Return the seconds until it is worth asking again.

        Parameters
        ----------
        error : KitError
            What asking has led to; raised where asking again is of no use.
        began : float
            When it was asked, on the policy's clock.
        left : float or None
            Seconds that whoever asks has; None for any number of them.
        """
        asked = getattr(error, "retry_after", None) or 0.0
        late = left is not None and max(left, 0.0) < asked
        if not _passing(error) or asked > self.policy.deadline or late:
            raise error
        self.since = began if self.since is None else self.since
        self.error = error
        calm = replace(self.policy, longest=_LONGEST)
        self.failed += 1
        return calm.backoff(self.failed - 1, asked)

    def rest(self, seconds: float) -> Flow[None]:
        """Let seconds pass; while the service is away, say for how long it has been."""
        while self.since is not None and seconds > _EACH:
            yield self._slice(_EACH)
            seconds -= _EACH
        yield self._slice(seconds)

    def _slice(self, seconds: float) -> Sleep:
        gone = 0.0 if self.since is None else self.policy.clock() - self.since
        if gone < flows.WORTH_TELLING:
            return Sleep(seconds)
        before, self.told = self.told, True
        return Sleep(seconds, self._words(gone), again=before)

    def _words(self, gone: float) -> str:
        if isinstance(self.error, NoAnswerError):
            return flows.unconnected(gone)
        return f"the service has been unavailable for {flows.span(gone)}, trying again"


def _passing(error: KitError) -> bool:
    """Return whether an error may be gone by itself in a while."""
    return flows.unanswered(error) or isinstance(error, (UnavailableError, RateLimitError))
