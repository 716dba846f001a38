"""Moving a data folder to PostgreSQL moves everything or nothing."""

import asyncio
import hashlib
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from kit.errors import ConfigError
from kit.service import server
from kit.service.domain import credits
from kit.service.move import move
from kit.service.settings import ServiceSettings
from kit.service.store.postgresql.schema import TABLES
from tests.buckets import KEYS, S3Server
from tests.conftest import ALL_SCOPES, Service, sql, write_alone
from tests.waiting import GENERATIONS, generate, wait_for_end


@pytest.fixture(scope="module")
def original(lasting_service: Service) -> tuple[Path, str]:
    """The data folder of a service that was used and stopped, and a key."""
    service = lasting_service
    account = service.account()
    key = service.key(account, *ALL_SCOPES, cap=50_000)
    with service.client(key) as http:
        wait_for_end(http, generate(http))
        wait_for_end(http, generate(http, does="fails"))
        headers = {"Idempotency-Key": "a"}
        http.post("/v1/scripts/title", json={"topic": "SPACE"}, headers=headers)
    service.stop()
    write_alone(service.settings, sql("INSERT INTO removals VALUES ('outputs/ü', 1)"))
    return service.settings.data, key


@pytest.fixture
def copy(original: tuple[Path, str], config: ServiceSettings) -> tuple[ServiceSettings, str]:
    """The settings of a copy of that folder, and the key."""
    folder, key = original
    shutil.copytree(folder, config.data)
    return config, key


def test_all_rows_are_moved_and_the_service_continues(
    copy: tuple[ServiceSettings, str], empty_postgresql: str, start_service: Callable[..., Service]
) -> None:
    source, key = copy
    target = replace(source, database_url=empty_postgresql)

    counts = asyncio.run(move(source, target))

    assert counts.keys() == TABLES.keys()
    assert {name for name, count in counts.items() if count} >= {
        *("accounts", "keys", "ledger", "generations", "titles", "idempotency", "removals")
    }
    for table, order in TABLES.items():
        rows = [
            [
                row._asdict()
                for row in write_alone(given, sql(f"SELECT * FROM {table} ORDER BY {order}"))
            ]
            for given in (source, target)
        ]
        assert rows[0] == rows[1]
        assert len(rows[0]) == counts[table]
    moved = start_service(data=source.data, database_url=empty_postgresql)
    with moved.client(key) as http:
        page = http.get(GENERATIONS).json()
        assert [one["status"] for one in page] == ["failed", "completed"]
        assert http.get(page[1]["outputUrl"]).status_code == 200
        wait_for_end(http, generate(http))
    assert moved.write(credits.verify()) == []


def test_a_database_that_has_rows_is_refused(
    copy: tuple[ServiceSettings, str], empty_postgresql: str
) -> None:
    source, _ = copy
    target = replace(source, database_url=empty_postgresql)
    asyncio.run(move(source, target))

    with pytest.raises(
        ConfigError, match="the database is not empty: it has accounts; create it anew"
    ):
        asyncio.run(move(source, target))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("UPDATE accounts SET balance = balance + 1", "the ledger is wrong: acc_"),
        ("UPDATE titles SET title = 'a' || char(0)", "the rows cannot be stored there"),
    ],
)
def test_wrong_rows_and_rows_that_cannot_be_stored_move_nothing(
    copy: tuple[ServiceSettings, str], empty_postgresql: str, change: str, sentence: str
) -> None:
    source, _ = copy
    target = replace(source, database_url=empty_postgresql)
    write_alone(source, sql(change))

    with pytest.raises(ConfigError, match=sentence):
        asyncio.run(move(source, target))
    assert write_alone(target, sql("SELECT id FROM accounts")) == []


def test_a_running_service_is_not_moved(config: ServiceSettings, empty_postgresql: str) -> None:
    target = replace(config, database_url=empty_postgresql)
    running = server.start(config, server.bind("0.0.0.0", 0))  # as in a container

    with pytest.raises(ConfigError, match=f"a service runs on {config.data}: stop it first"):
        asyncio.run(move(config, target))
    running.stop()
    config.database_path.unlink()
    with pytest.raises(ConfigError, match="there is no database at"):
        asyncio.run(move(config, target))


def test_files_are_copied_into_a_bucket_and_compared(
    copy: tuple[ServiceSettings, str],
    empty_postgresql: str,
    s3_server: S3Server,
    start_service: Callable[..., Service],
) -> None:
    source, key = copy
    bucket = {"storage_url": s3_server.new_bucket(), "aws": KEYS}
    target = replace(source, database_url=empty_postgresql, **bucket)

    counts = asyncio.run(move(source, target))

    kept = [path for path in source.objects.rglob("*") if path.is_file()]
    assert counts["files"] == len(kept) == 1
    moved = start_service(data=source.data, database_url=empty_postgresql, **bucket)
    with moved.client(key) as http:
        (done,) = http.get(GENERATIONS, params={"status": "completed"}).json()
        assert httpx.get(done["outputUrl"]).headers["Location"].startswith(s3_server.url)
        whole = httpx.get(done["outputUrl"], follow_redirects=True)
        assert hashlib.sha256(whole.content).hexdigest() == done["output"]["sha256"]
        wait_for_end(http, generate(http))
    assert moved.write(credits.verify()) == []
    assert [path for path in source.objects.rglob("*") if path.is_file()] == kept


@pytest.mark.parametrize("how", ["gone", "damaged"])
def test_a_missing_or_damaged_file_moves_nothing(
    copy: tuple[ServiceSettings, str], empty_postgresql: str, s3_server: S3Server, how: str
) -> None:
    source, _ = copy
    bucket = {"storage_url": s3_server.new_bucket(), "aws": KEYS}
    target = replace(source, database_url=empty_postgresql, **bucket)
    for path in [path for path in source.objects.rglob("*") if path.is_file()]:
        path.unlink() if how == "gone" else path.write_bytes(b"x")

    with pytest.raises(ConfigError, match=f"is {how}; nothing was moved"):
        asyncio.run(move(source, target))
    assert write_alone(target, sql("SELECT id FROM accounts")) == []
