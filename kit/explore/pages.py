"""Parses pages of generations and of the ledger into Arrow tables.

A page is decoded once, and each column is built from all its cells together. Cells that do not fit
a plain column are parsed one by one by the wire models, so there is a single definition of how
other services' values are read; what fails there too is missing, and counted by field.
"""

from __future__ import annotations

import functools
import json
import logging
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Any, TypeAlias

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import ConfigDict, TypeAdapter, ValidationError

from kit import wire
from kit.errors import ApiError
from kit.explore.arrow import GENERATIONS, TIME, USAGE
from kit.explore.charges import subtract_refunds
from kit.wire.base import YEARS
from kit.wire.reading import read_instant, replace_surrogates

_log = logging.getLogger("kit")
#: Maximum of fields named in one warning, the most frequent first.
_NAMED = 8
#: Values that services send for missing ones.
EMPTY_VALUES: tuple[Any, ...] = (None, "", [], {})
#: Size in bytes from which on a page is decoded in pieces, and rows per piece.
_LONG_PAGE_BYTES, _PIECE_ROWS = 4_000_000, 1000
#: Upper limit of credits and seconds: their millionths are added up as 64-bit integers.
_MAX_AMOUNT = 1e12
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_NO_VALUE = msgspec.Raw(b"")
#: Errors of msgspec for what it cannot decode.
_DECODE_ERRORS = (msgspec.MsgspecError, RecursionError)


class MalformedValues:
    """Counts values that could not be parsed, by field, for one warning."""

    def __init__(self) -> None:
        self._fields: Counter[str] = Counter()
        self._records = 0

    def parse_all(self, field: str, read: Callable[[Any], Any], values: Iterable[Any]) -> list[Any]:
        """Parse values one by one; those that fail are missing, and counted."""
        found: list[Any] = []
        for value in values:
            try:
                found.append(None if value in EMPTY_VALUES else read(value))
            except (ValueError, TypeError, OverflowError):
                found.append(None)
                self.count(field)
        return found

    def count(self, field: str, number: int = 1) -> None:
        """Count missing values of a field."""
        if number:
            self._fields[field] += number

    def count_record(self) -> None:
        """Count a record that was left out of the table."""
        self._records += 1

    def warn(self) -> None:
        """Log the counts in one warning."""
        parts = []
        if self._records:
            parts.append(f"generations without an id or a status are left out ({self._records:,})")
        if self._fields:
            named = [f"{name} ({n:,})" for name, n in self._fields.most_common(_NAMED)]
            more = [f"{len(self._fields) - _NAMED} more"] if len(self._fields) > _NAMED else []
            fields = ", ".join([*named, *more])
            parts.append(f"implausible values are left out of the history: {fields}")
        if parts:
            _log.warning("malformed answers of the service: %s", "; ".join(parts))


class _Output(msgspec.Struct, gc=False, rename="camel"):
    """The fields of an output that a frame needs."""

    width: Any = None
    height: Any = None
    duration_seconds: Any = None
    size_bytes: Any = None
    content_type: Any = None


class _Row(msgspec.Struct, gc=False, rename="camel"):
    """The fields of a generation that a frame needs, in the API's order, the fastest to decode.

    Only the fields that identify a record have a type; all others are checked as columns.
    """

    id: str
    status: str | None = None
    asset_type: Any = None
    generation_type: Any = None
    model_id: Any = None
    prompt: Any = None
    parameters: msgspec.Raw = _NO_VALUE
    media_urls: msgspec.Raw = _NO_VALUE
    output_url: str | None = None
    error: Any = None
    created_at: Any = None
    updated_at: Any = None
    credits_charged: Any = None
    credits_refunded: Any = None
    started_at: Any = None
    completed_at: Any = None
    error_code: Any = None
    output: _Output | None = None
    tags: msgspec.Raw = _NO_VALUE


class _Details(msgspec.Struct, gc=False):
    """The fields of an entry's details that a frame needs."""

    reason: Any = None
    note: Any = None


class _Entry(msgspec.Struct, gc=False, rename="camel"):
    """The fields of a ledger entry that a frame needs."""

    id: str
    created_at: Any = None
    kind: Any = None
    credits: Any = None
    balance_after: Any = None
    generation_id: Any = None
    model_id: Any = None
    key_prefix: Any = None
    details: _Details | None = None
    tags: msgspec.Raw = _NO_VALUE


