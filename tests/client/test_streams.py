from __future__ import annotations

import asyncio
import hashlib
import io
from pathlib import Path

import pytest

from kit.client.http import CHUNK, FileReader, FileWriter

SIZES = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK]


@pytest.mark.parametrize("size", SIZES)
def test_sync_and_async_reads_return_the_whole_file(size: int) -> None:
    content = bytes(n % 251 for n in range(size))
    sent: list[int] = []
    readers = [FileReader(io.BytesIO(content), sent.append) for _ in range(2)]

    async def read_async() -> bytes:
        return b"".join([chunk async for chunk in readers[1].async_chunks()])

    assert b"".join(readers[0].chunks()) == asyncio.run(read_async()) == content
    assert {reader.sha256 for reader in readers} == {hashlib.sha256(content).hexdigest()}
    assert sent[-1:] == ([size] if size else [])


def test_received_bytes_are_hashed(tmp_path: Path) -> None:
    with FileWriter(tmp_path / "new" / "file", 1_000_000) as writer:
        writer.write(b"ab")
        writer.write(b"c")

    assert (tmp_path / "new" / "file").read_bytes() == b"abc"
    assert writer.sha256 == hashlib.sha256(b"abc").hexdigest()


def test_appended_bytes_are_hashed_with_the_existing_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"ab")
    with FileWriter(path, 1_000_000, append=True) as writer:
        writer.write(b"c")

    assert path.read_bytes() == b"abc"
    assert writer.sha256 == hashlib.sha256(b"abc").hexdigest()
