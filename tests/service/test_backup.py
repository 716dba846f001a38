import io
import os
import shutil
import sys
import tarfile
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx
import orjson
import pytest

from kit.errors import ConfigError
from kit.service import settings
from kit.service.backup import backup, restore
from kit.service.domain.generations import get as generation
from kit.service.domain.uploads import remove
from kit.service.settings import ServiceSettings
from kit.service.store import generations, uploads
from kit.service.store.sqlite.file import snapshot
from tests.conftest import ALL_SCOPES, Service, fetch, sql, write_alone
from tests.rights import is_private
from tests.service.test_logs import PIXEL, upload
from tests.waiting import GENERATIONS, generate, read, until, wait_for_end

Start = Callable[..., Service]


def target_settings(tmp_path: Path) -> ServiceSettings:
    return settings.load({}, data=tmp_path / "restored")


def read_files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def generation_id(service: Service, http: httpx.Client) -> str:
    """The id of a finished generation with an input file."""
    order = {"modelId": "clay", "mediaUploads": {"portrait": upload(http)}}
    generation_id = str(http.post(GENERATIONS, json=order).json()["id"])
    assert wait_for_end(http, generation_id)["status"] == "completed"
    return generation_id


def test_a_restored_service_has_the_same_data(
    service: Service, generation_id: str, key: str, start_service: Start, tmp_path: Path
) -> None:
    with service.client(key) as http:
        before = read(http, generation_id)
        balance = http.get("/v1/account").json()
        content = httpx.get(before["outputUrl"]).content
    for name in ("copy.tar.gz", "copy.tgz", "copy"):
        made = backup(service.settings, tmp_path / name)
        back = settings.load({}, data=tmp_path / f"restored-{name}")

        report = restore(tmp_path / name, back)

        assert report == made
        assert (report.files, report.unfinished, report.missing) == (2, 0, [])
        assert read_files(back.objects) == read_files(service.settings.objects)
    again = start_service(data=back.data)
    with again.client(key) as http:
        after = read(http, generation_id)
        assert http.get("/v1/account").json() == balance
        assert httpx.get(after["outputUrl"]).content == content
    changing = ("outputUrl", "mediaUrls", "output", "thumbnailUrl")
    assert {k: v for k, v in after.items() if k not in changing} == {
        k: v for k, v in before.items() if k not in changing
    }


def test_notebook_files_are_restored_except_those_that_the_service_has(
    service: Service, tmp_path: Path
) -> None:
    kept = {"engines.toml", "notebook/journal/embedded.jsonl", "notebook/presets/poster.json"}
    for name in (*kept, "notebook/outputs/a.png", "notebook/history/a/b/c.parquet"):
        file = service.settings.data / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")

    backup(service.settings, tmp_path / "copy.tar.gz")
    restore(tmp_path / "copy.tar.gz", target_settings(tmp_path))

    assert read_files(tmp_path / "restored").keys() - {"kit.db", "secret"} == kept


@pytest.mark.usefixtures("generation_id")
def test_a_backup_and_its_restored_files_are_private(service: Service, tmp_path: Path) -> None:
    (service.settings.data / "demo.json").write_text("{}")
    back = target_settings(tmp_path)
    for name in ("copy.tar.gz", "copy"):
        backup(service.settings, tmp_path / name)
    restore(tmp_path / "copy.tar.gz", back)

    kept = (tmp_path / "copy.tar.gz", tmp_path / "copy", back.data)
    assert all(is_private(path) for top in kept for path in (top, *top.rglob("*")))
    assert (back.data / "secret").read_bytes() == service.settings.secret()
    assert (back.data / "demo.json").read_text() == "{}"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_backup_made_under_load_is_complete(start_service: Start, tmp_path: Path) -> None:
    service = start_service(starts_per_minute=100_000, requests_per_minute=100_000)
    key = service.key(service.account(1000), *ALL_SCOPES)
    with service.client(key) as http:
        first = generate(http)
        wait_for_end(http, first)
        stop = threading.Event()

        def write() -> None:
            with service.client(key) as mine:
                while not stop.is_set():
                    generate(mine)
                    mine.post("/v1/scripts/title", json={"topic": "SPACE"})

        writers = [threading.Thread(target=write) for _ in range(2)]
        for writer in writers:
            writer.start()
        try:
            for number in range(3):
                until(lambda: len(http.get(GENERATIONS).json()), lambda n, k=number: n > 3 * k + 3)
                backup(service.settings, tmp_path / f"{number}.tar.gz")
        finally:
            stop.set()
            for writer in writers:
                writer.join()

    reports = [
        restore(tmp_path / f"{number}.tar.gz", settings.load({}, data=tmp_path / f"r{number}"))
        for number in range(3)
    ]
    assert reports[0].files >= 1
    assert [r.files for r in reports] == sorted(r.files for r in reports)
    assert any(r.unfinished for r in reports)


