"""Whether a request is sent again, and when: only where a repetition does no harm."""

from __future__ import annotations

from kit.engines.remote.exchange import TRIES, Ask, Lost, Reply

#: A wait that is longer than this is somebody else's problem: the job fails and is refunded.
_LONGEST_WAIT = 60.0
#: Answers that say "not now": nothing was done, so asking again does no harm.
_BUSY = frozenset({429, 503})
#: Answers about a file that may come to be there.
_NOT_YET = frozenset({202, 404})
#: Answers after which only a request that may be repeated is sent again.
#: What answers 500 is there, and will hardly do better in a minute.
_FAILED = frozenset({408, 500, 502, 504})


def wait_before(ask: Ask, outcome: Reply | Lost, attempt: int, pause: float) -> float | None:
    """Return the seconds until a request is sent again, or None if it is not to be.

    Parameters
    ----------
    attempt : int
        How often it was sent again before, from 0.
    pause : float
        Seconds before the first repetition; the later ones take up to eight times that.
    """
    backoff = pause * 2.0 ** min(attempt, TRIES - 2)
    broken = isinstance(outcome, Reply) and outcome.status == 500
    more = attempt < (min(TRIES, ask.tries) if broken else ask.tries) - 1
    if isinstance(outcome, Lost):
        return backoff if more and (ask.again or not outcome.sent) else None
    if ask.late and outcome.status in _NOT_YET:
        return backoff if attempt < TRIES - 1 else None
    if ask.enough(outcome) or outcome.is_out_of_credits:
        return None
    return _wait(ask, outcome, backoff if more else None, pause)


def _wait(ask: Ask, reply: Reply, backoff: float | None, pause: float) -> float | None:
    asked = reply.retry_after
    running = reply.status == 409 and asked is not None and ask.again
    if reply.status not in _BUSY and not running:
        return backoff if ask.again and reply.status in _FAILED else None
    if asked is None:
        return backoff
    # It says when to come back, as servers do that load a model first: so it is waited for.
    return max(asked, pause) if asked <= _LONGEST_WAIT else None
