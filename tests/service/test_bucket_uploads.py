"""Files that clients upload directly to a bucket: they are verified before their first use."""

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

import kit
from kit.errors import ConfigError
from kit.service import backup
from kit.service.databases import with_database
from kit.service.domain import credits, keys
from kit.service.domain.upkeep import Sweeper
from kit.service.machine import clock
from kit.service.store import Database
from tests.buckets import FailingProxy, answer
from tests.conftest import ALL_SCOPES, Service, run_coroutine
from tests.uploading import create_ticket, png, put_file, upload_file, wav
from tests.waiting import GENERATIONS, balance, generate, wait_for_end

pytestmark = pytest.mark.parametrize("storage_settings", ["s3"], indirect=True)
ESTIMATES = "/v1/creative-studio/estimates"


def use_upload(http: httpx.Client, upload: str, path: str = GENERATIONS) -> httpx.Response:
    order = {"modelId": "clay", "mediaUploads": {"portrait": upload}, "fileMetadata": False}
    return http.post(path, json=order)


def fetch(address: str, method: str = "GET", **headers: str) -> httpx.Response:
    return httpx.request(method, address, headers=headers, follow_redirects=True)


def list_names(service: Service, folder: str) -> list[str]:
    return run_coroutine(service.context.storage.names(folder))


def sweep(service: Service, hours: int = 0) -> None:
    """Run the sweeper as another process would, some hours later."""
    it = service.context

    async def once(database: Database) -> None:
        later = it.clock() + hours * 3_600_000
        await Sweeper(database, it.storage, it.settings, it.readiness, lambda: later).sweep()

    run_coroutine(with_database(service.settings, once))


@pytest.mark.parametrize(
    ("content", "kind", "sentence"),
    [
        (b"no picture at all", "image/png", "the content is not image/png"),
        (png()[:40], "image/png", "cut off or damaged"),
        (png(), "image/jpeg", "the content is not image/jpeg"),
        (b"RIFF\0\0\0\0WAVEnothing", "audio/wav", "the content is not"),
    ],
)
def test_a_file_that_does_not_match_its_ticket_is_refused_on_use_and_removed(
    http: httpx.Client, service: Service, content: bytes, kind: str, sentence: str
) -> None:
    upload = upload_file(http, content, kind)
    before = balance(http)
    refusal = use_upload(http, upload)

    assert refusal.status_code == 400
    [problem] = refusal.json()["error"]["details"]
    assert problem["field"] == "mediaUploads.portrait"
    assert sentence in problem["message"] or "cut off or damaged" in problem["message"]
    assert upload in problem["message"]
    assert list_names(service, f"uploads/{upload}") == []
    assert use_upload(http, upload).status_code == 400, "the file was removed"
    assert balance(http) == before


def test_a_ticket_cannot_replace_a_file_that_was_used(http: httpx.Client, service: Service) -> None:
    ticket = create_ticket(http, png())
    assert put_file(ticket, png()).status_code == 200
    quote = use_upload(http, ticket["uploadId"], ESTIMATES)
    assert quote.status_code == 200
    [kept] = list_names(service, f"uploads/{ticket['uploadId']}")
    other = png()[:-1] + b"!"

    put_file(ticket, other)
    done = wait_for_end(http, use_upload(http, ticket["uploadId"]).json()["id"])

    assert fetch(done["mediaUrls"]["portrait"]).content == png()
    assert fetch(done["outputUrl"]).content == png()
    assert kept.endswith(".png")


def test_concurrent_starts_verify_an_upload_once_and_all_use_it(
    http: httpx.Client, service: Service
) -> None:
    upload = upload_file(http, png())
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: use_upload(http, upload), range(4)))

    assert [it.status_code for it in answers] == [202] * 4
    for it in answers:
        assert wait_for_end(http, it.json()["id"])["status"] == "completed"
    assert len(list_names(service, f"uploads/{upload}")) == 1
    assert service.write(credits.verify()) == []


def test_an_output_url_redirects_to_the_bucket_and_serves_ranges_and_etags(
    http: httpx.Client, service: Service
) -> None:
    done = wait_for_end(http, generate(http))
    url, kind = done["outputUrl"], done["output"]["contentType"]
    redirect = httpx.get(url)
    whole, head = fetch(url), fetch(url, "HEAD")
    part = fetch(url, Range="bytes=1-3")

    assert (redirect.status_code, redirect.headers["Cache-Control"]) == (307, "no-store")
    assert not redirect.headers["Location"].startswith(service.url)
    assert hashlib.sha256(whole.content).hexdigest() == done["output"]["sha256"]
    assert (head.status_code, head.content) == (200, b"")
    for name in ("Content-Length", "Content-Type", "ETag"):
        assert head.headers[name] == whole.headers[name]
    assert whole.headers["Content-Type"] == kind
    assert fetch(url, **{"If-None-Match": head.headers["ETag"]}).status_code == 304
    assert part.content == whole.content[1:4] == b"PNG"
    assert part.headers["Content-Range"] == f"bytes 1-3/{len(whole.content)}"
    # The S3 server of these tests responds with 200 here; Amazon and moto 5.2 with 206.
    assert part.status_code in (200, 206)
    assert fetch(url, Range="bytes=999999-").status_code == 416
    sent = httpx.put(url.replace("/media/outputs/", "/media/uploads/"), content=b"x")
    assert sent.status_code in (404, 405)


