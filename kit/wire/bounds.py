"""Limits of request bodies, which are also part of their JSON schemas.

Limits that depend on the model are checked by `kit.parameters`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, LiteralString, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

#: Maximum characters of a prompt, and of a text parameter without `maxLength`.
TEXT = 4_000
#: Maximum entries of a list or an object, and levels of nesting.
ITEMS, DEPTH = 200, 8
#: Maximum bytes of `parameters` as JSON.
PARAMETERS = 65_536
#: Maximum characters of a file name, a script's title and its hook angle.
FILE_NAME, TITLE, HOOK = 255, 200, 300
_MAX_ID = 200
#: Maximum characters of the address of a webhook.
ADDRESS = 2_000
#: Maximum of tags per generation, pattern of their keys, and maximum characters of a value.
TAGS, TAG_KEY, TAG_VALUE = 10, "[a-z][a-z0-9_.-]{0,63}", 64
# joiners of letters and emoji are not control characters
_TAG_TEXT = rf"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]{{1,{TAG_VALUE}}}"


def at_most(entries: int) -> BeforeValidator:
    """Return a validator that refuses objects with more entries before validating any of them."""

    def check(value: Any) -> Any:
        if isinstance(value, dict) and len(value) > entries:
            raise _error("too_many", too_many(len(value), entries))
        return value

    return BeforeValidator(check)


def too_many(count: int, most: float) -> str:
    """Return the message for a list or an object with too many entries."""
    return f"holds {count:,} items, at most {most:,} are allowed"


def too_long(length: int, most: float) -> str:
    """Return the message for a text with too many characters."""
    return f"has {length:,} characters, at most {most:,} are allowed"


def tag_problems(tags: Mapping[Any, Any]) -> Iterator[tuple[str, str]]:
    """Yield field and message for each invalid tag. Source: contract, "Tags".

    Examples
    --------
    >>> [*tag_problems({"campaign": "winter", "Team": "a"})]
    [('tags.Team', 'is not a key: a-z first, then a-z, 0-9, "_", "." and "-", at most 64')]
    """
    if len(tags) > TAGS:
        yield "tags", too_many(len(tags), TAGS)
        return
    for key, value in tags.items():
        field = f"tags.{str(key)[:64]}"
        if not re.fullmatch(TAG_KEY, str(key)):
            yield field, 'is not a key: a-z first, then a-z, 0-9, "_", "." and "-", at most 64'
        elif not isinstance(value, str):
            yield field, "must be text"
        elif not re.fullmatch(_TAG_TEXT, value):
            yield field, f"must have 1 to {TAG_VALUE} characters, none of them a control character"


def _check_tags(tags: dict[str, str]) -> dict[str, str]:
    for field, sentence in tag_problems(tags):
        raise _error("tags", f"{field.removeprefix('tags').lstrip('.')} {sentence}".strip())
    return tags


def _error(kind: LiteralString, sentence: str) -> PydanticCustomError:
    return PydanticCustomError(kind, "{sentence}", {"sentence": sentence})


def _check_reference(value: Any) -> Any:
    ids = value if isinstance(value, list) else [value]
    if len(ids) > ITEMS:
        raise _error("too_many", too_many(len(ids), ITEMS))
    if not all(isinstance(each, str) for each in ids):
        raise _error("reference", "must be an upload id or a list of them")
    return value


#: An identifier.
Id = Annotated[str, Field(max_length=_MAX_ID)]
#: The tags of a generation.
Tags = Annotated[
    dict[str, str],
    AfterValidator(_check_tags),
    at_most(TAGS),
    Field(
        json_schema_extra={
            "maxProperties": TAGS,
            "propertyNames": {"pattern": f"^{TAG_KEY}$"},
            "additionalProperties": {"type": "string", "minLength": 1, "maxLength": TAG_VALUE},
        }
    ),
]
T = TypeVar("T")
#: An object with a limited number of entries.
Limited = Annotated[dict[str, T], at_most(ITEMS), Field(json_schema_extra={"maxProperties": ITEMS})]
#: One upload, or a list for a parameter that takes several.
Reference = Annotated[
    str | Annotated[list[str], Field(max_length=ITEMS)], BeforeValidator(_check_reference)
]
