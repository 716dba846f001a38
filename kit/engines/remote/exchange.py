"""Requests and answers as data; `http` sends and reads them."""

from __future__ import annotations

import email.utils
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path
from typing import Any

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
    enough: Callable[[Reply], bool] = lambda _: False


@dataclass(frozen=True, slots=True)
class Reply:
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
