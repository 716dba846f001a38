"""Damage is detected: an incomplete data folder, a corrupt page, a full or read-only disk."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import httpx
import pytest

from kit.errors import ConfigError
from kit.service.databases import open_database
from kit.service.settings import ServiceSettings
from tests.commands.conftest import Kit
from tests.commands.conftest import account as account
from tests.commands.conftest import kit as kit  # the fixtures
from tests.commands.conftest import restored_logging as restored_logging
from tests.conftest import ALL_SCOPES, Service, run_coroutine
from tests.uploading import create_ticket, png, put_file, upload_file
from tests.waiting import GENERATIONS, balance, generate, until, wait_for_end

MEGABYTE = 1 << 20


@pytest.fixture(scope="module")
def data_folder(lasting_service: Service) -> Path:
    """The data folder of a service that was used and stopped."""
    key = lasting_service.key(lasting_service.account(), *ALL_SCOPES)
    with lasting_service.client(key) as http:
        wait_for_end(http, generate(http))
    lasting_service.stop()
    return lasting_service.settings.data


@pytest.fixture
def copy(data_folder: Path, config: ServiceSettings) -> ServiceSettings:
    """The settings of a copy of that folder."""
    shutil.copytree(data_folder, config.data)
    return config


def reopen(config: ServiceSettings) -> None:
    """Open and close a database as the service and every command do."""
    run_coroutine(open_database(config).close())


def read_files(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_a_complete_folder_is_opened_again(copy: ServiceSettings) -> None:
    secret = copy.secret()
    reopen(copy)

    assert copy.secret() == secret


def test_a_database_without_its_secret_is_refused(copy: ServiceSettings) -> None:
    copy.secret_path.unlink()
    before = read_files(copy.data)

    with pytest.raises(ConfigError, match=r"the secret .*secret of the database .*kit.db is gone"):
        reopen(copy)
    assert read_files(copy.data) == before


@pytest.mark.parametrize(("spoil", "state"), [(Path.unlink, "gone"), (Path.touch, "empty")])
def test_a_secret_without_its_database_is_refused(
    copy: ServiceSettings, spoil: Callable[[Path], None], state: str
) -> None:
    copy.database_path.unlink()
    if state == "empty":
        spoil(copy.database_path)
    before = read_files(copy.data)

    with pytest.raises(ConfigError, match=f"kit.db is {state}, and its secret .* is here; restore"):
        reopen(copy)
    assert read_files(copy.data) == before


def test_an_interrupted_first_start_can_be_repeated(config: ServiceSettings) -> None:
    reopen(config)
    config.secret_path.unlink()  # as if it had ended before
    reopen(config)

    assert len(config.secret()) == 32


def test_the_database_of_another_application_is_refused_unchanged(config: ServiceSettings) -> None:
    config.data.mkdir()
    connection = apsw.Connection(str(config.database_path))
    connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()
    before = config.database_path.read_bytes()

    with pytest.raises(ConfigError, match="is the database of another program"):
        reopen(config)
    assert config.database_path.read_bytes() == before


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("DROP TABLE titles", "has lost titles, titles_by_topic; restore"),
        ("DROP INDEX ledger_by_account", "has lost ledger_by_account; restore"),
        ("DELETE FROM schema_version", "has lost its version; restore"),
    ],
)
def test_a_database_with_a_missing_table_or_index_is_refused(
    copy: ServiceSettings, statement: str, sentence: str
) -> None:
    connection = apsw.Connection(str(copy.database_path))
    connection.execute(statement)
    connection.close()

    with pytest.raises(ConfigError, match=sentence):
        reopen(copy)


def test_a_file_that_was_overwritten_is_refused(copy: ServiceSettings) -> None:
    copy.database_path.write_bytes(b"not a database at all" * 1000)

    with pytest.raises(ConfigError, match=r"cannot be opened .*; restore both with 'kit restore'"):
        reopen(copy)


def test_serve_without_the_secret_names_it_and_exits(copy: ServiceSettings, kit: Any) -> None:
    copy.secret_path.unlink()
    done = kit("serve", "--port", 0, "--data", copy.data)

    assert done.code == 2
    assert "is gone, without which none of its keys works; restore both" in done.err
    assert not copy.secret_path.exists()


def corrupt_page(config: ServiceSettings, name: str = "generations_by_account") -> None:
    """Overwrite the first page of an index or a table, as a disk that fails would."""
    connection = apsw.Connection(str(config.database_path))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    ((size,),) = connection.execute("PRAGMA page_size").fetchall()
    find = "SELECT rootpage FROM sqlite_schema WHERE name = ?"
    ((page,),) = connection.execute(find, (name,)).fetchall()
    connection.close()
    with config.database_path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xa5" * size)


@pytest.mark.parametrize("name", ["generations_by_account", "titles", "uploads_unused"])
def test_a_service_with_a_corrupt_page_is_not_ready(
    service: Service, http: httpx.Client, name: str
) -> None:
    wait_for_end(http, generate(http))
    assert http.get("/readyz").status_code == 200
    corrupt_page(service.settings, name)

    answer = until(lambda: http.get("/readyz"), lambda it: it.status_code != 200)
    assert answer.status_code == 503
    assert answer.json()["error"]["message"].startswith("the database is damaged")
    assert http.get("/healthz").status_code == 200


def test_a_request_that_reads_a_corrupt_page_is_unavailable(
    service: Service, http: httpx.Client
) -> None:
    wait_for_end(http, generate(http))
    corrupt_page(service.settings)

    answer = http.get(GENERATIONS)
    assert answer.status_code == 503
    assert answer.json()["error"]["message"] == "the database is damaged; nothing was charged"
    assert http.get("/readyz").status_code == 503


_CUT_SHORT = """
import sys
import httpx
from kit.service import server, settings
config = settings.load({}, data=sys.argv[1], workers=0)
running = server.start(config)
with httpx.Client(base_url=running.url, headers={"Authorization": f"Bearer {sys.argv[2]}"}) as http:
    assert http.get("/readyz").status_code == 200
    with config.database_path.open("r+b") as file:
        file.truncate(0)
    paths = ("/v1/account", "/v1/creative-studio/generations", "/v1/usage", "/readyz", "/healthz")
    print(*(http.get(path).status_code for path in paths))
    print(http.get("/metrics").text)