def test_a_sign_out_invalidates_output_urls(http: httpx.Client, service: Service) -> None:
    done = wait_for_end(http, generate(http))
    (mine,) = service.write(keys.list_keys())
    assert fetch(done["outputUrl"], "HEAD").status_code == 200

    service.write(keys.revoke(mine.id, clock(), sign_out=True))

    refused = fetch(done["outputUrl"])
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "access_denied")


def test_deleted_outputs_are_removed_from_the_bucket(http: httpx.Client, service: Service) -> None:
    done = wait_for_end(http, generate(http))
    [folder] = list_names(service, "outputs/")
    assert any(done["id"] in name for name in list_names(service, f"outputs/{folder}"))

    assert http.delete(f"{GENERATIONS}/{done['id']}/outputs").status_code == 204

    assert list_names(service, f"outputs/{folder}") == []
    assert fetch(done["outputUrl"]).status_code == 404
    assert not [path for path in service.settings.sending.rglob("*") if path.is_file()]


def test_a_result_that_cannot_be_stored_is_not_charged(
    start_service: Callable[..., Service], failing_proxy: FailingProxy, storage_settings: Any
) -> None:
    server = storage_settings["storage_url"].partition("endpoint=")[2]
    url = storage_settings["storage_url"].replace(server, failing_proxy.url)
    service = start_service(storage_url=url)
    with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
        refused = answer(403)
        failing_proxy.close_connections()
        failing_proxy.faults += [refused] * 50
        done = wait_for_end(http, generate(http))
        left = balance(http)

    assert (done["status"], done["errorCode"]) == ("failed", "not_stored")
    assert left == 100
    assert service.write(credits.verify()) == []


def test_a_job_whose_input_cannot_be_read_fails_and_is_refunded(
    start_service: Callable[..., Service], failing_proxy: FailingProxy, storage_settings: Any
) -> None:
    server = storage_settings["storage_url"].partition("endpoint=")[2]
    url = storage_settings["storage_url"].replace(server, failing_proxy.url)
    service = start_service(storage_url=url)
    with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
        hanging = generate(http, does="hangs")
        waiting = use_upload(http, upload_file(http, png())).json()
        failing_proxy.close_connections()
        failing_proxy.faults += [answer(403)] * 50
        http.post(f"{GENERATIONS}/{hanging}/cancel")
        done = wait_for_end(http, waiting["id"])

    assert (done["status"], done["errorCode"]) == ("failed", "input_unread")
    assert done["creditsRefunded"] == done["creditsCharged"]


def test_an_unused_upload_is_removed_after_a_day(http: httpx.Client, service: Service) -> None:
    upload = upload_file(http, png())

    sweep(service, hours=12)
    assert list_names(service, f"uploads/{upload}") == ["received.bin"]
    sweep(service, hours=26)
    assert list_names(service, f"uploads/{upload}") == []
    assert use_upload(http, upload).status_code == 404


def test_output_files_without_a_generation_are_removed(
    http: httpx.Client, service: Service, tmp_path: Path
) -> None:
    done = wait_for_end(http, generate(http))
    [folder] = list_names(service, "outputs/")
    kept = list_names(service, f"outputs/{folder}")
    (tmp_path / "draft").write_bytes(b"x")
    orphan = f"outputs/{folder}/{done['id']}-{'0' * 32}.png"
    run_coroutine(service.context.storage.keep({orphan: tmp_path / "draft"}))
    assert len(list_names(service, f"outputs/{folder}")) == len(kept) + 1

    sweep(service)

    assert list_names(service, f"outputs/{folder}") == kept


def test_backup_of_a_bucket_names_other_tools(service: Service, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="secret, pg_dump of the database, then a copy of the"):
        backup.backup(service.settings, tmp_path / "copy.tar.gz")


def test_the_kit_client_uploads_to_and_downloads_from_a_bucket(service: Service, key: str) -> None:
    with kit.connect(service.url, key) as studio:
        media = {"portrait": png(), "voice": wav(1)}
        made = studio.generate("clay", media=media, metadata=False)

        assert made.output.bytes() == png()
