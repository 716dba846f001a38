"""Requests and answers as data; `http` sends and reads them."""

from __future__ import annotations

import asyncio
import email.utils
import json
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path
from typing import Any, TypeVar

from kit.engines.base import Progress
from kit.errors import EngineError

#: How often a request is sent at most; what is asked of work that is paid for already is sent until
#: an outage of nearly two minutes is over, at the usual pause.
TRIES, PATIENT = 5, 17
#: Where an error has its sentence, the likelier first.
_SENTENCES = ("message", "detail", "error", "msg", "errors", "code")
#: How deep it is looked for.
_DEEP = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request.

    Parameters
    ----------
    path : str
        Below the site's address, or a whole address.
    again : bool
        Whether it may be sent again although it could have been carried out before.
    quiet : float
        Seconds without a byte after which the connection counts as lost.
    upload : Path or None
        A file that is the body.
    bare : bool
        Without the key, wherever it goes.
    late : bool
        Whether a 404, or a 202, may only mean that it is not there yet.
    once : bool
        Whether it is not sent again, whatever comes of it: somebody waits for the answer.
    tries : int
        How often it is sent at most.
    enough : callable
        Takes a `Reply` and returns whether it is an answer although its status is an error's.
    """

    method: str
    path: str
    json: Any = None
    data: Mapping[str, str] | None = None
    files: Any = None
    upload: Path | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    again: bool = False
    bare: bool = False
    late: bool = False
    once: bool = False
    quiet: float = 60.0
    tries: int = TRIES
    enough: Callable[[RemoteReply], bool] = lambda _: False


@dataclass(frozen=True, slots=True)
class RemoteReply:
    """An answer, read to its end."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    def json(self) -> Any:
        """Return what the JSON of the body says.

        Raises
        ------
        EngineError
            It is no JSON (``upstream_odd``).
        """
        try:
            return json.loads(self.content)
        except (ValueError, RecursionError):
            sentence = "the remote service answered with something that is not JSON"
            raise EngineError(sentence, code="upstream_odd") from None

    @property
    def sentence(self) -> str:
        """The sentence in an error, in the shapes that services give it; empty without one."""
        try:
            body = json.loads(self.content)
        except (ValueError, RecursionError):
            return ""
        return told(body) if isinstance(body, dict) else ""

    @property
    def is_out_of_credits(self) -> bool:
        """Whether an account there has nothing left, which OpenAI says as it says "too fast".

        Source: OpenAI API documentation, "Error codes", 429 and ``insufficient_quota``.
        """
        return self.status == 402 or (self.status == 429 and b"insufficient_quota" in self.content)

    @property
    def retry_after(self) -> float | None:
        """The seconds that a ``Retry-After`` names, as a number or as a date.

        A date is one of the other machine's clock, and measured by it where the answer tells it.
        """
        text = self.headers.get("retry-after", "")
        try:
            return max(0.0, float(text))
        except ValueError:
            pass
        when, now = _dated(text), _dated(self.headers.get("date", ""))
        return None if when is None else max(0.0, when - (time.time() if now is None else now))


def _dated(text: str) -> float | None:
    """Return the moment that an HTTP date names, in seconds since 1970."""
    try:
        found = email.utils.parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def told(error: Any) -> str:
    """Return the sentence in an error, whatever it is wrapped in; empty without one.

    Examples
    --------
    >>> told({"error": {"message": "too long", "code": 400}})
    'too long'
    >>> told({"detail": [{"loc": ["body", "n"], "msg": "too many"}]})
    'n: too many'
    >>> told({"detail": {"error": "no such model"}})
    'no such model'
    """
    return _told(error, _DEEP)


def _told(error: Any, deep: int) -> str:
    if isinstance(error, str) or deep == 0:
        return error if isinstance(error, str) else ""
    if isinstance(error, list):
        return "; ".join(filter(None, (_problem(problem, deep - 1) for problem in error)))
    if not isinstance(error, dict):
        return ""
    return next(filter(None, (_told(error.get(name), deep - 1) for name in _SENTENCES)), "")


def _problem(problem: Any, deep: int) -> str:
    """Return what an entry of a list of problems says, such as ``{"loc": [...], "msg": ...}``."""
    if not isinstance(problem, dict) or not isinstance(problem.get("msg"), str):
        return _told(problem, deep)
    place = problem.get("loc")
    parts = place if isinstance(place, list) else []
    named = ".".join(str(part) for part in parts if part not in ("body", "query", "path"))
    return f"{named}: {problem['msg']}" if named else str(problem["msg"])


@dataclass(frozen=True, slots=True)
class Lost:
    """No answer; `sent` says whether the request may have arrived."""

    why: str
    sent: bool


