"""Parses responses: error envelopes become errors of the kit, malformed bodies an error message.

Bodies are used only if they are JSON, or the XML of an object store; a proxy's HTML page never
appears in a message.
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
from kit.client.calls import ACCOUNT, GENERATIONS, MODELS, Call, NoReply, Reply
from kit.errors import ApiError, KitError
from kit.internet import origin, parse_date, retry_after

T = TypeVar("T")
E = TypeVar("E", bound=KitError)


class WebPageError(ApiError):
    """A path returned a web page, as some services do for paths that they do not have."""


#: Errors of a service that does not have a path.
UNKNOWN_PATH = (
    errors.NotFoundError,
    errors.MethodNotAllowedError,
    errors.InsufficientScopeError,
    WebPageError,
)
#: The message in an error of an object store, and the maximum of bytes parsed of one.
_REASON = re.compile(r"<Error\b[^>]*>.*?<Message>([^<]+)</Message>", re.DOTALL)
_XML_LIMIT = 8192
#: A link in a ``Link`` header, whose URL and quoted texts may contain commas. Source: RFC 8288.
_LINK = re.compile(r'<([^>]*)>((?:[^,"]|"[^"]*")*)')
_RELATION = re.compile(r';\s*rel\s*=\s*"?([^";]*)', re.IGNORECASE)
#: Maximum length of a service's text in an error message.
MESSAGE_LIMIT = 2000

#: The class of an error whose code is missing or unknown. Many frameworks use 422 for 400, and
#: many servers 501 for 405.
BY_STATUS: dict[int, type[ApiError]] = {
    **{kind.status: kind for kind in ApiError.by_code.values()},
    401: errors.InvalidApiKeyError,
    403: errors.InsufficientScopeError,
    422: errors.BadRequestError,
    501: errors.MethodNotAllowedError,
    **dict.fromkeys((502, 504), errors.UnavailableError),
}


def read(call: Call[T], reply: Reply) -> T:
    """Return the parsed body of a successful response; raises `ApiError` if it is malformed."""
    try:
        return call.parse(reply.content)
    except ValueError as error:
        raise _add_reply_facts(ApiError(_describe_mismatch(call, reply, error)), reply) from None


_ADDRESS_ADVICE = "check that base_url is the address of the service"


def explain_missing(call: Call[Any], error: E) -> E:
    """Add an advice to the error of a path that every service has."""
    if isinstance(error, errors.NotFoundError) and call.path in (ACCOUNT, MODELS):
        error.args = (f"{error}: {_ADDRESS_ADVICE}",)
    return error


def check_data(call: Call[Any], reply: Reply) -> None:
    """Raise `WebPageError` if the response to a GET is a web page."""
    if call.method == "GET" and reply.content.lstrip()[:1] == b"<":
        raise _add_reply_facts(WebPageError(_not_json(call, reply)), reply)


def find_error(reply: Reply, *, now: datetime | None = None) -> ApiError | None:
    """Return the error of a response, or None if it is a success."""
    if reply.is_success:
        return None
    code, message, details = _read_envelope(reply)
    kind = ApiError.by_code.get(code) or BY_STATUS.get(reply.status, ApiError)
    error = _add_reply_facts(kind(message or _default_message(reply), details=details), reply)
    error.retry_after = retry_seconds(reply, now=now)
    return error


def retry_seconds(reply: Reply, *, now: datetime | None = None) -> float | None:
    """Return the seconds that a response asks to wait, or None.

    A date is by the service's clock, so it is compared with the response's own ``Date``, or
    without one with `now`.
    """
    return retry_after(reply.headers.get("retry-after"), moment(reply, now=now))


def moment(reply: Reply, *, now: datetime | None = None) -> datetime:
    """Return the time of a response, by the service's clock if it has a ``Date``."""
    return parse_date(reply.headers.get("date", "")) or now or datetime.now(UTC)


def next_link(header: str | None) -> str | None:
    """Return the URL with ``rel="next"`` in a ``Link`` header."""
    for url, parameters in _LINK.findall(header or ""):
        relation = _RELATION.search(parameters)
        if relation and "next" in relation[1].lower().split():
            return str(url)
    return None


