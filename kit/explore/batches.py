"""Pages of generations as Arrow tables, straight from the bytes of an answer.

No object is made for a cell that is not needed, and none outlives its slice of a page, which is
what makes it fast. A page that does not have the usual shape is read by the wire models instead,
which forgive more: see `kit.explore.malformed`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from kit import wire
from kit.errors import ApiError
from kit.explore import cells
from kit.explore.arrow import GENERATIONS
from kit.explore.cells import ForeignRow, GenerationRow, OutputCells
from kit.explore.malformed import MalformedValues

#: Rows that are turned into columns at a time: enough to be worth the calls, few enough to fit the
#: processor's cache.
_SLICE = 10_000
#: Bytes from which on a page is read in pieces, and rows of a piece.
_LONG, _PIECE = 4_000_000, 1000
#: Cells of a row.
_FIELDS = GenerationRow.__struct_fields__

#: What msgspec raises for what it cannot read, texts that are not UTF-8 among it.
_UNREAD = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)

_decoder = msgspec.json.Decoder(list[GenerationRow])
_foreign = msgspec.json.Decoder(list[ForeignRow])
_cutter = msgspec.json.Decoder(list[msgspec.Raw])


def table(contents: Iterable[bytes], malformed: MalformedValues | None = None) -> pa.Table:
    """Return the generations of some pages as one table, in the order given.

    A value that makes no sense is missing in it, and a record without an id is left out.

    Parameters
    ----------
    contents : iterable of bytes
        Bodies of answers to a list of generations: each a JSON array.
    malformed : Oddities, optional
        Notes what could not be read, for whoever calls several times and tells of it once.

    Returns
    -------
    pyarrow.Table
        With the schema `kit.explore.arrow.GENERATIONS`. What the service does not say of credits
        is missing; see `kit.explore.charges`.

    Raises
    ------
    ApiError
        A body is no list.

    Examples
    --------
    >>> table([b'[{"id": "a", "status": "done", "creditsCharged": 0.05}]'])["status"].to_pylist()
    ['completed']
    """
    noted = malformed or MalformedValues()
    tables = [GENERATIONS.empty_table(), *_tables(_pages(contents, noted), noted)]
    if malformed is None:
        noted.tell()
    return pa.concat_tables(tables)


def rows(items: Iterable[wire.Generation]) -> pa.Table:
    """Return generations that were read already as a table; see `table`."""
    noted = MalformedValues()
    tables = [GENERATIONS.empty_table(), *_tables([[_row(item) for item in items]], noted)]
    noted.tell()
    return pa.concat_tables(tables)


def _tables(
    pages: Iterable[Sequence[GenerationRow]], malformed: MalformedValues
) -> Iterator[pa.Table]:
    """Yield tables of about `_SLICE` rows, whatever the size of the pages."""
    waiting: list[Any] = []
    for page in pages:
        # one flat list, cut by steps, takes a third of the time of ``zip(*rows)``
        waiting.extend(chain.from_iterable(map(msgspec.structs.astuple, page)))
        if len(waiting) >= _SLICE * len(_FIELDS):
            yield _table(waiting, malformed)
            waiting = []
    if waiting:
        yield _table(waiting, malformed)


def _pages(
    contents: Iterable[bytes], malformed: MalformedValues
) -> Iterator[Sequence[GenerationRow]]:
    """Decode bodies; a long one is cut first, so that its rows are never all there at once."""
    for content in contents:
        raws = [] if len(content) < _LONG else _cut(content)
        for start in range(0, len(raws), _PIECE):
            yield _decoded(b"[" + b",".join(raws[start : start + _PIECE]) + b"]", malformed)
        if not raws:
            yield _decoded(content, malformed)


def _cut(content: bytes) -> Sequence[msgspec.Raw]:
    """Return the texts of a body's records; none where it has to be read as a whole."""
    try:
        return _cutter.decode(content)
    except _UNREAD:
        return ()