@dataclass(frozen=True)
class _Shape:
    """How the pages of a list are decoded."""

    row: type[msgspec.Struct]  # type of a decoded record
    model: type[wire.WireShape]
    essential: Sequence[str]  # records without these fields are left out
    inner: str  # the field that is a nested object

    @functools.cached_property
    def decoder(self) -> msgspec.json.Decoder[list[Any]]:
        return msgspec.json.Decoder(list[self.row])  # type: ignore[name-defined]


_GENERATIONS = _Shape(_Row, wire.Generation, ("id", "status", "output_url"), "output")
_USAGE = _Shape(_Entry, wire.Entry, ("id",), "details")
_NO_OUTPUT, _NO_DETAILS = _Output(), _Details()
_splitter = msgspec.json.Decoder(list[msgspec.Raw])


Cells: TypeAlias = Mapping[str, Sequence[Any]]


def read_table(content: bytes, malformed: MalformedValues) -> pa.Table:
    """Return the generations of a page as a table, in the order given.

    Malformed values are missing, and records without an id are left out. Credits that the service
    does not report are missing; see `kit.explore.charges`.

    Raises `ApiError` if a body is not a list.

    `malformed`: counts what could not be parsed, for one warning after several pages.
    """
    return _read(content, _GENERATIONS, _table, malformed)


def read_usage(content: bytes, malformed: MalformedValues) -> pa.Table:
    """Return the ledger entries of a page as a table; see `read_table`."""
    return _read(content, _USAGE, _usage_table, malformed)


def _read(
    content: bytes,
    shape: _Shape,
    build: Callable[[Cells, MalformedValues], pa.Table],
    malformed: MalformedValues,
) -> pa.Table:
    names, tables = shape.row.__struct_fields__, []
    for piece in _pieces(content):
        # slicing one flat list takes a third of the time of ``zip(*rows)``
        rows = map(msgspec.structs.astuple, _decode(piece, shape, malformed))
        flat = list(chain.from_iterable(rows))
        cells = {name: flat[index :: len(names)] for index, name in enumerate(names)}
        tables.append(build(cells, malformed))
    return pa.concat_tables(tables)


def _pieces(content: bytes) -> Iterator[bytes]:
    """Split a long body, so that its rows are never all in memory."""
    if len(content) >= _LONG_PAGE_BYTES:
        try:
            raws = _splitter.decode(content)
        except _DECODE_ERRORS:
            raws = []
        for start in range(0, len(raws), _PIECE_ROWS):
            yield b"[" + b",".join(raws[start : start + _PIECE_ROWS]) + b"]"
        if raws:
            return
    yield content


def _decode(content: bytes, shape: _Shape, malformed: MalformedValues) -> Sequence[Any]:
    try:
        if content.isascii() or content.decode():
            return shape.decoder.decode(content)
    except (*_DECODE_ERRORS, UnicodeDecodeError):
        pass
    try:
        return shape.decoder.decode(_repair(content, shape, malformed))
    except (ValueError, RecursionError) as error:
        first = str(error).partition("\n")[0][:200]
        sentence = f"the list of generations is not what the API document describes: {first}"
        raise ApiError(sentence) from None


def _repair(content: bytes, shape: _Shape, malformed: MalformedValues) -> bytes:
    """Convert a page that does not follow the API document to one that can be decoded.

    Records without an id or a status are left out.
    """
    items = _parse(content)
    if not isinstance(items, list):
        raise ValueError(f"expected a list, got {type(items).__name__}")
    repaired = []
    fields = {str(shape.model.model_fields[name].alias): name for name in shape.essential}
    for item in items:
        try:
            essential = {
                alias: _reader(shape.model, name, pa.string())(item.get(alias))
                for alias, name in fields.items()
            }
        except (ValidationError, AttributeError):
            malformed.count_record()
            continue
        inner = item.get(shape.inner)
        if inner is not None and not isinstance(inner, dict):
            malformed.count(shape.inner, inner not in EMPTY_VALUES)
            inner = None
        repaired.append({**item, **essential, shape.inner: inner})
    return replace_surrogates(repaired)


