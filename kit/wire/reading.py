"""Answers from elsewhere, read although some of their fields are odd.

The strict reading comes first and is all that most answers ever see. Only where it fails is the
answer taken apart: what cannot be read is translated where that is unambiguous, else left out, and
read once more.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import from_json, to_json

T = TypeVar("T")
Path = tuple[str | int, ...]

_log = logging.getLogger("kit")
#: Readings until an answer is given up; each one finds what the one before has uncovered.
_READINGS = 8
_GONE = object()


def read_leniently(
    read: Callable[[bytes], T],
    content: str | bytes | bytearray,
    error: ValidationError,
    *,
    essential: Iterable[str] = (),
) -> T:
    """Return what an answer says without the fields that cannot be read.

    An item of a list that lacks what everything depends on, such as its id, is left out and named
    in the log; `essential` are other fields without which an object is of no use.

    Raises `error`, what the strict reading said first: the answer as a whole cannot be read.
    """
    found = error
    try:
        body = from_json(content)
    except ValueError:
        try:
            content = replace_halves(json.loads(content))
            return read(content)
        except ValidationError as another:
            found = another
        except (ValueError, RecursionError):
            raise error from None
        body = from_json(content)
    for _ in range(_READINGS):
        if not _repair(body, found, frozenset(essential)):
            break
        try:
            return read(to_json(body))
        except ValidationError as another:
            found = another
    raise error


def replace_halves(body: Any) -> bytes:
    """Return JSON with a question mark for half a character, as clipped texts end with."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def _repair(body: Any, error: ValidationError, essential: frozenset[str]) -> bool:
    """Translate or take out what an error names; return False where that is the whole answer."""
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
            parent[index] = _GONE
            lists[id(parent)] = parent
        else:
            _replace(parent, str(path[-1]))
    for items in lists.values():
        items[:] = [item for item in items if item is not _GONE]
    return True


def _existing_part(body: Any, place: Path) -> Path:
    """Return the part of a place that is there; the rest names a missing field or a type."""
    for length, step in enumerate(place):
        try:
            body = body[step]
        except (LookupError, TypeError):
            return place[:length]
    return place


def _at(body: Any, path: Path) -> Any:
    for step in path:
        # what holds it may have been left out a moment ago
        body = {} if body is _GONE else body[step]
    return {} if body is _GONE else body


def _replace(parent: dict[str, Any], name: str) -> None:
    """Put in what an odd value can only mean, or take it out."""
    value = parent.pop(name, None)
    meant = _MEANT[name](value) if name in _MEANT else None
    if meant is not None and meant != value:
        parent[name] = meant


def _describe(item: Any, path: Path, problem: Any) -> str:
    told = item.get("title") or item.get("id") if isinstance(item, dict) else item
    field = ".".join(map(str, problem["loc"]))
    return f"{'.'.join(map(str, path))} ({str(told)[:80]!r}), because of {field}: {problem['msg']}"


def _share(value: Any) -> float | None:
    """Read a share that is written with a percent sign."""
    try:
        return float(value.removesuffix("%")) / 100 if value.endswith("%") else None
    except (AttributeError, ValueError):
        return None


def _kind(value: Any) -> str:
    """Read the type of a parameter that may be null too; any other odd type is one nobody knows."""
    names = [name for name in value if name != "null"] if isinstance(value, list) else []
    return names[0] if len(names) == 1 and isinstance(names[0], str) else "unknown"


#: What an odd value of a field can only mean; None where it means nothing.
_MEANT: dict[str, Callable[[Any], Any]] = {"progress": _share, "type": _kind}