running.stop()
"""


def test_a_service_with_a_truncated_database_keeps_running(
    start_service: Callable[..., Service],
) -> None:
    service = start_service()
    key = service.key(service.account(), *ALL_SCOPES)
    with service.client(key) as http:
        for _ in range(20):
            made = generate(http)
        wait_for_end(http, made)
    service.stop()

    command = [sys.executable, "-c", _CUT_SHORT, str(service.settings.data), key]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    statuses, *counts = done.stdout.splitlines()
    assert statuses.split() == ["503", "503", "503", "503", "200"]
    assert "kit_database_up 0.0" in counts
    assert "kit_workers 0.0" in counts  # metrics of the process itself are still reported
    assert not [line for line in counts if line.startswith("kit_queue_depth")]


def test_the_daily_check_finds_a_corrupt_page(start_service: Callable[..., Service]) -> None:
    service = start_service()
    until(lambda: service.context.database.damage is None)
    service.stop()
    corrupt_page(service.settings, "titles")
    with apsw.Connection(str(service.settings.database_path)) as connection:
        connection.execute("UPDATE checks SET at = at - 24 * 3600 * 1000 WHERE name = 'examined'")
    connection.close()

    again = start_service()
    assert until(lambda: again.context.database.damage)


@pytest.mark.parametrize("command", [("ledger", "verify"), ("doctor",)])
def test_commands_report_a_corrupt_page(
    copy: ServiceSettings, kit: Any, command: tuple[str, ...]
) -> None:
    assert "is damaged" not in str(kit(*command, "--data", copy.data))
    corrupt_page(copy, "titles_by_topic")
    done = kit(*command, "--data", copy.data)

    assert done.code != 0
    assert f"the database {copy.database_path} is damaged" in done.out + done.err
    assert "restore both with 'kit restore'" in done.out + done.err


def test_the_doctor_reports_a_missing_database_and_creates_none(
    copy: ServiceSettings, kit: Any
) -> None:
    copy.database_path.unlink()
    done = kit("doctor", "--data", copy.data)

    assert done.code == 1
    assert "FAIL  database: the database" in done.out
    assert not copy.database_path.exists()


@contextmanager
def mount(folder: Path, *options: str, source: Path | str = "tmpfs") -> Iterator[None]:
    """Mount a new file system or another folder over a folder."""
    if shutil.which("mount") is None or not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("mounts need root and the mount command")
    folder.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", ",".join(options), str(source), str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("this machine does not allow mounts")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of 24 MB."""
    with mount(tmp_path / "disk", "size=24m"):
        yield tmp_path / "disk"