def test_an_upload_removed_meanwhile_is_not_in_the_backup(
    service: Service, http: httpx.Client, tmp_path: Path
) -> None:
    kept, swept = upload(http), upload(http)
    for path in (service.settings.objects / "uploads" / swept).iterdir():
        path.unlink()
    back = target_settings(tmp_path)

    assert backup(service.settings, tmp_path / "copy").files == 1
    restore(tmp_path / "copy", back)

    rows = write_alone(back, fetch(uploads.with_file(after="", most=10)))
    assert [row.id for row in rows] == [kept]


def test_files_deleted_during_a_backup_are_not_in_it(
    service: Service, http: httpx.Client, generation_id: str, account: str, tmp_path: Path
) -> None:
    kept = wait_for_end(http, generate(http))["id"]
    back = target_settings(tmp_path)
    work = tmp_path / "work"
    work.mkdir()
    snapshot(service.settings.database_path, work / "kit.db")

    def copy_earlier(_: Path, copy: Path) -> None:
        """Copy the database as it was before its owner deleted the files."""
        shutil.copyfile(work / "kit.db", copy)

    http.delete(f"{GENERATIONS}/{generation_id}/outputs")
    row = service.write(generation(generation_id, account))
    [upload_id] = orjson.loads(row.media)["portrait"]
    service.write(remove(upload_id, 2**62))
    shutil.rmtree(service.settings.objects / "uploads")

    report = backup(service.settings, tmp_path / "copy", copy_database=copy_earlier)
    restore(tmp_path / "copy", back)

    assert (report.files, report.missing) == (1, [])
    rows = {row.id: row for row in write_alone(back, fetch(generations.oldest(after="", most=9)))}
    assert rows[generation_id].outputs_deleted_at >= row.outputs_deleted_at
    assert rows[kept].outputs_deleted_at is None
    assert write_alone(back, fetch(uploads.with_file(after="", most=10))) == []


def test_a_missing_output_is_named_and_can_be_skipped(
    service: Service, generation_id: str, tmp_path: Path
) -> None:
    (gone,) = (service.settings.objects / "outputs").glob(f"*/{generation_id}-*.png")
    gone.unlink()
    target, back = tmp_path / "copy.tar.gz", target_settings(tmp_path)

    with pytest.raises(ConfigError, match=rf"{gone.name} of {generation_id}; .* --skip-missing"):
        backup(service.settings, target)
    assert not target.exists()
    backup(service.settings, target, skip_missing=True)

    assert restore(target, back).missing == [f"outputs/{gone.parent.name}/{gone.name}"]


def alter_archive(source: Path, target: Path, name: str, content: bytes | None) -> Path:
    """Copy an archive with one of its files changed or left out."""
    with tarfile.open(source) as old, tarfile.open(target, "w:gz") as new:
        for member in old:
            data = old.extractfile(member).read()  # type: ignore[union-attr]
            if member.name.endswith(name):
                if content is None:
                    continue
                data, member.size = content, len(content)
            new.addfile(member, io.BytesIO(data))
    return target