#: A wait that is longer than this is somebody else's problem: the job fails and is refunded.
_LONGEST_WAIT = 60.0
#: Answers that say "not now": nothing was done, so asking again does no harm.
_BUSY = frozenset({429, 503})
#: Answers about a file that may come to be there.
_NOT_YET = frozenset({202, 404})
#: Answers after which only a request that may be repeated is sent again.
#: What answers 500 is there, and will hardly do better in a minute.
_FAILED = frozenset({408, 500, 502, 504})


def wait_before(ask: Ask, outcome: RemoteReply | Lost, attempt: int, pause: float) -> float | None:
    """Return the seconds until a request is sent again, or None if it is not to be.

    Parameters
    ----------
    attempt : int
        How often it was sent again before, from 0.
    pause : float
        Seconds before the first repetition; the later ones take up to eight times that.
    """
    backoff = pause * 2.0 ** min(attempt, TRIES - 2)
    broken = isinstance(outcome, RemoteReply) and outcome.status == 500
    more = attempt < (min(TRIES, ask.tries) if broken else ask.tries) - 1
    if isinstance(outcome, Lost):
        return backoff if more and (ask.again or not outcome.sent) else None
    if ask.late and outcome.status in _NOT_YET:
        return backoff if attempt < TRIES - 1 else None
    if ask.enough(outcome) or outcome.is_out_of_credits:
        return None
    return _wait(ask, outcome, backoff if more else None, pause)


def _wait(ask: Ask, reply: RemoteReply, backoff: float | None, pause: float) -> float | None:
    asked = reply.retry_after
    running = reply.status == 409 and asked is not None and ask.again
    if reply.status not in _BUSY and not running:
        return backoff if ask.again and reply.status in _FAILED else None
    if asked is None:
        return backoff
    # It says when to come back, as servers do that load a model first: so it is waited for.
    return max(asked, pause) if asked <= _LONGEST_WAIT else None


T = TypeVar("T")
_LOOK_EVERY = 0.2
#: Seconds that saying goodbye to the other machine may take: a cancel takes effect within one.
GOODBYE_SECONDS = 0.75

#: Tells how far the work is, 0 to 1.
Tell = Callable[[float], None]


def awaited(work: Callable[[Tell], Awaitable[T]], progress: Progress, *, seconds: float) -> T:
    """Run asynchronous work to its end in an event loop of its own and return its result.

    A cancel reaches the work as `asyncio.CancelledError` within a fifth of a second, wherever it
    waits; it may still say goodbye to the other machine.

    Raises
    ------
    CanceledError
        Raised by `progress`.
    EngineError
        The work took longer than `seconds` (``timed_out``), or raised it.
    """
    return asyncio.run(_watched(work, progress, seconds))


async def undoable(step: Awaitable[T], undo: Callable[[T], Awaitable[None]]) -> T:
    """Return what a step returns that has the other machine begin something.

    Where a cancel comes in the middle of it, its answer is waited for a moment longer and undone:
    else what was begun would be made, and paid for, for nobody.
    """
    task = asyncio.ensure_future(step)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        with suppress(EngineError, TimeoutError):
            async with asyncio.timeout(GOODBYE_SECONDS):
                await undo(await task)
        raise
    finally:
        task.cancel()


async def _watched(work: Callable[[Tell], Awaitable[T]], progress: Progress, seconds: float) -> T:
    far = 0.0

    def tell(fraction: float) -> None:
        nonlocal far
        far = fraction

    async def bounded() -> T:
        try:
            async with asyncio.timeout(seconds):
                return await work(tell)
        except TimeoutError:
            sentence = f"the remote service did not finish within {seconds:g} s"
            raise EngineError(sentence, code="timed_out") from None

    task = asyncio.create_task(bounded())
    try:
        while not task.done():
            await asyncio.wait({task}, timeout=_LOOK_EVERY)
            progress.report(far)
    except BaseException:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        raise
    return await task


#: Answers with a reason that whoever ordered can do something about: other words, settings, files.
CURABLE = frozenset({400, 413, 422, 451})
#: Longest reason that is passed on, in characters.
_MOST = 240

#: What an answer means, by its status or the first digit of it; the rest is `_REJECTED`.
_MEANINGS = {
    401: ("refuses the key that it is asked with", "upstream_refused"),
    402: ("is out of credits", "upstream_no_credits"),
    403: ("refuses the key that it is asked with", "upstream_refused"),
    429: ("is too busy just now", "upstream_busy"),
    503: ("is too busy just now", "upstream_busy"),
    408: ("takes too long to answer", "upstream_busy"),
    2: ("answers with something else than was asked for", "upstream_odd"),
    3: ("answers with a redirect, which is not followed", "upstream_odd"),
    5: ("failed", "upstream_failed"),
}
#: What it means that something is not there, by what was asked for.
_MISSING = {
    "POST": (
        "does not find the model, or the path, that it is asked for: whoever runs this service has "
        "to correct that",
        "upstream_not_found",
    ),
    "GET": ("knows nothing of the job any more", "upstream_rejected"),
    "file": ("does not have the file that it made", "upstream_rejected"),
}
_NOT_THERE = frozenset({404, 405, 410})
_REJECTED = ("refuses this request; other settings or words may do", "upstream_rejected")