def _parse(content: bytes) -> Any:
    """Parse the JSON of a page; invalid numbers become text.

    Lone surrogates, as at the end of truncated texts, become question marks.
    """

    def number(text: str) -> float | str:
        return value if math.isfinite(value := float(text)) else text

    text = content.decode("utf-8-sig", "replace")
    body = json.loads(text, parse_constant=str, parse_float=number)
    if not _SURROGATE.search(content):
        return body
    return json.loads(replace_surrogates(body))


def _table(cells: Cells, malformed: MalformedValues) -> pa.Table:
    def column(name: str, kind: pa.DataType = pa.string()) -> pa.Array:  # noqa: B008 - immutable
        return _column(cells[name], kind, malformed, wire.Generation, name)

    error = column("error")
    status = _states(pa.array(cells["status"], pa.string()), cells["output_url"], error)
    created = column("created_at", TIME)
    ended, running = column("completed_at", TIME), pc.equal(status, "processing")
    if ended.null_count != running.true_count:  # it is the last change of a finished one
        last = pc.coalesce(ended, column("updated_at", TIME))
        ended = pc.if_else(running, pa.scalar(None, TIME), last)
    credits = column("credits_charged", pa.float64())
    refunded = column("credits_refunded", pa.float64())
    found = {
        "id": pa.array(cells["id"], pa.string()),
        "status": status,
        "model_id": column("model_id"),
        "asset_type": column("asset_type"),
        "generation_type": column("generation_type"),
        "prompt": column("prompt"),
        "credits": credits,
        "credits_refunded": refunded,
        "net": subtract_refunds(credits, refunded),
        "credits_source": pc.if_else(pc.is_valid(credits), "service", "none"),
        "seconds": _seconds_between(created, ended),
        "render_seconds": _seconds_between(column("started_at", TIME), ended),
        **_outputs(cells["output"], malformed),
        "parameters": _objects(cells["parameters"], malformed, "parameters"),
        "media": _count_media(_objects(cells["media_urls"], malformed, "mediaUrls")),
        "tags": _tags(_objects(cells["tags"], malformed, "tags")),
        "error": error,
        "error_code": column("error_code"),
        "created_at": created,
        "completed_at": ended,
    }
    return pa.Table.from_arrays([found[name] for name in GENERATIONS.names], schema=GENERATIONS)


def _usage_table(cells: Cells, malformed: MalformedValues) -> pa.Table:
    found = {
        name: _column(cells[name], USAGE.field(name).type, malformed, wire.Entry, name)
        for name in USAGE.names
        if name in cells and name != "tags"
    }
    found["tags"] = _tags(_objects(cells["tags"], malformed, "tags"))
    details = [value or _NO_DETAILS for value in cells["details"]]
    notes = [each.reason or each.note for each in details]
    found["note"] = pa.array([None if n is None else str(n) for n in notes], pa.string())
    return pa.Table.from_arrays([found[name] for name in USAGE.names], schema=USAGE)


def _column(
    values: Sequence[Any],
    kind: pa.DataType,
    malformed: MalformedValues,
    model: type[wire.WireShape],
    name: str,
) -> pa.Array:
    """Return the values of a field as a column; those that do not fit are parsed one by one."""
    try:
        if kind == TIME:
            return _parse_instants(values)
        # converted directly, a fraction would be truncated silently
        found = pa.array(values).cast(kind) if kind == pa.int64() else pa.array(values, kind)
        if kind == pa.float64() and (pc.max(pc.abs(found)).as_py() or 0) >= _MAX_AMOUNT:
            raise pa.ArrowInvalid("read one by one")
        return found
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        field = ("output." if model is wire.Output else "") + str(model.model_fields[name].alias)
        return pa.array(malformed.parse_all(field, _reader(model, name, kind), values), kind)


@functools.cache
def _reader(model: type[wire.WireShape], name: str, kind: pa.DataType) -> Callable[[Any], Any]:
    """Return the function that parses a value of a field like the wire models."""
    field: Any = model.model_fields[name]
    shape: Any = (
        Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
    )
    parse = TypeAdapter[Any](shape, config=ConfigDict(coerce_numbers_to_str=True)).validate_python
    if kind == pa.float64():
        return lambda value: _check_bounds(float(parse(value)))
    if kind == TIME:
        return lambda value: pa.scalar(parse(read_instant(value) or value), kind).as_py()
    return lambda value: pa.scalar(parse(value), kind).as_py()


