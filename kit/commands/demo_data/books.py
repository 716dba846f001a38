"""A demo history written into a service's database: generations, and a ledger that adds up."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import orjson

from kit.commands.demo_data.story import Event
from kit.pricing import MILLI
from kit.service.store import generations, ids, ledger, tags, writing
from kit.service.store.database import Transaction
from kit.service.store.statements import Step

#: Credits at the beginning, what is bought each time, and the balance below which that happens.
FIRST, MORE, LOW = 1000 * MILLI, 2000 * MILLI, 200 * MILLI
_SHAPE = re.compile(r"(\d+):(\d+)")
_LINES = re.compile(r"(\d+)p")
#: Bytes of an output for each pixel, and for each pixel and second.
_IMAGE_BYTES, _VIDEO_BYTES = 0.22, 0.35


def write_history(
    account_id: str, key: Any, events: Iterable[Event], since: int
) -> Transaction[tuple[int, int]]:
    """Write a history and return how many generations it has and the balance it leaves.

    Parameters
    ----------
    key : row
        The key that paid.
    since : int
        When the account got its first credits, in milliseconds since 1970.
    """
    book = _Book(account_id, key)
    yield book.entry(since, "grant", FIRST, subject="grt_demo_0", note="welcome")
    number = 0
    for event in events:
        number += 1
        if book.balance < LOW + event.millicredits:
            subject = f"grt_demo_{number}"
            yield book.entry(event.created, "grant", MORE, subject=subject, note="top-up")
        name = _id("gen", event.created, number)
        tagged = _tags(number, event)
        text = orjson.dumps(tagged).decode() if tagged else None
        yield generations.add(**_row(name, account_id, key.id, event), tags=text)
        for tag in tagged.items():
            yield tags.add(account_id=account_id, tag="=".join(tag), generation_id=name)
        paid: Any = {"subject": name, "generation": name, "model": event.model.id, "tags": text}
        yield book.entry(event.created, "generation", -event.millicredits, **paid)
        if event.refunded:
            why = event.error or "canceled before a worker began"
            yield book.entry(event.created, "refund", event.millicredits, note=why, **paid)
        for kind, price in _texts(number):
            subject = f"{kind}_demo_{number}"
            yield book.entry(event.created, kind, -price, subject=subject)
            yield _text(kind, subject, account_id, event)
    return number, book.balance


class _Book:
    """The balance as it goes, and the entries that lead there."""

    def __init__(self, account_id: str, key: Any) -> None:
        self._account_id = account_id
        self._key = key
        self._number = 0
        self.balance = 0

    def entry(
        self,
        moment: int,
        kind: str,
        amount: int,
        *,
        subject: str,
        generation: str | None = None,
        model: str | None = None,
        note: str = "",
        tags: str | None = None,
    ) -> Step:
        """Return the statement of the next entry."""
        self._number += 1
        self.balance += amount
        granted = kind == "grant"
        details = {"note" if granted else "reason": note}
        return ledger.enter(
            id=_id("led", moment, self._number),
            account_id=self._account_id,
            kind=kind,
            subject=subject,
            amount=amount,
            charged=max(-amount, 0),
            refunded=amount if kind == "refund" else 0,
            generation_id=generation,
            model_id=model,
            key_id=None if granted else self._key.id,
            key_prefix=None if granted else self._key.prefix,
            details=json.dumps(details) if note else None,
            tags=tags,
            created_at=moment,
        )


def _tags(number: int, event: Event) -> dict[str, str]:
    """Return what a generation is filed under: a campaign of its season, but for one in five."""
    month = datetime.fromtimestamp(event.created / 1000, UTC).month
    campaign = ("winter", "spring", "summer", "autumn")[month % 12 // 3]
    team = "film" if event.model.asset_type == "video" else "print"
    return {"campaign": campaign, "team": team} if number % 5 else {}


def _texts(number: int) -> Iterator[tuple[str, int]]:
    """Yield what was written beside the pictures: now and then a title, and often its script."""
    if number % 15 == 0:
        yield "title", 50
        if number % 45:
            yield "script", 150


def _text(kind: str, subject: str, account_id: str, event: Event) -> Step:
    """Return the statement that keeps what a title's or a script's entry is for."""
    row = {
        "id": subject,
        "account_id": account_id,
        "topic": "NATURE",
        "title": event.prompt[:200],
        "created_at": event.created,
    }
    if kind == "title":
        return writing.add_title(**row)
    spoken = {
        "content": event.prompt,
        "duration_ms": 10_000,
        "word_count": len(event.prompt.split()),
    }
    return writing.add_script(**row, batch_id=subject, **spoken)


def _id(prefix: str, moment: int, number: int) -> str:
    """Return an id that is the same in every run; eight digits keep a moment's ids in order."""
    return ids.floor(prefix, moment)[:-8] + f"{number:08d}"


def _row(name: str, account_id: str, key_id: str, event: Event) -> dict[str, Any]:
    done = event.state == "completed"
    output = orjson.dumps(_output(name, event)).decode() if done else None
    return {
        "id": name,
        "account_id": account_id,
        "key_id": key_id,
        "state": event.state,
        "asset_type": event.model.asset_type,
        "generation_type": f"text-to-{event.model.asset_type}",
        "model_id": event.model.id,
        "model_name": event.model.title,
        "prompt": event.prompt,
        "parameters": orjson.dumps(event.values).decode(),
        "media": "{}",
        "seed": event.seed,
        "millicredits": event.millicredits,
        "refunded": event.millicredits if event.refunded else 0,
        "progress": 1.0 if done else 0.0,
        "attempt": 1 if event.started else 0,
        "losses": 0,
        "queue_round": 0,
        "owner": None,
        "lease_until": None,
        "error": event.error,
        "error_code": event.error_code,
        "output": output,
        "created_at": event.created,
        "updated_at": event.completed,
        "started_at": event.started,
        "completed_at": event.completed,
        "outputs_deleted_at": event.completed if done else None,  # they were never made
        "file_metadata": 1,
    }


def _output(name: str, event: Event) -> dict[str, Any]:
    """Return the facts of an output whose file was never made."""
    video = event.model.asset_type == "video"
    width, height = extent(event.values)
    seconds = float(event.values.get("duration") or 4) if video else None
    size = width * height * (_VIDEO_BYTES * (seconds or 0) if video else _IMAGE_BYTES)
    return {
        "key": f"demo/{name}",
        "content_type": "video/mp4" if video else "image/jpeg",
        "width": width,
        "height": height,
        "duration_seconds": seconds,
        "size_bytes": round(size),
        "sha256": hashlib.sha256(name.encode()).hexdigest(),
    }


def extent(values: Mapping[str, Any]) -> tuple[int, int]:
    """Return the width and height that settings lead to, in pixels.

    Examples
    --------
    >>> extent({"resolution": "720p", "aspect_ratio": "16:9"}), extent({"size": 512})
    ((1280, 720), (512, 512))
    """
    shape = _SHAPE.fullmatch(str(values.get("aspect_ratio")))
    across, down = (int(shape[1]), int(shape[2])) if shape else (1, 1)
    lines = _LINES.fullmatch(str(values.get("resolution")))
    size = values.get("size")
    short = int(lines[1]) if lines else size if isinstance(size, int) else 1024
    scale = short / min(across, down)
    return 2 * round(across * scale / 2), 2 * round(down * scale / 2)
