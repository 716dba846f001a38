"""A fake service: generations in memory, small pages, and a record of its requests."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from kit import wire
from kit.errors import NoAnswerError, NotFoundError
from kit.explore import pages
from kit.explore.archive import Archive
from kit.explore.arrow import Columns
from kit.explore.charges import Receipts, fill_credits
from kit.explore.pages import MalformedValues
from kit.explore.store import Listing, Manifest, Store
from kit.explore.syncing import Page, Start

START = datetime(2026, 1, 1, tzinfo=UTC)


def drive(steps: Generator[Any, Any, Any]) -> Any:
    """Drive a flow whose steps need no outcome, and return its result."""
    try:
        while True:
            next(steps)
    except StopIteration as stop:
        return stop.value


_FOLDER = Path(tempfile.mkdtemp())
atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)


def archive_of(generations: pa.Table, usage: pa.Table | None = None) -> Archive:
    """Return an archive of some tables; it is deleted at the end of the process."""
    store = Store(Path(tempfile.mkdtemp(dir=_FOLDER)))
    ledger = Listing() if usage is None else Listing(store.write(usage))
    store.commit(Manifest(Listing(store.write(generations)), ledger))
    return Archive(store)


def make(number: int, credits: Any = "0.1", back: Any = None, **facts: Any) -> wire.Generation:
    """Return a generation with its charge and its refund."""
    usual = {"id": f"gen_{number}", "status": "completed", "model_id": "poster"}
    return wire.Generation(
        **{**usual, **facts},
        credits_charged=None if credits is None else Decimal(str(credits)),
        credits_refunded=None if back is None else Decimal(str(back)),
    )


def encode(items: Iterable[wire.Wire | wire.WireShape]) -> bytes:
    """Return the body of an answer with a list."""
    return json.dumps([item.model_dump(mode="json", by_alias=True) for item in items]).encode()


def read_page(content: bytes) -> pa.Table:
    """Return a page as a table, and warn of malformed values."""
    malformed = MalformedValues()
    table = pages.read_table(content, malformed)
    malformed.warn()
    return table


def frame_of(
    content: bytes,
    receipts: Receipts | None = None,
    models: Mapping[str, wire.Model] | None = None,
    **wanted: bool,
) -> pd.DataFrame:
    """Return a page of generations as the frame of a history."""
    table = fill_credits(read_page(content), receipts or {}, models or {})
    return Columns(**wanted).frame(table)


def table_of(generations: Iterable[wire.Generation]) -> pa.Table:
    """Return generations as the table of a page."""
    return read_page(encode(generations))


def usage_of(*entries: wire.Entry) -> pa.Table:
    """Return entries of a ledger as the table of a page."""
    return pages.read_usage(encode(entries), MalformedValues())


@dataclass
class Service:
    """A service whose list has the newest first and `size` generations a page.

    `filters`: whether it supports ``created_after``; `paged`: whether there is more than one page;
    `max_requests`: after how many requests the connection breaks.
    """

    size: int = 3
    filters: bool = True
    paged: bool = True
    max_requests: int | None = None
    has_credits: bool = True
    rows: list[dict[str, Any]] = field(default_factory=list)
    requests: list[Any] = field(default_factory=list)
    charged: dict[str, Decimal] = field(default_factory=dict)
    catalog: dict[str, wire.Model] = field(default_factory=dict)
    ledger: list[dict[str, Any]] | None = None
    slept: float = 0.0

    def make(self, count: int = 1, status: str = "completed", **fields: Any) -> list[str]:
        """Make generations, an hour apart, and return their ids."""
        ids = []
        for _ in range(count):
            number = len(self.rows)
            row: dict[str, Any] = {
                "id": f"g{number:04d}",
                "status": status,
                "modelId": "ab"[number % 2],
                "parameters": {"size": 512 * (1 + number % 2)},
                "createdAt": (START + timedelta(hours=number)).isoformat(),
            }
            if self.has_credits:
                row |= {"creditsCharged": 0.5, "creditsRefunded": 0}
            self.rows.append({**row, **fields})
            ids.append(row["id"])
        return ids

    def finish(self, generation_id: str, status: str = "completed") -> None:
        """Finish a generation."""
        for row in self.rows:
            if row["id"] == generation_id:
                row["status"] = status

    def page(self, query: Mapping[str, Any], path: str | None) -> Generator[Any, Any, Page]:
        self._count((dict(query), path))
        yield
        rows = self.rows[::-1]
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

    def fetch_one(self, generation_id: str) -> Generator[Any, Any, bytes]:
        self._count(generation_id)
        yield
        for row in self.rows:
            if row["id"] == generation_id:
                return json.dumps(row).encode()
        raise NotFoundError("no such generation")

    def models(self) -> Generator[Any, Any, Mapping[str, wire.Model]]:
        self._count("models")
        yield
        return self.catalog

    def receipts(self) -> dict[str, Decimal]:
        return self.charged

    def tags(self) -> Mapping[str, Mapping[str, str]]:
        return {}

    def starts(self, after: str | None = None) -> list[Start]:
        names = list(self.charged)
        new = names[names.index(after) + 1 :] if after in names else names
        return [Start(n, START.isoformat(), credits=self.charged[n], is_own=True) for n in new]

    def usage(self, path: str | None) -> Generator[Any, Any, Page | None]:
        self._count(("usage", path))
        yield
        if self.ledger is None:
            return None
        rows = self.ledger[::-1]
        if path is not None:
            rows = [row for row in rows if row["id"] < path]
        shown = rows[: self.size]
        more = len(rows) > self.size
        return Page(json.dumps(shown).encode(), shown[-1]["id"] if more else None)

    def add_entry(self, credits: float, kind: str = "generation", **fields: Any) -> str:
        """Add an entry to the ledger, an hour after the last one, and return its id."""
        self.ledger = self.ledger or []
        number = len(self.ledger)
        after = credits + (self.ledger[-1]["balanceAfter"] if self.ledger else 0)
        row = {
            "id": f"l{number:04d}",
            "createdAt": (START + timedelta(hours=number)).isoformat(),
            "kind": kind,
            "credits": credits,
            "balanceAfter": round(after, 3),
        }
        self.ledger.append({**row, **fields})
        return str(row["id"])

    def sleep(self, seconds: float) -> Generator[Any, Any, None]:
        self.slept += seconds
        yield

    def _count(self, what: Any) -> None:
        self.requests.append(what)
        if self.max_requests is not None and len(self.requests) > self.max_requests:
            raise NoAnswerError("the line is dead")