#: A text with one of these says nothing of the request: a page, a trace, a dump, a broken machine.
_NO_SENTENCE = re.compile(
    r"<\s*[/!?a-zA-Z]|Traceback|\bFile \"|^\s*at \w|\{\s*[\"']|Exception in thread"
    r"|\bCUDA\b|out of memory|\bErrno\b",
    re.MULTILINE,
)
#: What is taken out, and what stands in its place; in this order.
_TAKEN_OUT: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), instead)
    for pattern, instead in (
        (r"(?i)\b[a-z][a-z0-9+.-]*://\S+|\bdata:\S+|\bwww\.\S+|\S+@\S+\.\w+", "(address)"),
        (r"\b(?:\d{1,3}\.){3}\d{1,3}\b(?::\d+)?", "(address)"),
        (r"(?i)\[(?=[0-9a-f]*:[0-9a-f]*:)[0-9a-f:]+\](?::\d+)?", "(address)"),
        (r"(?i)\blocalhost\b(?::\d+)?|\b[\w-]+(?:\.[\w-]+)+:\d{2,5}\b", "(address)"),
        (r"(?i)\b[\w-]+(?:\.[\w-]+)*\.(?:local|internal|lan|corp|svc|cluster)\b", "(address)"),
        (r"(?<![\w/.])~?/(?:[\w.@+-]+/)*[\w.@+-]*\w|\b[A-Za-z]:\\\S+", "(path)"),
        (r"(?i)[\w.-]*(?:sig|signature|credential|secret|password|token|key)=\S+", "***"),
        (r"(?i)\b(?:api.?key|secret|password|token)\s*:\s*(?=\S*\d)\S{8,}", "***"),
        (r"(?i)\bbearer\s+\S+", "***"),
        (r"\b(?:sk|pk|rk|cs|tp|hf|gsk|r8|xai|ghp)[-_](?=[\w-]*[\dA-Z*])[\w*-]{6,}", "***"),
        (r"\b(?:AKIA|AIza)\w{8,}", "***"),
        (r"\b(?:org|proj|acct|req|user|team|key)[-_](?=[\w-]*[\dA-Z])[\w-]{6,}", "***"),
        (r"(?=\S*\d)[\w+/=*-]{24,}", "***"),
    )
)


def meaning(status: int) -> tuple[str, str]:
    """Return what an answer means, to end a sentence with, and the code for it."""
    kind = status if status in _MEANINGS else status // 100
    return _MEANINGS.get(kind, _REJECTED)


def refused(
    status: int, reason: str, secrets: Iterable[str] = (), *, of: str = ""
) -> tuple[str, str]:
    """Return what a refusal means for whoever ordered, with its reason where that may help.

    Parameters
    ----------
    reason : str
        What the other machine says.
    secrets : iterable of str
        What must not be in it.
    of : str
        What was refused, where it may be that it is not there: ``POST`` for a job that was to be
        begun, ``GET`` for one that was begun before, ``file`` for what came of it.

    Examples
    --------
    >>> refused(400, "the prompt has more than 1,000 characters")[0]
    'refuses this request: the prompt has more than 1,000 characters'
    >>> refused(401, "wrong key sk-0123")[0]
    'refuses the key that it is asked with'
    """
    if status in _NOT_THERE and of in _MISSING:
        return _MISSING[of]
    sentence, code = meaning(status)
    why = public(reason, secrets) if status in CURABLE else ""
    return (f"refuses this request: {why}" if why else sentence), code


def public(reason: str, secrets: Iterable[str] = ()) -> str:
    """Return a reason in one line that anybody may read, empty where it is none.

    Examples
    --------
    >>> public("blocked by policy, see https://a.test/x?sig=1")
    'blocked by policy, see (address)'
    >>> public("<html><body>Bad Request</body></html>")
    ''
    """
    if _NO_SENTENCE.search(reason):
        return ""
    line = " ".join("".join(c if c.isprintable() else " " for c in reason).split())
    for secret in filter(None, secrets):
        line = line.replace(secret, "***")
    for pattern, instead in _TAKEN_OUT:
        line = pattern.sub(instead, line)
    if len(line) > _MOST:
        line = f"{line[:_MOST].rpartition(' ')[0] or line[:_MOST]}..."
    return line if any(c.isalpha() for c in line) else ""
