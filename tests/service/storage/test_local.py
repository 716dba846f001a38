"""Local storage: files are moved in completely, never outside of the folder."""

import asyncio
import tempfile
import threading
from pathlib import Path

import pytest

from kit.errors import NotFoundError
from kit.service.storage import make_ticket
from kit.service.storage.local import LocalStorage
from kit.service.storage.signing import Signer
from tests.rights import is_private


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    """An empty storage."""
    return LocalStorage(tmp_path / "objects", Signer(b"s" * 32))


@pytest.mark.parametrize("key", ["../secret", "a/../../secret", "..", "outputs/../../x"])
def test_a_key_outside_the_folder_is_not_found(storage: LocalStorage, key: str) -> None:
    with pytest.raises(NotFoundError):
        storage.outputs.path(key)


def test_an_absolute_key_stays_inside(storage: LocalStorage, tmp_path: Path) -> None:
    assert storage.outputs.path("/etc/passwd").is_relative_to(tmp_path / "objects")


@pytest.mark.parametrize("last", [b"\n", b"\r\n", b"\x1a"])  # what text on Windows may end with
def test_a_stored_file_keeps_its_last_byte(
    storage: LocalStorage, tmp_path: Path, last: bytes
) -> None:
    (tmp_path / "draft").write_bytes(b"RIFF" + last)

    asyncio.run(storage.keep({"a.wav": tmp_path / "draft"}))

    assert storage.outputs.path("a.wav").read_bytes() == b"RIFF" + last


def test_a_file_that_a_virus_scanner_still_reads_is_stored(
    storage: LocalStorage, tmp_path: Path
) -> None:
    (tmp_path / "draft").write_bytes(b"RIFF")
    with (tmp_path / "draft").open("rb") as scanner:
        threading.Timer(0.2, scanner.close).start()
        asyncio.run(storage.keep({"a.wav": tmp_path / "draft"}))

    assert storage.outputs.path("a.wav").read_bytes() == b"RIFF"


def test_the_folder_is_private_to_its_owner(storage: LocalStorage, tmp_path: Path) -> None:
    assert is_private(tmp_path / "objects")
    assert asyncio.run(storage.is_writable())


def test_a_ticket_has_an_upload_url_of_the_service(storage: LocalStorage) -> None:
    ticket = make_ticket(storage, "http://here", "upl_1", "image/png", 70, expires=99000000)

    assert ticket.upload_url.startswith(
        "http://here/media/uploads/upl_1?expires=99000000&signature="
    )


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="there is no second file system here")
def test_a_file_is_moved_from_another_file_system(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as elsewhere:
        draft = Path(elsewhere) / "draft"
        draft.write_bytes(b"x")
        if draft.stat().st_dev == tmp_path.stat().st_dev:
            pytest.skip("there is no second file system here")
        storage = LocalStorage(tmp_path / "objects", Signer(b"s" * 32))

        asyncio.run(storage.keep({"outputs/0/a.png": draft}))

        assert not draft.exists()
    assert (tmp_path / "objects/outputs/0/a.png").read_bytes() == b"x"
    assert list((tmp_path / "objects/outputs/0").glob("*.part")) == []