def fill_disk(disk: Path) -> Path:
    """Fill all free space of a disk, and return the file that takes it."""
    filler = disk / "filler"
    with filler.open("ab", buffering=0) as file:
        for size in (MEGABYTE, 4096, 512, 64, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
    return filler


def test_a_full_disk_charges_nothing_and_is_reported(
    small_disk: Path, start_service: Callable[..., Service]
) -> None:
    service = start_service(data=small_disk / "data")
    key = service.key(service.account(), *ALL_SCOPES)
    with service.client(key) as http:
        done = generate(http)
        wait_for_end(http, done)
        waiting = create_ticket(http, png())
        before = balance(http)
        filler = fill_disk(small_disk)

        body = {"modelId": "flat", "prompt": "a lake"}
        refused = [
            http.post(GENERATIONS, json=body),
            http.post("/v1/scripts/title", json={"topic": "SPACE"}),
            put_file(waiting, png()),
            http.get("/readyz"),
        ]
        assert [answer.status_code for answer in refused] == [503] * 4
        assert {answer.json()["error"]["code"] for answer in refused} == {"unavailable"}
        messages = [answer.json()["error"]["message"] for answer in refused[:3]]
        assert messages[:2] == ["the service's disk is full; nothing was charged"] * 2
        assert messages[2].endswith("; nothing was charged")
        assert balance(http) == before
        assert http.get(f"{GENERATIONS}/{done}").json()["status"] == "completed"
        assert [it["id"] for it in http.get(GENERATIONS).json()] == [done]

        filler.unlink()
        until(lambda: http.get("/readyz").status_code == 200)
        assert put_file(waiting, png()).status_code == 200
        wait_for_end(http, generate(http))


def test_generate_names_the_file_that_a_full_disk_refuses(small_disk: Path, kit: Kit) -> None:
    fill_disk(small_disk)

    done = kit("generate", "flat", "a lake", "-o", small_disk / "a.png")

    assert done.err == f"kit: {small_disk / 'a.png'}: No space left on device\n"


def test_a_first_start_on_a_full_disk_fails_and_can_be_repeated(tmp_path: Path, kit: Kit) -> None:
    with mount(tmp_path / "disk", "size=128k"):
        create = ("accounts", "create", "--name", "Ada", "--email", "ada@example.org")
        done = kit(*create, "--data", tmp_path / "disk")

        assert "kit.db cannot be opened" in done.err
        assert "room on the disk" in done.err
        assert done.err.count("\n") == 1
        subprocess.run(["mount", "-o", "remount,size=24m", str(tmp_path / "disk")], check=True)
        assert kit(*create, "--data", tmp_path / "disk").code == 0


def test_read_only_keys_work_on_a_full_disk(
    small_disk: Path, start_service: Callable[..., Service]
) -> None:
    service = start_service(data=small_disk / "data")
    account = service.account()
    with service.client(service.key(account)) as http:
        fill_disk(small_disk)
        assert http.get("/v1/account").status_code == 200


def test_a_read_only_folder_of_files_is_not_ready(service: Service, http: httpx.Client) -> None:
    upload_file(http, png())
    assert http.get("/readyz").status_code == 200
    ticket = create_ticket(http, png())
    with mount(service.settings.objects, "ro", "size=1m"):
        answer = until(lambda: http.get("/readyz"), lambda it: it.status_code != 200)
        assert answer.json()["error"]["message"] == "the storage cannot be written"
        answer = put_file(ticket, png())
        assert answer.status_code == 503
        assert answer.json()["error"]["message"].endswith("; nothing was charged")

    until(lambda: http.get("/readyz").status_code == 200)


def test_a_backup_is_restored_on_a_new_disk(kit: Kit, account: str, tmp_path: Path) -> None:
    kit("backup", tmp_path / "copy")
    disk = tmp_path / "disk"
    with mount(disk, "size=24m", "mode=700"):
        (disk / "lost+found").mkdir()
        (tmp_path / "named").symlink_to(disk)

        assert kit("restore", tmp_path / "copy", "--data", tmp_path / "named").err == ""
        assert [one["id"] for one in kit("accounts", "list", "--data", disk, "--json").json] == [
            account
        ]


def test_a_backup_and_a_stop_work_on_a_disk_that_became_read_only(
    service: Service, kit: Kit, account: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    data = service.settings.data
    with mount(data, "bind", "ro", source=data):
        made = kit("backup", tmp_path / "copy", "--data", data)
        service.stop()

    assert (made.code, made.out.partition(":")[0]) == (0, str(tmp_path / "copy"))
    assert kit("restore", tmp_path / "copy", "--data", tmp_path / "restored").code == 0
    assert [one.getMessage() for one in caplog.records if one.levelname == "ERROR"] == []


def test_a_folder_without_write_permission_is_unavailable(
    service: Service, http: httpx.Client
) -> None:
    upload_file(http, png())
    ticket, folder = create_ticket(http, png()), service.settings.scratch
    folder.chmod(0o500)
    try:
        if os.access(folder, os.W_OK):
            pytest.skip("this user may write everywhere")
        answer = put_file(ticket, png())
    finally:
        folder.chmod(0o700)
    assert answer.status_code == 503
    assert answer.json()["error"]["message"].startswith("nothing can be stored now")
    assert put_file(ticket, png()).status_code == 200


def test_serve_reports_a_data_folder_that_is_not_writable(tmp_path: Path, kit: Any) -> None:
    with mount(tmp_path / "disk", "ro", "size=1m"):
        done = kit("serve", "--port", 0, "--data", tmp_path / "disk")

    assert done.code == 2
    assert "Traceback" not in done.err
    assert "cannot be opened" in done.err
    assert "its folder must be one that can be written" in done.err
    assert "kit restore" not in done.err


@pytest.mark.parametrize("command", [("serve", "--port", 0), ("ledger", "verify"), ("doctor",)])
def test_a_full_disk_is_not_reported_as_damage(
    small_disk: Path, copy: ServiceSettings, kit: Any, command: tuple[str, ...]
) -> None:
    data = shutil.copytree(copy.data, small_disk / "data")
    fill_disk(small_disk)
    done = kit(*command, "--data", data)

    assert done.code != 0
    assert "with room on the disk" in done.out + done.err
    assert "damaged" not in done.out + done.err
    assert "kit restore" not in done.out + done.err
