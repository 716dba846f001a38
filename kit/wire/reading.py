"""Lenient reading of responses from other services, even if some fields are malformed.

Most responses pass strict validation. If it fails, each malformed field is converted if that is
unambiguous, or else left out, and the response is validated again.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import from_json, to_json

T = TypeVar("T")
Path = tuple[str | int, ...]

_log = logging.getLogger("kit")
#: Maximum of validations; each one may find errors that the previous one could not see.
_MAX_READINGS = 8
_REMOVED = object()


def read_leniently(
    read: Callable[[bytes], T],
    content: str | bytes | bytearray,
    error: ValidationError,
    *,
    essential: Iterable[str] = (),
) -> T:
    """Read a response without its malformed fields.

    An item of a list that lacks an essential field, such as its id, is left out and logged;
    `essential` has the names of further essential fields.

    Raises `error`, that of the strict validation, if the response as a whole is unreadable.
    """
    found = error
    try:
        body = from_json(content)
    except ValueError:
        try:
            content = replace_surrogates(json.loads(content))
            return read(content)
        except ValidationError as another:
            found = another
        except (ValueError, RecursionError):
            raise error from None
        body = from_json(content)
    for _ in range(_MAX_READINGS):
        if not _repair(body, found, frozenset(essential)):
            break
        try:
            return read(to_json(body))
        except ValidationError as another:
            found = another
    raise error


def replace_surrogates(body: Any) -> bytes:
    """Return JSON with question marks for lone surrogates, which truncated texts may end with."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def _repair(body: Any, error: ValidationError, essential: frozenset[str]) -> bool:
    """Convert or remove the fields of an error; return False if that is the whole response."""
    found = {}
    for problem in error.errors(include_url=False, include_context=False, include_input=False):
        path = _existing_part(body, problem["loc"])
        if path and path[-1] in essential and problem["type"] != "missing":
            path = path[:-1]
        found[path] = problem
    if () in found:
        return False
    lists: dict[int, list[Any]] = {}
    for path, problem in found.items():
        parent = _at(body, path[:-1])
        if isinstance(parent, list):
            index = int(path[-1])
            _log.warning("left out of an answer: %s", _describe(parent[index], path, problem))
            parent[index] = _REMOVED
            lists[id(parent)] = parent
        else:
            _replace(parent, str(path[-1]))
    for items in lists.values():
        items[:] = [item for item in items if item is not _REMOVED]
    return True


def _existing_part(body: Any, path: Path) -> Path:
    """Return the existing part of a path; the rest names a missing field or a type."""
    for length, step in enumerate(path):
        try:
            body = body[step]
        except (LookupError, TypeError):
            return path[:length]
    return path


def _at(body: Any, path: Path) -> Any:
    for step in path:
        # its parent may have been removed before
        body = {} if body is _REMOVED else body[step]
    return {} if body is _REMOVED else body


def _replace(parent: dict[str, Any], name: str) -> None:
    """Replace a malformed value by its only possible meaning, or remove it."""
    value = parent.pop(name, None)
    converted = _CONVERTERS[name](value) if name in _CONVERTERS else None
    if converted is not None and converted != value:
        parent[name] = converted


def _describe(item: Any, path: Path, problem: Any) -> str:
    label = item.get("title") or item.get("id") if isinstance(item, dict) else item
    field = ".".join(map(str, problem["loc"]))
    return f"{'.'.join(map(str, path))} ({str(label)[:80]!r}), because of {field}: {problem['msg']}"


def _read_percent(value: Any) -> float | None:
    """Parse a share written with a percent sign."""
    try:
        return float(value.removesuffix("%")) / 100 if value.endswith("%") else None
    except (AttributeError, ValueError):
        return None


def _read_type(value: Any) -> str:
    """Read the type of a nullable parameter; any other malformed type counts as unknown."""
    names = [name for name in value if name != "null"] if isinstance(value, list) else []
    return names[0] if len(names) == 1 and isinstance(names[0], str) else "unknown"


def read_instant(value: Any) -> str | None:
    """Return any time of ISO 8601, such as one without separators, in the usual form."""
    try:
        return datetime.fromisoformat(value).isoformat()
    except (TypeError, ValueError):
        return None


#: Functions that convert malformed values of a field; None if there is no conversion.
_CONVERTERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("createdAt", "updatedAt", "expiresAt"), read_instant),
    "progress": _read_percent,
    "type": _read_type,
}
