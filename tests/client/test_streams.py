from __future__ import annotations

import asyncio
import hashlib
import io
from pathlib import Path

import pytest

from kit.client.http import CHUNK, FileReader, FileWriter

SIZES = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK]


@pytest.mark.parametrize("size", SIZES)
def test_both_ways_of_reading_give_the_whole_file(size: int) -> None:
    content = bytes(n % 251 for n in range(size))
    sent: list[int] = []
    taps = [FileReader(io.BytesIO(content), sent.append) for _ in range(2)]

    async def awaited() -> bytes:
        return b"".join([chunk async for chunk in taps[1].async_chunks()])

    assert b"".join(taps[0].chunks()) == asyncio.run(awaited()) == content
    assert {tap.sha256 for tap in taps} == {hashlib.sha256(content).hexdigest()}
    assert sent[-1:] == ([size] if size else [])


def test_what_is_received_is_hashed(tmp_path: Path) -> None:
    with FileWriter(tmp_path / "new" / "file", 1_000_000) as sink:
        sink.write(b"ab")
        sink.write(b"c")

    assert (tmp_path / "new" / "file").read_bytes() == b"abc"
    assert sink.sha256 == hashlib.sha256(b"abc").hexdigest()


def test_what_is_received_later_is_hashed_with_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"ab")
    with FileWriter(path, 1_000_000, append=True) as sink:
        sink.write(b"c")

    assert path.read_bytes() == b"abc"
    assert sink.sha256 == hashlib.sha256(b"abc").hexdigest()
