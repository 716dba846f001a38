"""Answers read: an error envelope becomes an error of the kit, a malformed one a sentence.

A body is only trusted where it is JSON, or the XML of a store of objects; a proxy's HTML page never
reaches a message.
"""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from html import unescape
from http import HTTPStatus
from typing import Any, TypeVar

from pydantic_core import from_json

from kit import errors
from kit.client.calls import GENERATIONS, Call, NoReply, Reply
from kit.errors import ApiError, KitError
from kit.internet import parse_date, retry_after

T = TypeVar("T")

#: A service without a path answers one of these.
UNKNOWN_PATH = (errors.NotFoundError, errors.MethodNotAllowedError, errors.InsufficientScopeError)
#: The reason in an error of a store of objects, and how much of one is read.
_REASON = re.compile(r"<Error\b[^>]*>.*?<Message>([^<]+)</Message>", re.DOTALL)
_XML_LIMIT = 8192
#: Longest text of a service that is repeated in an error message.
MESSAGE_LIMIT = 2000

#: The class of an error whose code is missing or unknown. 422 is how many frameworks say 400,
#: and 501 how many servers say 405.
BY_STATUS: dict[int, type[ApiError]] = {
    **{kind.status: kind for kind in ApiError.by_code.values()},
    401: errors.InvalidApiKeyError,
    403: errors.InsufficientScopeError,
    422: errors.BadRequestError,
    501: errors.MethodNotAllowedError,
    **dict.fromkeys((502, 504), errors.UnavailableError),
}


def read(call: Call[T], reply: Reply) -> T:
    """Return what a good reply says; what is not as the API document has it is an `ApiError`."""
    try:
        return call.answer(reply.content)
    except ValueError as error:
        raise _stamp(ApiError(_describe_mismatch(call, reply, error)), reply) from None


def find_error(reply: Reply, *, now: datetime | None = None) -> ApiError | None:
    """Return the error that a reply stands for, or None when it is a good one."""
    if reply.fine:
        return None
    code, message, details = _read_envelope(reply)
    kind = ApiError.by_code.get(code) or BY_STATUS.get(reply.status, ApiError)
    error = _stamp(kind(message or _default_message(reply), details=details), reply)
    error.retry_after = pause(reply, now=now)
    return error


def pause(reply: Reply, *, now: datetime | None = None) -> float | None:
    """Return the seconds that an answer asks to wait, or None when it says nothing.

    A date is one of the service's clock, so it is measured from the moment that the answer names as
    its own, and only without one from `now`.
    """
    return retry_after(reply.headers.get("retry-after"), moment(reply, now=now))


def moment(reply: Reply, *, now: datetime | None = None) -> datetime:
    """Return when an answer was given, by the clock of the service where it has a ``Date``."""
    return parse_date(reply.headers.get("date", "")) or now or datetime.now(UTC)


def next_link(header: str | None) -> str | None:
    """Return the address with ``rel="next"`` in a ``Link`` header."""
    for part in (header or "").split(","):
        address, _, relations = part.strip().partition(";")
        words = relations.replace('"', "").replace("rel=", " ").replace(";", " ").split()
        if address.startswith("<") and address.endswith(">") and "next" in words:
            return address[1:-1]
    return None


def _read_envelope(reply: Reply) -> tuple[str, str, Any]:
    """Return code, message and details, from the document's envelope or what comes close to it."""
    try:
        body = from_json(reply.content.removeprefix(BOM_UTF8))  # nested without end: a ValueError
    except ValueError:
        return "", _storage_reason(reply.content), None
    if not isinstance(body, Mapping):
        return "", _clip(body if isinstance(body, str) else None), None
    error = body.get("error")
    inner = error if isinstance(error, Mapping) else body
    # beside these, many frameworks repeat the name of the status as "error"
    named = map(inner.get, ("message", "detail", "error_description", "title", "errors"))
    message = next(filter(None, named), None if inner is error else error)
    code = inner.get("code")  # a number is the status once more, as gateways repeat it
    return code if isinstance(code, str) else "", _clip(message), inner.get("details")


def _storage_reason(content: bytes) -> str:
    """Return the reason in the XML with which stores of objects refuse; empty without one.

    Source: Amazon S3 API reference, "Error responses"; others answer alike.
    """
    text = content[:_XML_LIMIT].decode("utf-8", "replace")
    found = _REASON.search(text)
    return _clip(" ".join(unescape(found[1]).split())) if found else ""


def _clip(message: Any) -> str:
    if message is None:
        return ""
    text = message if isinstance(message, str) else json.dumps(message, default=str)
    return text if len(text) <= MESSAGE_LIMIT else f"{text[:MESSAGE_LIMIT]}..."


def _default_message(reply: Reply) -> str:
    status = str(reply.status)
    with suppress(ValueError):
        status += f" {HTTPStatus(reply.status).phrase}"
    if 300 <= reply.status < 400:
        return (
            f"the service answered {status}, which points to another address; "
            "redirects are not followed with a key: check base_url"
        )
    return f"the service answered {status} and gave no reason"


def _describe_mismatch(call: Call[Any], reply: Reply, error: ValueError) -> str:
    what = f"the answer to {call.method} {call.path.partition('?')[0]}"
    problems = getattr(error, "errors", None)
    if problems is None:
        return f"{what} is not what the API document describes: {error}"
    found = problems(include_url=False, include_input=False)[:3]
    if found[0]["type"] == "json_invalid":
        kind = reply.headers.get("content-type", "no content type").partition(";")[0]
        return f"{what} is not JSON ({kind}): check that base_url is the address of the service"
    text = "; ".join(f"{'.'.join(map(str, p['loc']))}: {p['msg']}".lstrip(": ") for p in found)
    return f"{what} is not what the API document describes: {text}"


def _stamp(error: ApiError, reply: Reply) -> ApiError:
    error.request_id = reply.headers.get("x-request-id")
    error.answered = reply.status
    return error


E = TypeVar("E", bound=KitError)

#: Refusals by their number that say nothing of what has been done: the request took too long, or
#: its answer is elsewhere.
_UNSURE = frozenset({303, 408})
_MAYBE = "; it may have been carried out"


def may_have_run(call: Call[Any], outcome: Reply | NoReply) -> bool:
    """Return whether a call that did not go well may have been carried out, and charged.

    A refusal charges nothing. A failure of the service, or of a gateway before it, may come after
    the charge. A 503 is a refusal only where the service itself says so: with a ``Retry-After``, or
    with a code of its own.
    """
    if not call.pays:
        return False
    if isinstance(outcome, NoReply):
        return outcome.sent
    later = "retry-after" in outcome.headers
    if outcome.status == 409:
        return later  # an earlier attempt under the same key is still being carried out
    if outcome.status == 503:
        own_code, *_ = _read_envelope(outcome)  # a gateway before the service knows no codes
        return not (later or own_code)
    return outcome.status >= 500 or outcome.status in _UNSURE


def mark_unsettled(call: Call[Any], error: E) -> E:
    """Return an error that says that the call may have been carried out."""
    error.unsettled = True
    text = str(error)
    if _MAYBE not in text:
        error.args = (f"{text}{unsettled_advice(call)}",)
    return error


def unsettled_advice(call: Call[Any]) -> str:
    """Return what to do about a call that may have been carried out, to end a sentence with."""
    if call.path != GENERATIONS:
        return f"{_MAYBE} and charged"
    return f"{_MAYBE}: look in the history (studio.history.list()) before sending it again"
