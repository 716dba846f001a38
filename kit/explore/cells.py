"""The cells of a page as columns: each function makes a whole column of Python values at once."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Sequence
from itertools import chain
from typing import Any, Literal

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import TypeAdapter

from kit import wire
from kit.explore.arrow import GENERATIONS, TIME
from kit.explore.malformed import MalformedValues
from kit.wire.words import FINISHED

_INSTANT: TypeAdapter[Any] = TypeAdapter(wire.Instant)
_TEXT = str | None
_NUMBER = float | str | None
_Kind = Literal[
    "text-to-image",
    "image-to-image",
    "text-to-video",
    "image-to-video",
    "video-to-video",
    "lip-sync",
]
_NOTHING = msgspec.Raw(b"")


class OutputCells(msgspec.Struct, gc=False, rename="camel"):
    """What a frame needs of an output."""

    width: int | None = None
    height: int | None = None
    duration_seconds: float | None = None
    size_bytes: int | None = None
    content_type: _TEXT = None


class GenerationRow(msgspec.Struct, gc=False, rename="camel"):
    """What a frame needs of a generation, in the order of the API, which is the fastest to read."""

    id: str
    # the contract's words only, which need no memory of their own; for others see `Foreign`
    status: Literal["processing", "completed", "failed", "canceled"] = "processing"
    asset_type: Literal["image", "video"] | None = None
    generation_type: _Kind | None = None
    model_id: _TEXT = None
    prompt: _TEXT = None
    parameters: msgspec.Raw = _NOTHING
    media_urls: msgspec.Raw = _NOTHING
    error: str | dict[str, Any] | None = None
    created_at: _TEXT = None
    updated_at: _TEXT = None
    credits_charged: _NUMBER = None
    credits_refunded: _NUMBER = None
    started_at: _TEXT = None
    completed_at: _TEXT = None
    error_code: _TEXT = None
    output: OutputCells | None = None


class ForeignRow(GenerationRow, gc=False, rename="camel"):
    """A generation of a service with other words."""

    status: _TEXT = None  # type: ignore[assignment]
    asset_type: _TEXT = None  # type: ignore[assignment]
    generation_type: _TEXT = None  # type: ignore[assignment]
    output_url: _TEXT = None


_NO_OUTPUT = OutputCells()
_FACTS = OutputCells.__struct_fields__
_CALLED = {
    name: f"output.{field}"
    for name, field in zip(_FACTS, OutputCells.__struct_encode_fields__, strict=True)
}
#: Inputs that are looked for one by one before what is left is searched.
_FEW = 6
_BACKSLASH = ord("\\")


def texts(values: Sequence[str | None]) -> pa.Array:
    """Return texts."""
    return pa.array(values, pa.string())


def numbers(values: Sequence[Any], malformed: MalformedValues, field: str) -> pa.Array:
    """Return numbers; a service that writes its amounts as text means numbers."""
    try:
        return pa.array(values, pa.float64())
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array(malformed.each(field, _finite, values), pa.float64())


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError("no amount")
    return number


def own(row: ForeignRow) -> GenerationRow:
    """Return a row with its status in the contract's words, as `kit.wire.Generation.state` does."""
    state: Any = FINISHED.get((row.status or "").lower()) or (
        "completed" if row.output_url else "failed" if row.error else "processing"
    )
    generation_id, _, *others, _ = msgspec.structs.astuple(row)
    return GenerationRow(generation_id, state, *others)


def times(values: Sequence[str | None], malformed: MalformedValues, field: str) -> pa.Array:
    """Return instants; a service that forgets the zone means UTC."""
    written = texts(values)
    if written.null_count == len(written):
        return written.cast(TIME)
    for read in (_zoned, _unzoned):
        try:
            return read(written)
        except pa.ArrowInvalid:
            continue
    return pa.array(malformed.each(field, _INSTANT.validate_python, values), TIME)


def _zoned(texts: pa.Array) -> pa.Array:
    return texts.cast(TIME)


def _unzoned(texts: pa.Array) -> pa.Array:
    return texts.cast(pa.timestamp("us")).cast(TIME)


def end_times(
    status: pa.Array,
    completed: Sequence[str | None],
    updated: Sequence[str | None],
    malformed: MalformedValues,
) -> pa.Array:
    """Return when generations ended: the last change of a finished one, by default."""
    known = times(completed, malformed, "completedAt")
    running = pc.equal(status, "processing")
    if known.null_count == running.true_count:
        return known
    changed = times(updated, malformed, "updatedAt")
    return pc.if_else(running, pa.scalar(None, TIME), pc.coalesce(known, changed))


