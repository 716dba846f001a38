"""The sweeper in a running service removes old outputs, unused uploads and leftovers."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from kit.service.databases import open_database
from kit.service.domain import outputs, uploads
from kit.service.domain.credits import Payer
from kit.service.domain.upkeep import Sweeper, tidy
from kit.service.machine import clock
from kit.service.store.database import Transaction
from kit.wire import RequestUpload
from tests.conftest import ALL_SCOPES, Service, both_databases
from tests.uploading import png, upload_file
from tests.waiting import GENERATIONS, generate, read, until, wait_for_end

SECOND = 1 / (24 * 3600)


def test_outputs_are_deleted_after_the_configured_days(
    start_service: Callable[..., Service],
) -> None:
    service = start_service()
    key = service.key(service.account(), *ALL_SCOPES)
    with service.client(key) as http:
        generation = generate(http)
        wait_for_end(http, generation)
    service.stop()

    service = start_service(keep_outputs_days=SECOND / 100)
    with service.client(key) as http:
        until(lambda: read(http, generation)["outputsDeletedAt"])
        assert read(http, generation)["outputUrl"] is None
    until(lambda: not list_files(service))


def test_scratch_files_are_removed_although_a_program_has_others_open(
    service: Service, tmp_path: Path
) -> None:
    for name in "abc":
        (tmp_path / name).touch()

    with (tmp_path / "a").open(), (tmp_path / "c").open():
        asyncio.run(tidy(service.context.storage, tmp_path, clock() / 1000 + 2 * 24 * 3600))

    assert not (tmp_path / "b").exists()


def test_a_clock_that_is_ahead_for_less_than_an_hour_deletes_nothing(service: Service) -> None:
    key = service.key(service.account(), *ALL_SCOPES)
    with service.client(key) as http:
        generation = generate(http)
        wait_for_end(http, generation)

    def sweep(ahead: float) -> bool:
        async def work() -> None:
            database = open_database(service.settings)
            settings = replace(service.settings, keep_outputs_days=30)
            parts = database, service.context.storage, settings, service.context.readiness
            await Sweeper(*parts, lambda: clock() + int(ahead * 24 * 3600 * 1000)).sweep()
            await database.close()

        asyncio.run(work())
        with service.client(key) as http:
            return read(http, generation)["outputsDeletedAt"] is None

    assert [sweep(days) for days in (0, 365, 365.04, 0, 364, 364.04)] == [True] * 6
    assert not sweep(364.05)


@both_databases
def test_uploads_are_deleted_too_and_the_generation_stays(
    start_service: Callable[..., Service],
) -> None:
    service = start_service()
    account = service.account()
    key = service.key(account, *ALL_SCOPES)
    with service.client(key) as http:
        body = {"modelId": "clay", "mediaUploads": {"portrait": upload_file(http, png())}}
        generation = http.post(GENERATIONS, json=body).json()["id"]
        assert "portrait" in wait_for_end(http, generation)["mediaUrls"]
    service.stop()

    service = start_service(keep_outputs_days=SECOND / 100)
    until(lambda: not list_files(service))
    with service.client(key) as http:
        generation_now = read(http, generation)
        assert (generation_now["status"], generation_now["mediaUrls"]) == ("completed", {})
        assert http.post(GENERATIONS, json=body).status_code == 404


def test_a_generation_whose_input_was_removed_fails_and_is_refunded(
    start_service: Callable[..., Service],
) -> None:
    service = start_service(workers=0)
    key = service.key(service.account(), *ALL_SCOPES)
    with service.client(key) as http:
        upload = upload_file(http, png())
        body = {"modelId": "clay", "mediaUploads": {"portrait": upload}}
        generation = http.post(GENERATIONS, json=body).json()["id"]
    service.write(uploads.remove(upload, 2**62))
    service.stop()

    service = start_service()
    with service.client(key) as http:
        generation_now = wait_for_end(http, generation)
        assert (generation_now["status"], generation_now["errorCode"]) == ("failed", "input_gone")
        assert generation_now["creditsRefunded"] == generation_now["creditsCharged"]


def test_outputs_are_kept_without_a_configured_number_of_days(
    start_service: Callable[..., Service],
) -> None:
    service = start_service()
    key = service.key(service.account(), *ALL_SCOPES)
    with service.client(key) as http:
        generation = generate(http)
        wait_for_end(http, generation)
    service.stop()

    service = start_service()
    with service.client(key) as http:
        assert read(http, generation)["outputsDeletedAt"] is None
    assert len(list_files(service)) == 1


def test_a_file_left_by_a_crash_is_removed_at_the_next_start(
    start_service: Callable[..., Service],
) -> None:
    service = start_service()
    account = service.account()
    with service.client(service.key(account, *ALL_SCOPES)) as http:
        generation = generate(http)
        wait_for_end(http, generation)
    service.stop()
    # The state of a process that ends between the transaction and the removal of the file.
    assert service.write(outputs.delete(generation, Payer(account), clock()))
    assert len(list_files(service)) == 1

    service = start_service()
    until(lambda: not list_files(service))
    until(lambda: not service.write(outputs.keys_to_delete()))


def list_files(service: Service) -> list[Path]:
    return [path for path in service.settings.objects.rglob("*") if path.is_file()]


@both_databases
def test_one_round_removes_all_unused_uploads(start_service: Callable[..., Service]) -> None:
    service = start_service()
    payer, context = Payer(service.account()), service.context
    request = RequestUpload(
        file_name="a.png", content_type="image/png", file_size_bytes=9, model_id="clay"
    )
    folder = service.settings.objects / "uploads"

    def add_uploads() -> Transaction[None]:
        yesterday = clock() - uploads.UNUSED_MS - 1000
        for _ in range(250):
            most = service.settings.account_upload_bytes
            row = yield from uploads.issue_ticket(context.catalog, request, payer, most, yesterday)
            yield from uploads.mark_filled(row.id, sha256="a" * 64, duration_ms=None, now=yesterday)
            (folder / row.id).mkdir(parents=True)
            (folder / row.id / "file.png").write_bytes(b"a picture")

    service.stop()  # otherwise its own first round could interfere
    service.write(add_uploads())
    assert len(list(folder.iterdir())) == 250

    start_service()
    until(lambda: not list(folder.iterdir()))


def test_a_round_checks_a_limited_number_of_files_and_the_next_continues(service: Service) -> None:
    key = service.key(service.account(), *ALL_SCOPES)
    with service.client(key) as http:
        generation = generate(http)
        wait_for_end(http, generation)
    folder = service.settings.objects / "outputs" / "z"  # as if it was the newest
    folder.mkdir()
    for number in range(120):
        (folder / f"{generation}-{number}.png").touch()

    async def work() -> list[int]:
        database = open_database(service.settings)
        parts = database, service.context.storage, service.settings, service.context.readiness
        sweeper, left = Sweeper(*parts, clock, max_files=50), []
        for _ in range(3):
            await sweeper.sweep()
            left.append(len(list(folder.iterdir())))
        await database.close()
        return left

    assert asyncio.run(work()) == [70, 20, 0]
