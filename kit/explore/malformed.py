"""Odd answers: pages of generations that are read although some of their values make no sense.

Only a page that cannot be read as it should be comes here, so that all others stay fast. What
cannot be read is missing in the table, and is named and counted once.
"""

from __future__ import annotations

import json
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from pydantic import ValidationError

from kit import wire

T = TypeVar("T")

_log = logging.getLogger("kit")
#: Fields that are named in one warning, the most frequent first.
_NAMED = 8
#: What a table takes of a generation: field on the wire -> attribute.
_FIELDS = {
    "modelId": "model_id",
    "assetType": "asset_type",
    "generationType": "generation_type",
    "prompt": "prompt",
    "parameters": "parameters",
    "mediaUrls": "media_urls",
    "creditsCharged": "credits_charged",
    "creditsRefunded": "credits_refunded",
    "createdAt": "created_at",
    "startedAt": "started_at",
    "completedAt": "completed_at",
    "updatedAt": "updated_at",
    "errorCode": "error_code",
    "output": "output",
}
#: The same of its output.
_FACTS = {
    "width": "width",
    "height": "height",
    "durationSeconds": "duration_seconds",
    "sizeBytes": "size_bytes",
    "contentType": "content_type",
}
_HALVES = re.compile(rb"\\u[dD][89a-fA-F]")
#: Values that other services send for nothing.
_NOTHING: tuple[Any, ...] = (None, "", [], {})


class MalformedValues:
    """What could not be read of some pages: each field and how often, for one warning.

    Examples
    --------
    >>> malformed = MalformedValues()
    >>> malformed.each("createdAt", int, ["1", "soon", None])
    [1, None, None]
    >>> malformed.sentence()
    'values that make no sense are missing in the history: createdAt (1)'
    """

    def __init__(self) -> None:
        self._fields: Counter[str] = Counter()
        self._records = 0

    def each(
        self, field: str, read: Callable[[Any], T | None], values: Iterable[Any]
    ) -> list[T | None]:
        """Return values read one by one; what cannot be is missing, and noted."""
        return [self._read(field, read, value) for value in values]

    def generations(self, content: bytes) -> Iterator[wire.Generation]:
        """Yield the generations of a page that is not as the API document describes it.

        A record without an id, or whose end cannot be told, is left out.

        Raises
        ------
        ValueError
            It is no list at all.
        """
        items = _parsed(content)
        if not isinstance(items, list):
            raise ValueError(f"expected a list, got {type(items).__name__}")
        for item in items:
            generation = _generation(item)
            if generation is None:
                self._records += 1
            else:
                self._compare(item, generation)
                yield generation

    def sentence(self) -> str:
        """Return what was noted, empty where there is nothing."""
        parts = []
        if self._records:
            parts.append(f"generations without an id or a status are left out ({self._records:,})")
        if self._fields:
            named = [f"{name} ({n:,})" for name, n in self._fields.most_common(_NAMED)]
            more = [f"{len(self._fields) - _NAMED} more"] if len(self._fields) > _NAMED else []
            told = ", ".join([*named, *more])
            parts.append(f"values that make no sense are missing in the history: {told}")
        return "; ".join(parts)

    def tell(self) -> None:
        """Log what was noted, in one warning."""
        if sentence := self.sentence():
            _log.warning("malformed answers of the service: %s", sentence)

    def _read(self, field: str, read: Callable[[Any], T | None], value: Any) -> T | None:
        if value in _NOTHING:
            return None
        try:
            return read(value)
        except (ValueError, TypeError, OverflowError):
            self._fields[field] += 1
            return None

    def _compare(self, item: dict[str, Any], generation: wire.Generation) -> None:
        """Note what was sent and is not there."""
        self._lost("", _FIELDS, item, generation)
        if generation.output is not None:
            self._lost("output.", _FACTS, item["output"], generation.output)

    def _lost(self, before: str, fields: dict[str, str], sent: Any, found: Any) -> None:
        for field, name in fields.items():
            if getattr(found, name) is None and sent.get(field) not in _NOTHING:
                self._fields[f"{before}{field}"] += 1


def _parsed(content: bytes) -> Any:
    """Return what the JSON of a page says, numbers that are none included.

    Half a character, as clipped texts end with, becomes a question mark.
    """
    body = json.loads(content.decode("utf-8-sig", "replace"))
    if not _HALVES.search(content):
        return body
    return json.loads(json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"))


def _generation(item: Any) -> wire.Generation | None:
    """Return what a record says, or None where it says too little."""
    try:
        return wire.Generation.model_validate(item)
    except ValidationError:
        return None
