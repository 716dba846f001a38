"""How much a request may hold. What is here is told in the schemas of bodies as well.

Lengths that depend on a model are checked by `kit.parameters`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, LiteralString, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

#: Characters of a prompt, and of a text whose definition has no `maxLength`.
TEXT = 4_000
#: Entries of a list or an object, and how many of these may lie in each other.
ITEMS, DEPTH = 200, 8
#: Bytes of a start's `parameters` as JSON.
PARAMETERS = 65_536
#: Characters of a file's name, a script's title and its hook angle.
FILE_NAME, TITLE, HOOK = 255, 200, 300
_LONGEST_ID = 200
#: Characters of the address of a webhook.
ADDRESS = 2_000
#: Tags of a generation, what a key of one is, and characters of a value.
TAGS, TAG_KEY, TAG_VALUE = 10, "[a-z][a-z0-9_.-]{0,63}", 64
# what joins letters and emoji is no control character
_TAG_TEXT = rf"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]{{1,{TAG_VALUE}}}"


def at_most(entries: int) -> BeforeValidator:
    """Return what refuses an object of more entries before it looks at any of them."""

    def check(value: Any) -> Any:
        if isinstance(value, dict) and len(value) > entries:
            raise _error("too_many", too_many(len(value), entries))
        return value

    return BeforeValidator(check)


def too_many(count: int, most: float) -> str:
    """Return what is said of a list or an object with too many entries."""
    return f"holds {count:,} items, at most {most:,} are allowed"


def too_long(length: int, most: float) -> str:
    """Return what is said of a text with too many characters."""
    return f"has {length:,} characters, at most {most:,} are allowed"


def tag_problems(tags: Mapping[Any, Any]) -> Iterator[tuple[str, str]]:
    """Yield field and sentence for each tag that breaks a rule. Source: contract, "Tags".

    Examples
    --------
    >>> [*tag_problems({"campaign": "winter", "Team": "a"})]
    [('tags.Team', 'is no key: a-z first, then a-z, 0-9, "_", "." and "-", at most 64')]
    """
    if len(tags) > TAGS:
        yield "tags", too_many(len(tags), TAGS)
        return
    for key, value in tags.items():
        field = f"tags.{str(key)[:64]}"
        if not re.fullmatch(TAG_KEY, str(key)):
            yield field, 'is no key: a-z first, then a-z, 0-9, "_", "." and "-", at most 64'
        elif not isinstance(value, str):
            yield field, "must be text"
        elif not re.fullmatch(_TAG_TEXT, value):
            yield field, f"must have 1 to {TAG_VALUE} characters, none of them a control character"


def _tags(tags: dict[str, str]) -> dict[str, str]:
    for field, sentence in tag_problems(tags):
        raise _error("tags", f"{field.removeprefix('tags').lstrip('.')} {sentence}".strip())
    return tags


def _error(kind: LiteralString, sentence: str) -> PydanticCustomError:
    return PydanticCustomError(kind, "{sentence}", {"sentence": sentence})


def _reference(value: Any) -> Any:
    ids = value if isinstance(value, list) else [value]
    if len(ids) > ITEMS:
        raise _error("too_many", too_many(len(ids), ITEMS))
    if not all(isinstance(each, str) for each in ids):
        raise _error("reference", "must be an upload id or a list of them")
    return value


#: The name by which something is known.
Id = Annotated[str, Field(max_length=_LONGEST_ID)]
#: What a generation is filed under.
Tags = Annotated[
    dict[str, str],
    AfterValidator(_tags),
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
#: An object with so many entries at most.
Few = Annotated[dict[str, T], at_most(ITEMS), Field(json_schema_extra={"maxProperties": ITEMS})]
#: One upload, or several for a parameter that takes several.
Reference = Annotated[
    str | Annotated[list[str], Field(max_length=ITEMS)], BeforeValidator(_reference)
]
