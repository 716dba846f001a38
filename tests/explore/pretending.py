"""A service that pretends: generations in memory, small pages, and a record of what was asked."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from kit import wire
from kit.errors import BadRequestError, NoAnswerError, NotFoundError
from kit.explore.syncing import Page

START = datetime(2026, 1, 1, tzinfo=UTC)


def driven(steps: Generator[Any, Any, Any]) -> Any:
    """Drive a flow whose steps need nobody."""
    try:
        while True:
            next(steps)
    except StopIteration as stop:
        return stop.value


@dataclass
class Service:
    """Newest first, `size` a page.

    `filters` is whether it knows ``created_after``, `strict` whether it refuses any query, `pages`
    whether there is more than one page, `breaks` after how many requests the line goes dead.
    """

    size: int = 3
    filters: bool = True
    strict: bool = False
    paged: bool = True
    breaks: int | None = None
    says_credits: bool = True
    known: list[dict[str, Any]] = field(default_factory=list)
    asked: list[Any] = field(default_factory=list)
    charged: dict[str, Decimal] = field(default_factory=dict)
    offered: dict[str, wire.Model] = field(default_factory=dict)
    rested: float = 0.0

    def make(self, count: int = 1, status: str = "completed", **fields: Any) -> list[str]:
        """Make generations, an hour apart, and return their ids."""
        made = []
        for _ in range(count):
            number = len(self.known)
            row: dict[str, Any] = {
                "id": f"g{number:04d}",
                "status": status,
                "modelId": "ab"[number % 2],
                "parameters": {"size": 512 * (1 + number % 2)},
                "createdAt": (START + timedelta(hours=number)).isoformat(),
            }
            if self.says_credits:
                row |= {"creditsCharged": 0.5, "creditsRefunded": 0}
            self.known.append({**row, **fields})
            made.append(row["id"])
        return made

    def end(self, generation_id: str, status: str = "completed") -> None:
        """Let a generation end."""
        for row in self.known:
            if row["id"] == generation_id:
                row["status"] = status

    def page(self, query: Mapping[str, Any], path: str | None) -> Generator[Any, Any, Page]:
        self._count((dict(query), path))
        if self.strict and query:
            raise BadRequestError("unknown query")
        yield
        rows = self.known[::-1]
        since = query.get("created_after")
        if path is not None and path.startswith("gone"):
            raise NotFoundError("no such page")
        if path is not None:
            last, _, filtered = path.partition(",")
            rows = [row for row in rows if row["id"] < last]
            since = datetime.fromisoformat(filtered) if filtered else None
        if since and self.filters:
            rows = [r for r in rows if datetime.fromisoformat(r["createdAt"]) >= since]
        shown = rows[: self.size]
        more = self.paged and len(rows) > self.size
        tail = since.isoformat() if since and self.filters else ""
        return Page(json.dumps(shown).encode(), f"{shown[-1]['id']},{tail}" if more else None)

    def one(self, generation_id: str) -> Generator[Any, Any, bytes]:
        self._count(generation_id)
        yield
        for row in self.known:
            if row["id"] == generation_id:
                return json.dumps(row).encode()
        raise NotFoundError("no such generation")

    def models(self) -> Generator[Any, Any, Mapping[str, wire.Model]]:
        self._count("models")
        yield
        return self.offered

    def receipts(self) -> dict[str, Decimal]:
        return self.charged

    def rest(self, seconds: float) -> Generator[Any, Any, None]:
        self.rested += seconds
        yield

    def _count(self, what: Any) -> None:
        self.asked.append(what)
        if self.breaks is not None and len(self.asked) > self.breaks:
            raise NoAnswerError("the line is dead")