def _decoded(content: bytes, malformed: MalformedValues) -> Sequence[GenerationRow]:
    try:
        return _decoder.decode(content)
    except _UNREAD:
        return _translated(content, malformed)


def _translated(content: bytes, malformed: MalformedValues) -> Sequence[GenerationRow]:
    """Read a page whose statuses are not the contract's words, as most other services' are not."""
    try:
        return [cells.own(row) for row in _foreign.decode(content)]
    except _UNREAD:
        return _forgiven(content, malformed)


def _forgiven(content: bytes, malformed: MalformedValues) -> Sequence[GenerationRow]:
    """Read a page as the wire models do, which take numbers for times and much else."""
    try:
        return [_row(item) for item in malformed.generations(content)]
    except (ValueError, RecursionError) as error:
        first = str(error).partition("\n")[0][:200]
        sentence = f"the list of generations is not what the API document describes: {first}"
        raise ApiError(sentence) from None


def _row(generation: wire.Generation) -> GenerationRow:
    item: Any = generation  # a row takes any words: only those that are read are held to its own
    return GenerationRow(
        id=item.id,
        status=item.state,
        model_id=item.model_id,
        asset_type=item.asset_type,
        generation_type=item.generation_type,
        prompt=item.prompt,
        credits_charged=_float(item.credits_charged),
        credits_refunded=_float(item.credits_refunded),
        output=None if item.output is None else _output(item.output),
        parameters=_json(item.parameters),
        media_urls=_json(item.media_urls),
        error=item.error,
        error_code=item.error_code,
        created_at=_stamp(item.created_at),
        started_at=_stamp(item.started_at),
        completed_at=_stamp(item.completed_at),
        updated_at=_stamp(item.updated_at),
    )


def _output(facts: wire.Output) -> OutputCells:
    return OutputCells(**{name: getattr(facts, name) for name in OutputCells.__struct_fields__})


def _table(flat: Sequence[Any], malformed: MalformedValues) -> pa.Table:
    """Return rows, given cell by cell, as a table."""
    column = {name: flat[n :: len(_FIELDS)] for n, name in enumerate(_FIELDS)}.__getitem__
    status = cells.texts(column("status"))
    begun, ended = (
        cells.times(column("created_at"), malformed, "createdAt"),
        cells.end_times(status, column("completed_at"), column("updated_at"), malformed),
    )
    credits, back = (
        cells.numbers(column("credits_charged"), malformed, "creditsCharged"),
        cells.numbers(column("credits_refunded"), malformed, "creditsRefunded"),
    )
    found = {
        "id": cells.texts(column("id")),
        "status": status,
        "model_id": cells.texts(column("model_id")),
        "asset_type": cells.texts(column("asset_type")),
        "generation_type": cells.texts(column("generation_type")),
        "prompt": cells.texts(column("prompt")),
        "credits": credits,
        "credits_refunded": back,
        "net": pc.subtract(credits, pc.fill_null(back, 0.0)),
        "credits_source": pc.if_else(pc.is_valid(credits), "service", "none"),
        "seconds": cells.between(begun, ended),
        "render_seconds": cells.between(
            cells.times(column("started_at"), malformed, "startedAt"), ended
        ),
        **cells.outputs(column("output"), malformed),
        "parameters": cells.objects(column("parameters")),
        "media": cells.count_media(column("media_urls")),
        "error": cells.sentences(column("error")),
        "error_code": cells.texts(column("error_code")),
        "created_at": begun,
        "completed_at": ended,
    }
    return pa.Table.from_arrays([found[name] for name in GENERATIONS.names], schema=GENERATIONS)


def _json(value: Any) -> msgspec.Raw:
    return msgspec.Raw(b"" if value is None else json.dumps(value, default=str).encode())


def _stamp(moment: Any) -> str | None:
    return None if moment is None else str(moment.isoformat())


def _float(amount: Any) -> float | None:
    number = None if amount is None else float(amount)
    return number if number is not None and math.isfinite(number) else None
