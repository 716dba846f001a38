"""The behavior of every storage, in a folder or in a bucket."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from kit.errors import NotFoundError
from kit.service import settings
from kit.service.app import create_storage
from kit.service.storage import Storage, make_ticket
from tests.buckets import any_storage

Run = Callable[[Callable[[Storage], Coroutine[Any, Any, Any]]], Any]
pytestmark = any_storage


@pytest.fixture
def run(tmp_path: Path, storage_settings: dict[str, Any]) -> Run:
    """Run a coroutine function with an empty storage."""
    storage = create_storage(settings.load({}, data=tmp_path / "d", **storage_settings), b"s" * 32)
    return lambda work: asyncio.run(work(storage))


def write_draft(folder: Path, content: bytes = b"x") -> Path:
    path = folder / "draft"
    path.write_bytes(content)
    return path


def test_a_stored_file_is_moved_and_can_be_read(run: Run, tmp_path: Path) -> None:
    async def work(storage: Storage) -> bytes:
        await storage.keep({"outputs/0/gen_1-a.png": write_draft(tmp_path, b"content")})
        path = await storage.fetch_local("outputs/0/gen_1-a.png", tmp_path)
        assert await storage.fetch_local("outputs/0/gen_1-a.png", tmp_path) == path
        return path.read_bytes()

    assert run(work) == b"content"
    assert not (tmp_path / "draft").exists()


def test_a_published_output_of_a_render_process_can_be_read(run: Run, tmp_path: Path) -> None:
    async def work(storage: Storage) -> bytes:
        key = "outputs/0/gen_1-a.png"
        storage.outputs.put({key: write_draft(tmp_path)})
        await storage.publish([key])
        assert await storage.names("outputs/0") == ["gen_1-a.png"]
        return (await storage.fetch_local(key, tmp_path)).read_bytes()

    assert run(work) == b"x"


def test_names_lists_one_folder_in_order(run: Run, tmp_path: Path) -> None:
    async def work(storage: Storage) -> list[list[str]]:
        for key in ("outputs/b/2.png", "outputs/b/1.png", "outputs/a/3.png", "uploads/u/4.png"):
            await storage.keep({key: write_draft(tmp_path)})
        return [await storage.names(folder) for folder in ("outputs/", "outputs/b", "outputs/c")]

    assert run(work) == [["a", "b"], ["1.png", "2.png"], []]


def test_the_files_of_a_folder_are_listed_in_batches(run: Run, tmp_path: Path) -> None:
    async def work(storage: Storage) -> list[list[str]]:
        for key in (*(f"outputs/b/{n}.png" for n in range(5)), "outputs/bc/6.png"):
            await storage.keep({key: write_draft(tmp_path)})
        folders = ("outputs/b", "outputs/none")
        return [keys for folder in folders async for keys in storage.list_files(folder, 2)]

    batches = run(work)

    assert sorted(key for keys in batches for key in keys) == [
        f"outputs/b/{n}.png" for n in range(5)
    ]
    assert max(map(len, batches)) == 2


def test_remove_deletes_a_file_or_folder_and_ignores_a_missing_one(
    run: Run, tmp_path: Path
) -> None:
    async def work(storage: Storage) -> list[list[str]]:
        for key in ("uploads/u1/a.png", "uploads/u1/b.png", "uploads/u10/c.png", "outputs/0/d.png"):
            await storage.keep({key: write_draft(tmp_path)})
        for _ in range(2):
            await storage.remove("uploads/u1")
            await storage.remove("outputs/0/d.png")
        with pytest.raises(NotFoundError, match="gone"):
            await storage.fetch_local("uploads/u1/a.png", tmp_path / "elsewhere")
        return [await storage.names("uploads/u10"), await storage.names("outputs/0")]

    assert run(work) == [["c.png"], []]


def test_a_storage_is_writable(run: Run) -> None:
    assert run(lambda storage: storage.is_writable()) is True


def test_a_ticket_names_the_required_method_and_headers(run: Run) -> None:
    end = int(time.time()) + 900

    async def work(storage: Storage) -> Any:
        return make_ticket(
            storage, "http://here", "upl_1", "image/png", 70, expires=end, sign_outs=0
        )

    ticket = run(work)

    assert ticket.required_headers == {"Content-Type": "image/png", "Content-Length": "70"}
    assert ticket.method == "PUT"
    assert ticket.expires_at.timestamp() == end
