from __future__ import annotations

import asyncio
import hashlib
import io
from pathlib import Path

import pytest

from kit.client.files import CHUNK, Sink, async_chunks, chunks


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK])
def test_pieces_make_the_whole(size: int) -> None:
    content = bytes(n % 251 for n in range(size))

    async def collected() -> bytes:
        return b"".join([chunk async for chunk in async_chunks(io.BytesIO(content))])

    assert b"".join(chunks(io.BytesIO(content))) == content
    assert asyncio.run(collected()) == content


def test_what_arrives_is_hashed_and_written(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b"
    with Sink(path) as sink:
        for piece in (b"one", b"", b"two"):
            sink.write(piece)

    assert path.read_bytes() == b"onetwo"
    assert sink.sha256 == hashlib.sha256(b"onetwo").hexdigest()
