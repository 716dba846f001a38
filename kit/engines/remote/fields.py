"""What an entry says of the fields of a request: where it goes, their names, and what each one has.

Servers of the same API differ here, and what they do not know they mostly ignore without a word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from kit.engines.configured.inputs import Taken
from kit.errors import ConfigError

#: Seeds are folded below this: LocalAI reads them as 32 bits with a sign, and refuses larger ones.
#: Source: mudler/LocalAI, core/schema/localai.go, VideoRequest.Seed.
_SEEDS = 2**31


def _below(path: str) -> str:
    written = re.fullmatch(r"/?[\w.-]+(/[\w.-]+)*/?", path, re.ASCII)
    if not written or {".", ".."} & set(path.split("/")):
        raise ValueError("must be a path below the address, such as v1/videos")
    return path.strip("/")


def _sendable(fields: dict[str, Any]) -> dict[str, Any]:
    for name, value in fields.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            raise ValueError(f"{name!r} cannot be sent as JSON: write a date as text") from None
    return fields


#: Fields of every request.
Always = Annotated[dict[str, Any], AfterValidator(_sendable)]
#: A path below the address of a site.
Below = Annotated[str, AfterValidator(_below)]
#: The name of a field; empty for the usual one, or for none.
FieldName = Annotated[str, Field(pattern="^[A-Za-z0-9_]*$")]


def taken(names: Iterable[str], always: Mapping[str, Any]) -> Taken:
    """Return the names that no setting may have.

    Parameters
    ----------
    names : iterable of str
        Fields that the engine fills in itself; empty ones do not count.
    always : mapping
        Fields that every request has.

    Raises
    ------
    ConfigError
        One of `always` is filled in by the engine.
    """
    filled = tuple(filter(None, names))
    if twice := [name for name in always if name in filled]:
        raise ConfigError(f"'always.{twice[0]}': that field of a request is filled in already")
    return Taken((*filled, *always), "that field of a request is filled in already")


def seed(number: int) -> int:
    """Return a job's seed as every server can read it."""
    return number % _SEEDS


def form(fields: Mapping[str, Any]) -> dict[str, str]:
    """Return values as the fields of a form.

    Examples
    --------
    >>> form({"sharp": True, "n": 1, "more": {"shift": 3}})
    {'sharp': 'true', 'n': '1', 'more': '{"shift": 3}'}
    """
    return {name: _written(value) for name, value in fields.items()}


def _written(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool | list | dict) else str(value)