def _read_envelope(reply: Reply) -> tuple[str, str, Any]:
    """Return code, message and details, from the document's envelope or a similar one."""
    try:
        body = from_json(reply.content.removeprefix(BOM_UTF8))  # endless nesting is a ValueError
    except ValueError:
        return "", _storage_reason(reply.content), None
    if not isinstance(body, Mapping):
        return "", _clip(body if isinstance(body, str) else None), None
    error = body.get("error")
    inner = error if isinstance(error, Mapping) else body
    # besides these, many frameworks repeat the name of the status as "error"
    named = map(inner.get, ("message", "detail", "error_description", "title", "errors"))
    message = next(filter(None, named), None if inner is error else error)
    code = inner.get("code")  # a number repeats the status, as gateways do
    return code if isinstance(code, str) else "", _clip(message), inner.get("details")


def _storage_reason(content: bytes) -> str:
    """Return the message in an object store's XML error; empty without one.

    Source: Amazon S3 API reference, "Error responses"; others respond in the same form.
    """
    found = _REASON.search(content[:_XML_LIMIT].decode("utf-8", "replace"))
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
        place = origin(reply.headers.get("location", ""))
        target = "{}://{}:{}".format(*place) if all(place) else "another address"
        return (
            f"the service answered {status}, which points to {target}; "
            "redirects are not followed with a key: check base_url"
        )
    return f"the service answered {status} and gave no reason"


def _describe_mismatch(call: Call[Any], reply: Reply, error: ValueError) -> str:
    what = _answer_to(call)
    if (problems := getattr(error, "errors", None)) is None:
        return f"{what} is not what the API document describes: {error}"
    found = problems(include_url=False, include_input=False)[:3]
    if found[0]["type"] == "json_invalid":
        return _not_json(call, reply)
    text = "; ".join(f"{'.'.join(map(str, p['loc']))}: {p['msg']}".lstrip(": ") for p in found)
    return f"{what} is not what the API document describes: {text}"


def _not_json(call: Call[Any], reply: Reply) -> str:
    kind = reply.headers.get("content-type", "no content type").partition(";")[0]
    return f"{_answer_to(call)} is not JSON ({kind}): {_ADDRESS_ADVICE}"


def _answer_to(call: Call[Any]) -> str:
    return f"the answer to {call.method} {call.path.partition('?')[0]}"


def _add_reply_facts(error: ApiError, reply: Reply) -> ApiError:
    error.request_id = reply.headers.get("x-request-id")
    error.response_status = reply.status
    return error


#: Statuses below 500 that do not say whether the request was executed: it took too long, or its
#: result is at another URL.
_UNSETTLED_STATUSES = frozenset({303, 408})
_MAY_HAVE_RUN = "; it may have been carried out"


def may_have_run(call: Call[Any], outcome: Reply | NoReply) -> bool:
    """Return whether a failed call may have been executed, and charged.

    A refusal is never charged. A failure of the service, or of a gateway in front of it, may occur
    after the charge. A 503 is a refusal only if the service itself says so: with ``Retry-After`` or
    its own error code.
    """
    if not call.pays:
        return False
    if isinstance(outcome, NoReply):
        return outcome.sent
    later = "retry-after" in outcome.headers
    if outcome.status == 409:
        return later  # an earlier attempt with the same key is still running
    if outcome.status == 503:
        own_code, *_ = _read_envelope(outcome)  # a gateway knows no error codes of the service
        return not (later or own_code)
    return outcome.status >= 500 or outcome.status in _UNSETTLED_STATUSES


def mark_unsettled(call: Call[Any], error: E) -> E:
    """Return an error with the message that the call may have been executed."""
    error.unsettled = True
    text = str(error)
    if _MAY_HAVE_RUN not in text:
        error.args = (f"{text}{unsettled_advice(call)}",)
    return error


def unsettled_advice(call: Call[Any]) -> str:
    """Return the advice about a call that may have been executed, as the end of a sentence."""
    if call.path != GENERATIONS:
        return f"{_MAY_HAVE_RUN} and charged"
    return f"{_MAY_HAVE_RUN}: look in the history (studio.history.list()) before sending it again"
