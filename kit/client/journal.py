"""The journal: what was started, written down before anything else can go wrong.

One JSON object a line, only ever appended, readable by the user only. It holds what the API
document's list does not: what a start was charged, and which request led to which generation.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
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
        ended = {e.id for e in self._entries() if e.state != "processing"}
        started = (e.id for e in self._entries() if e.state == "processing")
        return [known for known in dict.fromkeys(started) if known not in ended]

    def credits(self) -> dict[str, Decimal]:
        """Return what each start was charged, by generation id."""
        return {e.id: Decimal(e.credits) for e in self._entries() if e.credits is not None}

    def earlier(self, request: str) -> list[str]:
        """Return what this very request led to, newest first, without what failed.

        Several, because accounts of one service share its journal: the newest may be another's.
        """
        entries = list(self._entries())
        lost = {e.id for e in entries if e.state in ("failed", "canceled")}
        same = (e.id for e in reversed(entries) if e.request == request and e.id not in lost)
        return list(dict.fromkeys(same))

    def starts(self) -> dict[str, list[tuple[str, bool]]]:
        """Return the starts of each request, oldest first: the id, and whether it may have led on.

        One reading serves a whole sweep.
        """
        entries = list(self._entries())
        lost = {e.id for e in entries if e.state in ("failed", "canceled")}
        found: dict[str, list[tuple[str, bool]]] = {}
        for entry in entries:
            if entry.state == "processing" and entry.request:
                found.setdefault(entry.request, []).append((entry.id, entry.id not in lost))
        return found

    def _entries(self) -> Iterator[Entry]:
        try:
            lines = self._path.read_text("utf-8").splitlines()
        except FileNotFoundError:
            return
        for line in lines:
            if (entry := _read(line)) is not None:
                yield entry

    def _append(self, entry: Entry) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        line = json.dumps(asdict(entry), ensure_ascii=False) + "\n"
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, line.encode())  # one write: lines of two kernels do not mix
        finally:
            os.close(file)


def _read(line: str) -> Entry | None:
    """Read a line, or return None for one that a crash has cut short."""
    try:
        fields: Any = json.loads(line)
        return Entry(**{name: fields[name] for name in Entry.__slots__ if name in fields})
    except (ValueError, TypeError):
        return None


def _now() -> str:
    return wire.timestamp(datetime.now(UTC))
