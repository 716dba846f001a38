"""How much a request may hold. What is here is told in the schemas of bodies as well.

Lengths that depend on a model are checked by `kit.parameters`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, LiteralString

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

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


@dataclass(frozen=True, slots=True)
class AtMost:
    """Refuses an object of more entries before it looks at any of them."""

    entries: int

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {**handler(schema), "maxProperties": self.entries}

    def _check(self, value: Any) -> Any:
        if isinstance(value, dict) and len(value) > self.entries:
            raise _error("too_many", too_many(len(value), self.entries))
        return value


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
    AtMost(TAGS),
    Field(
        json_schema_extra={
            "propertyNames": {"pattern": f"^{TAG_KEY}$"},
            "additionalProperties": {"type": "string", "minLength": 1, "maxLength": TAG_VALUE},
        }
    ),
]
#: One upload, or several for a parameter that takes several.
Reference = Annotated[
    str | Annotated[list[str], Field(max_length=ITEMS)], BeforeValidator(_reference)
]