def between(first: pa.Array, last: pa.Array) -> pa.Array:
    """Return the seconds between two instants."""
    return pc.divide(pc.subtract(last, first).cast(pa.int64()).cast(pa.float64()), 1e6)


def outputs(
    values: Sequence[OutputCells | None], malformed: MalformedValues
) -> dict[str, pa.Array]:
    """Return the facts of outputs by column."""
    kinds = {name: GENERATIONS.field(name).type for name in _FACTS}
    if not any(values):
        return {name: pa.nulls(len(values), kind) for name, kind in kinds.items()}
    flat = list(chain.from_iterable(map(msgspec.structs.astuple, map(_or_none, values))))
    return {
        name: _facts(flat[place :: len(kinds)], kind, malformed, _CALLED[name])
        for place, (name, kind) in enumerate(kinds.items())
    }


def _facts(
    values: Sequence[Any], kind: pa.DataType, malformed: MalformedValues, field: str
) -> pa.Array:
    try:
        return pa.array(values, kind)
    except (pa.ArrowInvalid, OverflowError):  # a whole number that is larger than any output
        return pa.array(
            malformed.each(field, lambda value: pa.scalar(value, kind).as_py(), values), kind
        )


def _or_none(output: OutputCells | None) -> OutputCells:
    return output or _NO_OUTPUT


def objects(raws: Sequence[msgspec.Raw]) -> pa.Array:
    """Return the texts of JSON values, copied as a whole and cut where each ends."""
    whole = b"".join(raws)
    if not whole.isascii() and not _utf8(whole):
        raws = [msgspec.Raw(str(raw, "utf-8", "replace").encode()) for raw in raws]
        whole = b"".join(raws)
    sizes = np.fromiter(map(len, raws), np.int32, len(raws))
    ends = np.concatenate([np.zeros(1, np.int32), np.cumsum(sizes, dtype=np.int32)])
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(whole)]
    texts = pa.Array.from_buffers(pa.string(), len(raws), buffers)
    if sizes.min() > len("null"):
        return texts
    known = pc.invert(pc.is_in(texts, pa.array(["", "null"])))
    return pc.if_else(known, texts, pa.scalar(None, pa.string()))


def _utf8(content: bytes) -> bool:
    """Whether bytes are a text: the decoder passes over what it does not read."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def count_media(media: Sequence[msgspec.Raw]) -> pa.Array:
    """Return how many files each input had; their addresses are signed and stay outside."""
    written = objects(media)
    found = pa.nulls(len(written), pa.string())
    rest = pc.fill_null(pc.not_equal(written, "{}"), False)
    if _BACKSLASH not in np.frombuffer(written.buffers()[2], np.uint8):
        # most rows name one input with one file: two strings, which four quotes delimit
        quotes = pc.count_substring(written, '"')
        one = pc.and_(pc.equal(quotes, 4), pc.ends_with(written, '"}'))
        for _ in range(_FEW):
            place = pc.index(one, True).as_py()
            if place < 0:
                break
            name = written[place].as_py().split('"')[1]
            same = pc.and_(one, pc.starts_with(written, f'{{"{name}"'))
            found = pc.if_else(same, _counts(((name, 1),)), found)
            one, rest = pc.and_not(one, same), pc.and_not(rest, pc.fill_null(same, False))
    left = [_counts(_files(text)) for text in written.filter(rest).to_pylist()]
    return pc.replace_with_mask(found, rest, texts(left)) if left else found


def _files(text: str) -> tuple[tuple[str, int], ...]:
    try:
        found = msgspec.json.decode(text)
    except msgspec.MsgspecError:  # a number that is too large, say
        return ()
    if not isinstance(found, dict):
        return ()
    return tuple((name, len(u) if isinstance(u, list) else 1) for name, u in found.items())


@functools.lru_cache(maxsize=1024)
def _counts(files: tuple[tuple[str, int], ...]) -> str | None:
    return json.dumps(dict(files)) if files else None


def sentences(errors: Sequence[Any]) -> pa.Array:
    """Return the texts of errors, which another service sends as objects."""
    try:
        return texts(errors)
    except pa.ArrowTypeError:
        return texts([str(e.get("message") or e) if isinstance(e, dict) else e for e in errors])
