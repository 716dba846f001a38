"""The journal: what was started, written down before anything else can go wrong.

One JSON object a line, only ever appended, readable by the user only. It holds what the API
document's list does not: what a start was charged, and which request led to which generation.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from kit import wire
from kit.client.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line: a start, or the end of one.

    Parameters
    ----------
    request : str
        Hash of model, prompt, parameters and media: equal requests have equal hashes.
    credits : str or None
        What the start was charged, as decimal text; None where the service did not say.
    state : str
        ``processing`` in the line of a start, the final state in the line of an end.
    """

    id: str
    at: str
    request: str = ""
    model_id: str = ""
    credits: str | None = None
    state: str = "processing"


class Journal:
    """What this computer has started at one service.

    Examples
    --------
    >>> import tempfile
    >>> journal = Journal(Path(tempfile.mkdtemp()) / "journal.jsonl")
    >>> journal.started(wire.Receipt(id="gen_1", credits_charged="0.05"), request="abc")
    >>> journal.pending(), journal.credits()
    (['gen_1'], {'gen_1': Decimal('0.05')})
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._book = _Book()

    @classmethod
    def of(cls, settings: Settings) -> Journal:
        """Return the journal of a service, whether it has been written to or not."""
        name = settings.name or hashlib.sha256(settings.base_url.encode()).hexdigest()[:16]
        safe = name if name.isidentifier() else hashlib.sha256(name.encode()).hexdigest()[:16]
        return cls(settings.data / "notebook" / "journal" / f"{safe}.jsonl")

    def started(self, receipt: wire.Receipt, *, request: str = "", model_id: str = "") -> None:
        """Write down a start."""
        charged = None if receipt.credits_charged is None else str(receipt.credits_charged)
        self._append(
            Entry(id=receipt.id, at=_now(), request=request, model_id=model_id, credits=charged)
        )

    def finished(self, generation: wire.Generation) -> None:
        """Write down how a generation ended."""
        self._append(Entry(id=generation.id, at=_now(), state=generation.state))

    def pending(self) -> list[str]:
        """Return the ids of what was started and is not known to have ended, oldest first."""
        with self._read() as book:
            return [known for known in book.starts if known not in book.ends]

    def credits(self) -> dict[str, Decimal]:
        """Return what each start was charged, by generation id."""
        with self._read() as book:
            return dict(book.credits)

    def charged(self, generation_id: str) -> Decimal | None:
        """Return what one start was charged; None where that is not known."""
        with self._read() as book:
            return book.credits.get(generation_id)

    def earlier(self, request: str) -> list[str]:
        """Return what this very request led to, newest first, without what failed.

        Several, because accounts of one service share its journal: the newest may be another's.
        """
        with self._read() as book:
            same = reversed(book.requests.get(request, ()))
            return list(dict.fromkeys(known for known in same if not book.lost(known)))

    def starts(self) -> dict[str, list[tuple[str, bool]]]:
        """Return the starts of each request, oldest first: the id, and whether it may have led on.

        One reading serves a whole sweep.
        """
        with self._read() as book:
            return {
                request: [(known, not book.lost(known)) for known in ids]
                for request, ids in book.requests.items()
                if request
            }

    @contextmanager
    def _read(self) -> Iterator[_Book]:
        """Read what was added since the last time, also by other kernels, and hold the book."""
        with self._lock:
            try:
                with self._path.open("rb") as file:
                    facts = os.fstat(file.fileno())
                    if facts.st_ino != self._book.file or facts.st_size < self._book.length:
                        self._book = _Book(facts.st_ino)  # not the file that was read before
                    file.seek(self._book.length)
                    self._book.add(file.read())
            except FileNotFoundError:
                self._book = _Book()
            yield self._book

    def _append(self, entry: Entry) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        line = json.dumps(asdict(entry), ensure_ascii=False) + "\n"
        file = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            if (
                os.fstat(file).st_size
                and os.lseek(file, -1, os.SEEK_END)
                and os.read(file, 1) != b"\n"
            ):
                line = "\n" + line  # a crash has cut the last line short; this one shall be whole
            os.write(file, line.encode())  # one write: lines of two kernels do not mix
        finally:
            os.close(file)


@dataclass(slots=True)
class _Book:
    """What the lines of a journal say, as far as it was read.

    Parameters
    ----------
    file : int
        Which file was read.
    length : int
        Bytes of it that were.
    """

    file: int = -1
    length: int = 0
    starts: dict[str, None] = field(default_factory=dict)
    ends: dict[str, str] = field(default_factory=dict)
    credits: dict[str, Decimal] = field(default_factory=dict)
    requests: dict[str, list[str]] = field(default_factory=dict)

    def add(self, content: bytes) -> None:
        """Take more of the file; a line that is still being written is left for the next time."""
        whole = content[: content.rfind(b"\n") + 1]
        self.length += len(whole)
        for line in whole.splitlines():
            if (entry := _parsed(line)) is not None:
                self._note(entry)

    def lost(self, generation_id: str) -> bool:
        """Return whether nothing came of it."""
        return self.ends.get(generation_id) in ("failed", "canceled")

    def _note(self, entry: Entry) -> None:
        if entry.credits is not None:
            self.credits[entry.id] = Decimal(entry.credits)
        if entry.state != "processing":
            self.ends[entry.id] = entry.state
            return
        self.starts[entry.id] = None
        self.requests.setdefault(entry.request, []).append(entry.id)


def _parsed(line: bytes) -> Entry | None:
    """Read a line, or return None for one that a crash has cut short."""
    try:
        fields: Any = json.loads(line)
        return Entry(**{name: fields[name] for name in Entry.__slots__ if name in fields})
    except (ValueError, TypeError):
        return None


def _now() -> str:
    return wire.timestamp(datetime.now(UTC))