@pytest.mark.usefixtures("generation_id")
def test_a_damaged_backup_is_refused_and_leaves_no_files(service: Service, tmp_path: Path) -> None:
    backup(service.settings, tmp_path / "copy.tar.gz")
    back = target_settings(tmp_path)

    for name, content, sentence in (
        (".png", PIXEL + b"x", "is damaged: SHA-256"),
        (".png", None, "is gone"),
        ("kit.db", None, "it has no kit.db"),
        ("kit.db", b"not a database at all" * 1000, "the database of the backup is damaged|cannot"),
    ):
        broken = alter_archive(tmp_path / "copy.tar.gz", tmp_path / "broken.tar.gz", name, content)
        with pytest.raises(ConfigError, match=sentence):
            restore(broken, back)

        assert not back.data.exists()
        assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_copy_of_many_files_is_flushed_at_once(
    service: Service, http: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(10):
        upload(http)
    flushed: list[int] = []
    monkeypatch.setattr(os, "fsync", flushed.append)

    assert backup(service.settings, tmp_path / "copy").files == 10
    restore(tmp_path / "copy", target_settings(tmp_path))

    assert len(flushed) == 2 if sys.platform == "linux" else len(flushed) > 20


def test_restore_refuses_a_wrong_ledger(service: Service, account: str, tmp_path: Path) -> None:
    service.write(sql("UPDATE accounts SET balance = balance + 5 WHERE id = :id", id=account))
    backup(service.settings, tmp_path / "copy")

    with pytest.raises(ConfigError, match=f"the ledger is wrong: {account}: balance 100.005"):
        restore(tmp_path / "copy", target_settings(tmp_path))


def test_a_truncated_archive_is_refused(service: Service, account: str, tmp_path: Path) -> None:
    whole = tmp_path / "copy.tar.gz"
    backup(service.settings, whole)
    cut = tmp_path / "cut.tar.gz"
    cut.write_bytes(whole.read_bytes()[:-200])

    with pytest.raises(ConfigError, match=r"cannot be unpacked|is not a backup"):
        restore(cut, target_settings(tmp_path))


@pytest.mark.parametrize("name", ["../evil", "/evil", "objects/../../evil"])
def test_an_archive_never_writes_outside_its_folder(tmp_path: Path, name: str) -> None:
    evil = tmp_path / "evil.tar.gz"
    with tarfile.open(evil, "w:gz") as archive:
        archive.addfile(tarfile.TarInfo(name), io.BytesIO())

    with pytest.raises(ConfigError, match="leads out of its folder"):
        restore(evil, target_settings(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["evil.tar.gz"]


def test_backup_and_restore_overwrite_nothing(service: Service, tmp_path: Path) -> None:
    target = tmp_path / "copy"
    backup(service.settings, target)

    with pytest.raises(ConfigError, match="exists already"):
        backup(service.settings, target)
    with pytest.raises(ConfigError, match="is not empty"):
        restore(target, service.settings)


def test_a_folder_without_a_database_cannot_be_backed_up(tmp_path: Path) -> None:
    given = settings.load({}, data=tmp_path / "none")

    with pytest.raises(ConfigError, match="there is no database at"):
        backup(given, tmp_path / "copy.tar.gz")
    assert list(tmp_path.iterdir()) == []


def test_queued_generations_are_restored_and_rendered(start_service: Start, tmp_path: Path) -> None:
    idle = start_service(workers=0)
    key = idle.key(idle.account(), *ALL_SCOPES)
    with idle.client(key) as http:
        waiting = generate(http)
    backup(idle.settings, tmp_path / "copy")
    assert restore(tmp_path / "copy", target_settings(tmp_path)).unfinished == 1

    again = start_service(data=target_settings(tmp_path).data)
    with again.client(key) as http:
        assert wait_for_end(http, waiting)["status"] == "completed"


def test_backup_of_a_postgresql_database_names_other_tools(
    service: Service, tmp_path: Path
) -> None:
    made = tmp_path / "copy.tar.gz"
    backup(service.settings, made)
    target_settings = replace(
        service.settings, database_url="postgresql://a@nowhere/b", data=tmp_path / "new"
    )

    with pytest.raises(ConfigError, match="pg_dump of the database, then a copy of the bucket"):
        backup(target_settings, tmp_path / "none")
    with pytest.raises(ConfigError, match="with 'kit move' afterwards"):
        restore(made, target_settings)
