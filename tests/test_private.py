"""Stored files can be read by their owner only, whatever the umask; exposed ones are reported."""

import asyncio
import errno
import logging
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kit.private import flush_tree, is_exposed, make_folder, make_private, write_private
from kit.service import settings
from kit.service.storage.local import LocalStorage
from kit.service.storage.signing import Signer
from tests.conftest import Service

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has other rights")

#: Typical work of a user, without a umask: it prints files that others may read.
_SCRIPT = """
import io, os, sys
os.umask(0)
from pathlib import Path
root = Path(sys.argv[1])
os.environ |= {"XDG_CONFIG_HOME": str(root / "config"), "KIT_PROGRESS": "0"}
import kit
from PIL import Image
from kit import local
from kit.client import profiles
from kit.service import settings
from kit.service.backup import backup, restore
picture = io.BytesIO()
Image.new("RGB", (320, 200), "teal").save(picture, "PNG")
data = root / "deep" / "data"
with kit.connect(data=data) as studio:
    studio.generate("poster", "a lake", size=512, seed=1).output.path()
    studio.generate("retouch", media=picture.getvalue(), operation="sharpen").output.bytes()
    studio.history.sync()
    service = settings.load(data=data)
    assert {path.name for path in data.glob("kit.db*")} == {"kit.db", "kit.db-shm", "kit.db-wal"}
    profiles.save("https://studio.test", "cs_test_abc")
    for name in ("backup.tar.gz", "backup"):
        backup(service, root / name)
        restore(root / name, settings.load(data=root / f"restored-{name}"))
    for path in sorted(root.rglob("*")):
        if path.stat().st_mode & 0o077:
            print(oct(path.stat().st_mode & 0o777), path.relative_to(root))
    for name in ("secret", "demo.json", "kit.db", "kit.db-wal", "kit.db-shm"):
        assert (data / name).stat().st_mode & 0o777 == 0o600, name
    assert data.stat().st_mode & 0o777 == 0o700
local.stop()
"""


def test_others_can_read_no_file_without_a_umask(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(tmp_path)], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def expose(data: Path) -> list[Path]:
    """Let others read a data folder, as a manual copy may."""
    found = [data, data / "secret", data / "kit.db"]
    for path in found:
        path.chmod(0o755 if path.is_dir() else 0o644)
    return found


def test_a_service_makes_exposed_files_private_and_logs_it(
    start_service: Callable[..., Service], caplog: pytest.LogCaptureFixture
) -> None:
    service = start_service(workers=0)
    service.stop()
    found = expose(service.settings.data)

    with caplog.at_level(logging.WARNING):
        start_service(workers=0)

    assert [path.stat().st_mode & 0o777 for path in found] == [0o700, 0o600, 0o600]
    for path in found:
        assert f"others could read {path}: now only its owner can" in caplog.messages


def test_a_shared_folder_stays_readable_but_the_data_in_it_is_private(
    start_service: Callable[..., Service], tmp_path: Path, no_umask: None
) -> None:
    (tmp_path / "www").mkdir(mode=0o755)
    tmp_path.chmod(0o755)

    start_service(data=tmp_path)

    exposed = [path.name for path in tmp_path.iterdir() if is_exposed(path)]
    assert (tmp_path.stat().st_mode & 0o777, exposed) == (0o755, ["www"])


@pytest.fixture
def no_umask() -> Iterator[None]:
    """Set an empty umask: new files get all requested permissions."""
    before = os.umask(0)
    yield
    os.umask(before)


def test_new_parent_folders_are_private_too(tmp_path: Path, no_umask: None) -> None:
    make_folder(tmp_path / "a" / "b" / "c")
    make_folder(tmp_path / "a" / "b" / "c")

    modes = [path.stat().st_mode & 0o777 for path in (tmp_path / "a").rglob("*")]
    assert modes == [0o700, 0o700]
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        make_folder(tmp_path / "file")


def test_a_file_is_written_completely_or_not_at_all(tmp_path: Path, no_umask: None) -> None:
    path = tmp_path / "a"
    write_private(path, "one")
    with pytest.raises(UnicodeEncodeError):
        write_private(path, "\ud800")

    assert path.read_text() == "one"
    assert not is_exposed(path)
    assert [each.name for each in tmp_path.iterdir()] == ["a"]


def test_permissions_of_a_pipe_are_not_changed(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"  # like a device, which only root can change
    os.mkfifo(pipe)
    pipe.chmod(0o666)

    assert not is_exposed(pipe)
    assert not make_private(pipe)
    assert pipe.stat().st_mode & 0o777 == 0o666


def test_a_folder_for_all_users_is_not_made_private(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)

    assert is_exposed(tmp_path)
    assert not make_private(tmp_path)
    assert tmp_path.stat().st_mode & 0o7777 == 0o1777
    tmp_path.chmod(0o700)
    assert not is_exposed(tmp_path / "nothing")


@pytest.mark.parametrize("platform", [sys.platform, "freebsd"])
def test_a_folder_is_flushed_at_once_or_file_by_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    flushed: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda file: flushed.append(os.fstat(file).st_ino))
    (tmp_path / "a").mkdir()
    for name in ("a/1", "a/2", "3"):
        (tmp_path / name).write_text(name)

    monkeypatch.setattr(sys, "platform", platform)
    flush_tree(tmp_path)

    one_by_one = {path.stat().st_ino for path in (tmp_path, *tmp_path.rglob("*"))}
    assert set(flushed) == (set() if platform == "linux" else one_by_one)


def test_a_file_system_without_permissions_links_and_fsync_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flush = os.fsync

    def fail(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    def fail_read_only(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    def flush_files(file: int) -> None:
        if stat.S_ISDIR(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        flush(file)

    (tmp_path / "open").touch(mode=0o644)
    monkeypatch.setattr(os, "link", fail)
    monkeypatch.setattr(os, "chmod", fail)
    monkeypatch.setattr(os, "fsync", flush_files)

    given = settings.load({}, data=tmp_path)
    given.make_secret()
    secret = given.secret()
    given.make_secret()
    assert given.secret() == secret
    assert not make_private(tmp_path / "open")
    monkeypatch.setattr(os, "chmod", fail_read_only)
    assert not make_private(tmp_path / "open")
    storage = LocalStorage(tmp_path / "objects", Signer(secret))
    asyncio.run(storage.keep({"outputs/0/a.png": tmp_path / "open"}))
    assert (tmp_path / "objects/outputs/0/a.png").is_file()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_released_lock_is_free_despite_a_forked_process(tmp_path: Path) -> None:
    code = """
import os, pathlib, signal, sys
from kit.private import Lock
lock, other = [Lock(pathlib.Path(sys.argv[1]) / "lock") for _ in range(2)]
lock.acquire()
child = os.fork()
if not child:
    signal.pause()
lock.release()
print(other.acquire())
os.kill(child, signal.SIGKILL)
"""
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)

    assert (done.stdout, done.stderr) == ("True\n", "")
