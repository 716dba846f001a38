"""Malformed values: what could not be read of answers is counted, and told in one warning."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

T = TypeVar("T")

_log = logging.getLogger("kit")
#: Fields that are named in one warning, the most frequent first.
_NAMED = 8
#: Values that other services send for nothing.
EMPTY: tuple[Any, ...] = (None, "", [], {})


class MalformedValues:
    """What could not be read of some pages: each field and how often, for one warning."""

    def __init__(self) -> None:
        self._fields: Counter[str] = Counter()
        self._records = 0

    def each(
        self, field: str, read: Callable[[Any], T | None], values: Iterable[Any]
    ) -> list[T | None]:
        """Return values read one by one; what cannot be is missing, and counted."""
        found: list[T | None] = []
        for value in values:
            try:
                found.append(None if value in EMPTY else read(value))
            except (ValueError, TypeError, OverflowError):
                found.append(None)
                self.count(field)
        return found

    def count(self, field: str, number: int = 1) -> None:
        """Count values of a field that are missing."""
        if number:
            self._fields[field] += number

    def leave_out(self) -> None:
        """Count a record that is not in the table."""
        self._records += 1

    def sentence(self) -> str:
        """Return what was counted, empty where there is nothing."""
        parts = []
        if self._records:
            parts.append(f"generations without an id or a status are left out ({self._records:,})")
        if self._fields:
            named = [f"{name} ({n:,})" for name, n in self._fields.most_common(_NAMED)]
            more = [f"{len(self._fields) - _NAMED} more"] if len(self._fields) > _NAMED else []
            fields = ", ".join([*named, *more])
            parts.append(f"values that make no sense are missing in the history: {fields}")
        return "; ".join(parts)

    def warn(self) -> None:
        """Log what was counted, in one warning."""
        if sentence := self.sentence():
            _log.warning("malformed answers of the service: %s", sentence)
