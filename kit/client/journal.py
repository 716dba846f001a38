"""The journal: a record of all starts, written before anything else can fail.

A JSON Lines file, append-only and readable by the user only. It holds what the API document's list
lacks: the charge of each start, and which request led to which generation. A start is also recorded
before it is sent, so that it can be found after a crash.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from kit import wire
from kit.client.calls import failure_reason
from kit.client.settings import Settings
from kit.private import JsonLines

_log = logging.getLogger("kit")
#: Maximum difference between the clocks of a service's servers, and ours.
SLACK = timedelta(minutes=2)
#: Number of durations kept per model, and of the newest of one size that are used.
_MAX_DURATIONS, _RECENT_DURATIONS = 200, 9
#: Seconds beyond which a duration is ignored: its end was noticed late, maybe a day later.
_MAX_SECONDS = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """One line: the start or the end of a generation.

    Equal requests have equal hashes in `request`. `credits` is decimal text. `shown` is a hash of
    the finished generation as the service shows it, because a reset service may reuse ids. Not
    every service keeps `tags`. `by` is a hash of the paying key: accounts share a journal.
    `created_at` is by the service's clock, `at` by ours.
    """

    id: str
    at: str
    request: str = ""
    model_id: str = ""
    credits: str | None = None
    state: str = "processing"
    key: str = ""
    shown: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    inputs: Sequence[str] = ()
    by: str = ""
    created_at: str = ""

    @property
    def charged(self) -> Decimal | None:
        """The charge of the start; None if the service did not report it."""
        return None if self.credits is None else Decimal(self.credits)

    def is_start_of(self, facts: wire.Generation) -> bool:
        """Whether it made a generation that is shown otherwise, and not a later one of its id.

        Services may rewrite prompts and parameters.
        """
        at = self.created_at or self.at
        if not at or facts.created_at is None:
            return False
        return abs(facts.created_at - datetime.fromisoformat(at)) < SLACK


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """A start that was about to be sent, and whose response was never received.

    A service that honors idempotency keys executes the same body with the same key only once. What
    another key sends settles it for that key only, which may be of another account: `by` is a hash
    of the API key that sent it first.
    """

    key: str
    at: str
    request: str = ""
    body: Mapping[str, Any] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    by: str = ""

    @property
    def moment(self) -> datetime:
        """When it was sent."""
        return datetime.fromisoformat(self.at)


class Notices:
    """Logs each sentence once in a session, e.g. that a record could not be written."""

    def __init__(self) -> None:
        self._logged: set[str] = set()

    def log(self, sentence: str) -> None:
        """Log a sentence, unless it was logged before."""
        if sentence not in self._logged:
            self._logged.add(sentence)
            _log.warning("%s", sentence)

    def try_write(self, write: Callable[[], object], what: str) -> None:
        """Write an optional record; a failure is logged and not raised."""
        try:
            write()
        except OSError as error:
            self.log(f"{what} could not be saved: {failure_reason(error)}")


class Journal:
    """All starts from this computer at one service.

    `checked` are hashes of keys, and whether they are of this account, as far as that is known.
    """

    def __init__(self, path: Path, by: str = "") -> None:
        self._lines = JsonLines(path)
        self._by = by
        self.checked = {"": True, by: True}
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._contents = _JournalContents()

    @classmethod
    def of(cls, settings: Settings) -> Journal:
        """Return the journal of a service, which may not exist yet."""
        return cls(settings.records("journal").path, settings.key_hash)

    def add_intent(self, key: str, body: Mapping[str, Any], **facts: Any) -> None:
        """Record a start before it is sent; `facts` are other fields of its `Intent`."""
        self._lines.append({"intent": key, "at": _now(), "body": body, "by": self._by, **facts})

    def settle_intent(self, key: str) -> None:
        """Record that a start was refused and had no effect."""
        self._lines.append({"intent": key, "at": _now(), "settled": "refused", "by": self._by})

    def add_start(self, receipt: wire.Receipt, **facts: Any) -> None:
        """Record a start; `facts` are fields of its `JournalEntry`; the key settles its intent."""
        charged = None if receipt.credits_charged is None else str(receipt.credits_charged)
        created = wire.timestamp(receipt.created_at) if receipt.created_at else ""
        facts |= {"credits": charged, "by": self._by, "created_at": created}
        self._lines.append(asdict(JournalEntry(id=receipt.id, at=_now(), **facts)))

    def add_end(self, generation: wire.Generation, *, shown: str = "") -> None:
        """Record the end of a generation, and a hash of it as the service shows it."""
        self._lines.append(
            asdict(JournalEntry(id=generation.id, at=_now(), state=generation.state, shown=shown))
        )

    def pending(self) -> list[str]:
        """Return the ids of started generations without a recorded end, oldest first."""
        with self._read() as contents:
            return [each for each in contents.starts if each not in contents.ends]

    def intents(self, request: str | None = None) -> list[Intent]:
        """Return starts without a response, oldest first; only those of `request` if given."""
        with self._read() as contents:
            same = [i for i in contents.intents.values() if request in (None, i.request)]
            return [each for each in same if (each.key, self._by) not in contents.settled]

    def start(self, generation_id: str) -> JournalEntry:
        """Return the start of a generation; an empty entry if it was not started from here."""
        with self._read() as contents:
            return contents.starts.get(generation_id, JournalEntry(id=generation_id, at=""))

    def find_tags(self, generation: wire.Generation) -> dict[str, str]:
        """Return the tags of a generation: the service's, else those of its start."""
        return dict(generation.tags or self.start(generation.id).tags)

    def is_new(self, generation_id: str, seconds: float) -> bool:
        """Return whether it was started less than some seconds ago, and not seen to end."""
        with self._read() as contents:
            start = contents.starts.get(generation_id)
            if start is None or generation_id in contents.ends:
                return False
            age = datetime.now(UTC) - datetime.fromisoformat(start.at)
            return abs(age) < timedelta(seconds=seconds)

    def shown_hash(self, generation_id: str) -> str:
        """Return the hash of a generation as the service showed it; empty if unknown."""
        with self._read() as contents:
            return contents.shown.get(generation_id, "")

    def credits(self) -> dict[str, Decimal]:
        """Return the charge of each start, by generation id."""
        with self._read() as contents:
            return {n: c for n, s in contents.starts.items() if (c := s.charged) is not None}

    def tags(self) -> dict[str, Mapping[str, str]]:
        """Return the tags of the starts that have some, by generation id."""
        with self._read() as contents:
            return {name: start.tags for name, start in contents.starts.items() if start.tags}

    def entries(self, after: str | None = None) -> list[JournalEntry]:
        """Return the starts, or those after one, with their last known state, oldest first."""
        with self._read() as contents:
            starts, ends = contents.starts, contents.ends
            ids = itertools.takewhile(lambda each: each != after, reversed(starts))
            return [replace(starts[each], state=ends.get(each, "processing")) for each in ids][::-1]

    def usual_seconds(self, model_id: str, credits: Decimal | None) -> float | None:
        """Return how long a generation usually takes: the median of similar ones from here.

        The charge stands for the size. Without durations for this size, those of the model's other
        sizes are scaled in proportion.
        """
        with self._read() as contents:
            durations = list(contents.durations.get(model_id, ()))
        same = [seconds for charged, seconds in durations if charged == credits]
        if not same and credits:
            same = [s * float(credits / charged) for charged, s in durations if charged]
        same = sorted(same[-_RECENT_DURATIONS:])
        return (same[len(same) // 2] + same[(len(same) - 1) // 2]) / 2 if same else None

    def unchecked(self) -> dict[str, str]:
        """Return the newest generation of each key that may be of another account, by its hash."""
        with self._read() as contents:
            return {by: n for by, n in contents.newest.items() if by not in self.checked}

    def find_earlier(self, request: str) -> list[str]:
        """Return the generations of an equal request, without failed ones.

        Oldest first, but those that another key has paid last: they may be of another account.
        """
        with self._read() as contents:
            ids = dict.fromkeys(contents.requests.get(request, ()))
            usable = [each for each in ids if contents.is_usable(each, request)]
            return sorted(usable, key=lambda each: contents.starts[each].by not in ("", self._by))

    def starts(self) -> dict[str, list[tuple[str, bool]]]:
        """Return the starts of each request, oldest first: the id, and whether it is usable.

        One call serves a whole sweep. Starts with keys of other accounts are left out.
        """
        with self._read() as contents:
            return {
                request: [
                    (each, contents.is_usable(each, request))
                    for each in ids
                    if self.checked.get(contents.starts[each].by, True)
                ]
                for request, ids in contents.requests.items()
                if request
            }

    @contextmanager
    def _read(self) -> Iterator[_JournalContents]:
        """Read lines added since the last call, also by other kernels, and hold the lock."""
        if self._process != os.getpid():
            self._begin()  # it was forked, maybe while another thread held the lock
        with self._lock:
            try:
                with self._lines.path.open("rb") as file:
                    status = os.fstat(file.fileno())
                    same = status.st_ino == self._contents.file
                    if not same or status.st_size < self._contents.length:
                        self._contents = _JournalContents(status.st_ino)
                    file.seek(self._contents.length)
                    self._contents.add(file.read())
            except (FileNotFoundError, NotADirectoryError):
                self._contents = _JournalContents()
            yield self._contents


@dataclass(slots=True)
class _JournalContents:
    """The parsed lines of a journal, up to a number of bytes of a file."""

    file: int = -1
    length: int = 0
    starts: dict[str, JournalEntry] = field(default_factory=dict)
    ends: dict[str, str] = field(default_factory=dict)
    newest: dict[str, str] = field(default_factory=dict)  # start of each key, by its hash
    requests: dict[str, list[str]] = field(default_factory=dict)
    intents: dict[str, Intent] = field(default_factory=dict)
    settled: set[tuple[str, str]] = field(default_factory=set)  # key of the intent, and `by`
    shown: dict[str, str] = field(default_factory=dict)
    durations: dict[str, deque[tuple[Decimal | None, float]]] = field(default_factory=dict)

    def add(self, content: bytes) -> None:
        """Parse more of the file; an incomplete last line is left for the next call."""
        whole = content[: content.rfind(b"\n") + 1]
        self.length += len(whole)
        for line in whole.splitlines():
            match _parse_line(line):
                case JournalEntry() as entry:
                    self._add_entry(entry)
                case Intent() as intent:
                    self.intents.setdefault(intent.key, intent)  # it may be sent again
                case (str() as key, str() as by):
                    self._settle(key, by)

    def is_usable(self, generation_id: str, request: str) -> bool:
        """Return whether it did not fail, and its id is not one that a reset service used again."""
        is_same = self.starts[generation_id].request == request
        return is_same and self.ends.get(generation_id) not in ("failed", "canceled")

    def _settle(self, key: str, by: str) -> None:
        intent = self.intents.get(key)
        if intent and intent.by in ("", by):
            del self.intents[key]
        elif intent:
            self.settled.add((key, by))

    def _add_entry(self, entry: JournalEntry) -> None:
        self._settle(entry.key, entry.by)
        if entry.shown:
            self.shown[entry.id] = entry.shown
        if entry.state != "processing":
            self.ends[entry.id] = entry.state
            if entry.state == "completed" and entry.id in self.starts:
                self._add_duration(self.starts[entry.id], entry)
            return
        self.starts[entry.id] = entry
        self.newest[entry.by] = entry.id
        self.requests.setdefault(entry.request, []).append(entry.id)

    def _add_duration(self, start: JournalEntry, end: JournalEntry) -> None:
        passed = datetime.fromisoformat(end.at) - datetime.fromisoformat(start.at)
        if 0 <= passed.total_seconds() <= _MAX_SECONDS:
            durations = self.durations.setdefault(start.model_id, deque(maxlen=_MAX_DURATIONS))
            durations.append((start.charged, passed.total_seconds()))


def _parse_line(line: bytes) -> JournalEntry | Intent | tuple[str, str] | None:
    """Parse a line: an entry, an intent, or the key of a settled intent and who settled it.

    None for a line that is malformed, e.g. cut short by a crash.
    """
    try:
        fields: Any = json.loads(line)
        if (key := fields.get("intent")) is not None:
            if "settled" in fields:
                return str(key), str(fields.get("by", ""))
            intent = Intent(**_known_fields(Intent, {**fields, "key": key}))
            return intent if intent.moment.tzinfo and isinstance(intent.body, dict) else None
        entry = JournalEntry(**_known_fields(JournalEntry, fields))
        datetime.fromisoformat(entry.at)
        is_valid = entry.charged is None or entry.charged.is_finite()
        return entry if is_valid and isinstance(entry.id, str) else None
    except (ValueError, TypeError, AttributeError, ArithmeticError):
        return None


def _known_fields(kind: type[JournalEntry | Intent], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the known fields of a line; later releases may write more."""
    return {name: fields[name] for name in kind.__slots__ if name in fields}


def _now() -> str:
    return wire.timestamp(datetime.now(UTC))
