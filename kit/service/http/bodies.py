"""Request bodies: read with limits, and validated against their schema.

Everything here runs in the event loop on arbitrary input, so no step may take longer than the size
of the body justifies: excess items are counted, not examined.
"""

from __future__ import annotations

import asyncio
from codecs import BOM_UTF8
from contextlib import AsyncExitStack
from functools import cache
from itertools import islice
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json
from starlette.requests import Request

from kit.errors import MAX_SHOWN, BadRequestError, PayloadTooLargeError, UnsupportedMediaTypeError
from kit.parameters import shorten, suggest
from kit.service.http.context import get_slots
from kit.wire import Body

B = TypeVar("B", bound=Body)

#: Maximum size of a JSON body in bytes.
BODY_LIMIT = 1_000_000
#: Size in bytes from which a body counts as large, and how many of an account are received at once:
#: slow ones would fill the memory.
_LARGE_BYTES, _MAX_LARGE = 65_536, 4
#: Values in a body: far more than any valid body has. Creating more takes long, above all objects,
#: because the garbage collector of the interpreter scans all memory repeatedly meanwhile.
_MAX_VALUES = 60_000


async def read_body(request: Request, kind: type[B]) -> B:
    """Return the validated body of a request; its bytes become the scope entry ``content``."""
    content_type = request.headers.get("content-type", "application/json").partition(";")[0]
    if content_type.strip().lower() != "application/json":
        raise UnsupportedMediaTypeError(
            f"the body must be application/json, not {shorten(content_type)}"
        )
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise UnsupportedMediaTypeError("the body must not be compressed: omit Content-Encoding")
    raw = bytearray()
    async with AsyncExitStack() as stack:
        async for chunk in request.stream():
            if len(raw) <= _LARGE_BYTES < len(raw) + len(chunk):
                slots = get_slots(request, "receiving", _MAX_LARGE)
                await stack.enter_async_context(slots)  # meanwhile the client cannot send more
            raw += chunk
            if len(raw) > BODY_LIMIT:
                raise PayloadTooLargeError(f"the body is larger than {BODY_LIMIT:,} bytes")
    request.scope["content"] = content = bytes(raw)
    value = _parse(content)
    if len(content) > _LARGE_BYTES:
        await asyncio.sleep(0)  # other requests are answered first
    return _check(value, kind)


def _parse(content: bytes) -> Any:
    if len(content) > _LARGE_BYTES and sum(map(content.count, (b"[", b"{", b","))) > _MAX_VALUES:
        sentence = f"the body holds more than {_MAX_VALUES:,} values"
        raise BadRequestError.fields([("", sentence)])
    # PostgreSQL cannot store this character. Two backslashes are an escaped one.
    if b"\\u0000" in content and b"\\u0000" in content.replace(rb"\\", b""):
        sentence = "the body has the character \\u0000, which no text may have"
        raise BadRequestError.fields([("", sentence)])
    try:
        return from_json(content.removeprefix(BOM_UTF8), cache_strings="none")
    except ValueError as error:
        what = f"is not JSON: {error}" if content.strip() else "is empty: send a JSON object"
        raise BadRequestError.fields([("", f"the body {what}")]) from None


def _check(value: Any, kind: type[B]) -> B:
    if not isinstance(value, dict):
        raise BadRequestError.fields([("", SENTENCES["model_type"])])
    names, read = _body_fields(kind)
    problems, unlisted = [], 0
    if not value.keys() <= names.keys():
        known = {name: value[name] for name in names if name in value}
        number = len(value) - len(known)
        # Only the first unknown names are listed; the rest are counted.
        unknown = islice((name for name in value if name not in names), MAX_SHOWN)
        problems = [
            (name, f"unknown field{suggest(name, names) if number <= MAX_SHOWN else ''}")
            for name in unknown
        ]
        value, unlisted = known, number - len(problems)
    try:
        body: B = read(value, by_alias=True, by_name=False)
    except ValidationError as error:
        problems += list_problems(error)
    if problems:
        raise BadRequestError.fields(problems, total=len(problems) + unlisted)
    return body


@cache
def _body_fields(kind: type[Body]) -> tuple[dict[str, None], Any]:
    """Return the names of a body's fields, and a function that validates a parsed body."""
    names = dict.fromkeys(field.alias or name for name, field in kind.model_fields.items())
    return names, TypeAdapter(kind).validate_python


def list_problems(error: ValidationError) -> list[tuple[str, str]]:
    """Return the invalid fields of a request, each with our message."""
    found: dict[str, str] = {}
    for detail in error.errors(include_url=False, include_input=False):
        field = ".".join(map(str, detail["loc"]))
        message = (
            detail["msg"].replace("Input should be", "must be").replace("String should", "must")
        )
        found.setdefault(field, SENTENCES.get(detail["type"], message))
    return list(found.items())


#: Our messages for types of pydantic errors.
SENTENCES = {
    "missing": "is required",
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a smaller number",
    "datetime_from_date_parsing": "must be a time such as 2026-03-01T12:00:00Z",
    "bool_type": "must be true or false",
    "dict_type": "must be an object",
    "list_type": "must be a list",
    "model_type": "must be an object",
}