def _check_bounds(number: float) -> float:
    if abs(number) >= _MAX_AMOUNT:
        raise ValueError("implausibly large")
    return number


def _parse_instants(values: Sequence[Any]) -> pa.Array:
    """Parse times; those without a zone are in UTC."""
    texts = pa.array(values, pa.string())
    try:
        found = texts.cast(TIME)
    except pa.ArrowInvalid:
        found = texts.cast(pa.timestamp("us")).cast(TIME)
    years = pc.min_max(pc.year(found)).as_py()
    if any(year is not None and year not in YEARS for year in years.values()):
        raise pa.ArrowInvalid("read one by one")
    return found


_STATES = {**wire.FINISHED, "processing": "processing"}
_KNOWN_STATES = pa.array(list(_STATES))
_OWN_STATES = pa.array(list(_STATES.values()))


def _states(status: pa.Array, output_urls: Sequence[str | None], error: pa.Array) -> pa.Array:
    """Return statuses in the contract's words, as `kit.wire.Generation.state` does."""
    indices = pc.index_in(status, value_set=_KNOWN_STATES)
    if indices.null_count == 0:
        return _OWN_STATES.take(indices)
    states = _OWN_STATES.take(pc.index_in(pc.utf8_lower(status), value_set=_KNOWN_STATES))
    has_output = pa.array([bool(url) for url in output_urls])
    failed = pc.not_equal(pc.fill_null(error, ""), "")
    unknown = pc.if_else(has_output, "completed", pc.if_else(failed, "failed", "processing"))
    return pc.coalesce(states, unknown)


def _seconds_between(first: pa.Array, last: pa.Array) -> pa.Array:
    return pc.divide(pc.subtract(last, first).cast(pa.int64()).cast(pa.float64()), 1e6)


def _outputs(values: Sequence[_Output | None], malformed: MalformedValues) -> dict[str, pa.Array]:
    names = _Output.__struct_fields__
    kinds = {name: GENERATIONS.field(name).type for name in names}
    filled = (value or _NO_OUTPUT for value in values)
    flat = list(chain.from_iterable(map(msgspec.structs.astuple, filled)))
    return {
        name: _column(flat[index :: len(names)], kind, malformed, wire.Output, name)
        for index, (name, kind) in enumerate(kinds.items())
    }


def _objects(raws: Sequence[msgspec.Raw], malformed: MalformedValues, field: str) -> pa.Array:
    """Return the texts of JSON objects, copied together and split at their ends."""
    sizes = np.fromiter(map(len, raws), np.int32, len(raws))
    ends = np.concatenate([np.zeros(1, np.int32), np.cumsum(sizes, dtype=np.int32)])
    content = b"".join(raws)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(content)]
    texts = pa.Array.from_buffers(pa.string(), len(raws), buffers)
    if sizes.all() and (np.frombuffer(content, np.uint8)[ends[:-1]] == ord("{")).all():
        return texts
    objects = pc.starts_with(texts, "{")
    is_empty = pc.is_in(texts, pa.array(["", "null", '""', "[]"]))
    malformed.count(field, len(texts) - objects.true_count - is_empty.true_count)
    return pc.if_else(objects, texts, pa.scalar(None, pa.string()))


def _tags(written: pa.Array) -> pa.Array:
    """Return tags as JSON texts; empty objects are missing."""
    return pc.if_else(pc.equal(written, "{}"), pa.scalar(None, pa.string()), written)


def _count_media(written: pa.Array) -> pa.Array:
    """Return the number of files of each input; their URLs are signed and are not kept."""
    texts = pc.fill_null(written, "{}").to_pylist()
    return pa.array([_counts_text(_count_files(text)) for text in texts], pa.string())


def _count_files(text: str) -> tuple[tuple[str, int], ...]:
    try:
        found: dict[str, Any] = msgspec.json.decode(text)
    except msgspec.MsgspecError:  # such as a number that is too large
        return ()
    return tuple((name, len(u) if isinstance(u, list) else 1) for name, u in found.items())


@functools.lru_cache(maxsize=1024)
def _counts_text(files: tuple[tuple[str, int], ...]) -> str | None:
    return json.dumps(dict(files)) if files else None
