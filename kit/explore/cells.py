"""The cells of a page as columns: each function makes a whole column of Python values at once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import TypeAdapter

from kit import wire
from kit.explore.arrow import GENERATIONS, TIME
from kit.wire.words import FINISHED

_OWN_WORDS = frozenset({"processing", *FINISHED.values()})
_INSTANT: TypeAdapter[Any] = TypeAdapter(wire.Instant)
_TEXT = str | None
_NUMBER = float | str | None


class Output(msgspec.Struct, gc=False, rename="camel"):
    """What a frame needs of an output."""

    width: int | None = None
    height: int | None = None
    duration_seconds: float | None = None
    size_bytes: int | None = None
    content_type: _TEXT = None


class Row(msgspec.Struct, gc=False, rename="camel"):
    """What a frame needs of a generation."""

    id: str
    status: _TEXT = None
    model_id: _TEXT = None
    asset_type: _TEXT = None
    generation_type: _TEXT = None
    prompt: _TEXT = None
    credits_charged: _NUMBER = None
    credits_refunded: _NUMBER = None
    output: Output | None = None
    parameters: msgspec.Raw = msgspec.Raw(b"")
    media_urls: msgspec.Raw = msgspec.Raw(b"")
    output_url: _TEXT = None
    error: str | dict[str, Any] | None = None
    error_code: _TEXT = None
    created_at: _TEXT = None
    started_at: _TEXT = None
    completed_at: _TEXT = None
    updated_at: _TEXT = None


#: A text that is the value of a key.
_ADDRESS = r':\s*"(?:[^"\\]|\\.)*"'
_NO_OUTPUT = Output()
_FACTS = Output.__struct_fields__


def texts(values: Sequence[str | None]) -> pa.Array:
    """Return texts."""
    return pa.array(values, pa.string())


def numbers(values: Sequence[Any]) -> pa.Array:
    """Return numbers; a service that writes its amounts as text means numbers."""
    if str in set(map(type, values)):
        values = [None if value is None else float(value) for value in values]
    return pa.array(values, pa.float64())


def states(words: Sequence[str | None], part: Sequence[Row]) -> pa.Array:
    """Return statuses in the contract's words, as `kit.wire.Generation.state` does."""
    if not _OWN_WORDS.issuperset(words):
        words = [
            FINISHED.get((row.status or "").lower())
            or ("completed" if row.output_url else "failed" if row.error else "processing")
            for row in part
        ]
    return texts(words)


def times(values: Sequence[str | None]) -> pa.Array:
    """Return instants; a service that forgets the zone means UTC."""
    written = texts(values)
    if written.null_count == len(written):
        return written.cast(TIME)
    for read in (_zoned, _unzoned):
        try:
            return read(written)
        except pa.ArrowInvalid:
            continue
    return pa.array([v and _INSTANT.validate_python(v) for v in values], TIME)


def _zoned(texts: pa.Array) -> pa.Array:
    return texts.cast(TIME)


def _unzoned(texts: pa.Array) -> pa.Array:
    return texts.cast(pa.timestamp("us")).cast(TIME)


def ended(
    status: pa.Array, completed: Sequence[str | None], updated: Sequence[str | None]
) -> pa.Array:
    """Return when generations ended: the last change of a finished one, where nobody says."""
    known = times(completed)
    running = pc.equal(status, "processing")
    if known.null_count == running.true_count:
        return known
    return pc.if_else(running, pa.scalar(None, TIME), pc.coalesce(known, times(updated)))


def between(first: pa.Array, last: pa.Array) -> pa.Array:
    """Return the seconds between two instants."""
    return pc.divide(pc.subtract(last, first).cast(pa.int64()).cast(pa.float64()), 1e6)


def outputs(values: Sequence[Output | None]) -> dict[str, pa.Array]:
    """Return the facts of outputs by column."""
    if any(values):
        lists = [[getattr(o, name) for o in map(_or_none, values)] for name in _FACTS]
    else:
        lists = [[None] * len(values)] * len(_FACTS)
    return {
        name: pa.array(cells, GENERATIONS.field(name).type)
        for name, cells in zip(_FACTS, lists, strict=True)
    }


def _or_none(output: Output | None) -> Output:
    return output or _NO_OUTPUT


def objects(raws: Sequence[msgspec.Raw]) -> pa.Array:
    """Return the texts of JSON values, copied as a whole and cut where each ends."""
    sizes = np.fromiter(map(len, raws), np.int32, len(raws))
    ends = np.concatenate([np.zeros(1, np.int32), np.cumsum(sizes, dtype=np.int32)])
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(raws))]
    texts = pa.Array.from_buffers(pa.string(), len(raws), buffers)
    if sizes.min() > len("null"):
        return texts
    known = pc.invert(pc.is_in(texts, pa.array(["", "null"])))
    return pc.if_else(known, texts, pa.scalar(None, pa.string()))


def counted(media: Sequence[msgspec.Raw]) -> pa.Array:
    """Return how many files each input had; their addresses are signed and stay outside.

    The addresses are cut out of all rows at once, which leaves few different texts to read.
    """
    written = objects(media)
    if written.null_count == len(written):
        return written
    shapes = pc.replace_substring_regex(written, pattern=_ADDRESS, replacement=":1")
    coded = shapes.dictionary_encode()
    read = pa.array([_counts(text) for text in coded.dictionary.to_pylist()], pa.string())
    return read.take(coded.indices)


def _counts(text: str) -> str | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    if not found or not isinstance(found, dict):
        return None
    return json.dumps({name: len(u) if isinstance(u, list) else 1 for name, u in found.items()})


def sentences(errors: Sequence[Any]) -> Sequence[str | None]:
    """Return the texts of errors that another service sends as objects."""
    if dict not in set(map(type, errors)):
        return errors
    return [str(e.get("message") or e) if isinstance(e, dict) else e for e in errors]
