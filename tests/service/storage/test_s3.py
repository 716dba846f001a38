"""S3 storage: what its presigned URLs allow, interrupted transfers, and its configuration."""

import asyncio
import logging
import os
import re
import shutil
import socket
import ssl
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from kit.errors import BadRequestError, ConfigError, UnavailableError
from kit.service import settings
from kit.service.app import create_storage
from kit.service.storage import make_ticket
from kit.service.storage.s3 import MULTIPART_BYTES, S3Storage
from kit.service.storage.sigv4 import Bucket, parse_bucket
from kit.wire import Ticket
from tests.buckets import KEYS, FailingProxy, Fault, S3Server, answer, cut, server_command, stall
from tests.ports import free_port
from tests.service.worker.test_cluster import new_certificate

CONTENT = b"0123456789"


@pytest.fixture
def storage(s3_server: S3Server, tmp_path: Path) -> S3Storage:
    """A storage in an empty bucket."""
    return S3Storage(parse_bucket(s3_server.new_bucket(), KEYS), tmp_path / "outputs")


def create_ticket(storage: S3Storage, seconds: int = 60) -> Ticket:
    end = int(time.time()) + seconds
    return make_ticket(storage, "", "upl_1", "image/png", len(CONTENT), expires=end)


def put_file(ticket: Ticket, content: bytes = CONTENT, **changes: str | None) -> int:
    headers = {**ticket.required_headers, **changes}
    sent = {name: value for name, value in headers.items() if value is not None}
    return httpx.put(ticket.upload_url, content=content, headers=sent).status_code


def test_a_presigned_url_has_the_signature_of_the_documentation() -> None:
    """Source: docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html."""
    bucket = Bucket(
        name="examplebucket",
        address="https://examplebucket.s3.amazonaws.com",
        region="us-east-1",
        access_key="AKIAIOSFODNN7EXAMPLE",
        secret_key="wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    )
    moment = 1369353600  # 2013-05-24T00:00:00Z

    url = bucket.presign("GET", "test.txt", now=moment, seconds=86400)

    signature = "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
    assert url.endswith(f"X-Amz-Signature={signature}")
    assert "wJalr" not in repr(bucket)


def test_a_ticket_allows_only_its_own_upload(storage: S3Storage) -> None:
    ticket = create_ticket(storage)
    other = ticket.model_copy(update={"upload_url": ticket.upload_url.replace("upl_1", "upl_2")})
    forged = ticket.model_copy(update={"upload_url": ticket.upload_url[:-1] + "0"})
    if forged == ticket:
        forged = ticket.model_copy(update={"upload_url": ticket.upload_url[:-1] + "1"})

    assert put_file(ticket, **{"Content-Type": "text/html"}) == 403
    assert put_file(ticket, **{"Content-Type": None}) == 403
    assert put_file(ticket, CONTENT + b"!", **{"Content-Length": None}) == 403
    assert put_file(ticket, CONTENT[:-1], **{"Content-Length": None}) == 403
    assert put_file(other) == put_file(forged) == 403
    assert httpx.get(ticket.upload_url).status_code == 403
    assert httpx.delete(ticket.upload_url).status_code == 403
    assert put_file(ticket) == 200


def test_an_expired_ticket_is_refused(s3_server: S3Server, tmp_path: Path) -> None:
    past = time.time() - 3600
    bucket = parse_bucket(s3_server.new_bucket(), KEYS)
    storage = S3Storage(bucket, tmp_path, clock=lambda: past)
    ticket = make_ticket(storage, "", "upl_1", "image/png", len(CONTENT), expires=int(past) + 60)

    assert put_file(ticket) in (400, 403)


def test_a_presigned_url_reads_one_file_with_its_type(storage: S3Storage, tmp_path: Path) -> None:
    (tmp_path / "draft").write_bytes(CONTENT)
    asyncio.run(storage.keep({"outputs/0/gen_1-a b.png": tmp_path / "draft"}))
    key = "outputs/0/gen_1-a b.png"
    url = storage.read_address("GET", key)
    response = httpx.get(url)

    assert (response.status_code, response.content) == (200, CONTENT)
    assert response.headers["content-type"] == "image/png"
    assert httpx.get(url.replace("gen_1", "gen_2")).status_code == 403
    assert httpx.put(url, content=b"x").status_code == 403
    assert httpx.head(url).status_code == 403, "the URL is signed for one method"
    assert httpx.head(storage.read_address("HEAD", key)).headers["content-length"] == "10"


def test_an_upload_is_fetched_only_with_its_length(storage: S3Storage, tmp_path: Path) -> None:
    async def fetch_received(length: int) -> Path | None:
        return await storage.fetch_received("upl_1", length, tmp_path / "in")

    assert asyncio.run(fetch_received(10)) is None
    assert put_file(create_ticket(storage)) == 200
    path = asyncio.run(fetch_received(10))
    assert path is not None
    assert path.read_bytes() == CONTENT
    with pytest.raises(BadRequestError, match="the file has 10 bytes, 11 were announced"):
        asyncio.run(fetch_received(11))
    asyncio.run(storage.discard_received("upl_1"))
    assert asyncio.run(fetch_received(10)) is None
    assert list((tmp_path / "in").iterdir()) == [path]


def test_a_large_file_is_sent_in_parts(
    s3_server: S3Server, failing_proxy: FailingProxy, tmp_path: Path
) -> None:
    url = s3_server.new_bucket().replace(s3_server.url, failing_proxy.url)
    storage = S3Storage(parse_bucket(url, KEYS), tmp_path / "outputs")
    content = os.urandom(MULTIPART_BYTES + 1)
    (tmp_path / "draft").write_bytes(content)

    async def work() -> bytes:
        await storage.keep({"outputs/0/a.mp4": tmp_path / "draft"})
        return (await storage.fetch_local("outputs/0/a.mp4", tmp_path)).read_bytes()

    assert asyncio.run(work()) == content
    assert sum("partNumber=" in line for line in failing_proxy.requests) == 5


def test_a_large_file_that_cannot_be_sent_leaves_no_parts(
    s3_server: S3Server, failing_proxy: FailingProxy, tmp_path: Path
) -> None:
    url = s3_server.new_bucket()
    bucket = parse_bucket(url.replace(s3_server.url, failing_proxy.url), KEYS)
    storage = S3Storage(bucket, tmp_path / "outputs")
    (tmp_path / "draft").write_bytes(bytes(MULTIPART_BYTES + 1))
    failing_proxy.faults += [lambda request: request, *[answer(403)] * 4]

    with pytest.raises(UnavailableError):
        asyncio.run(storage.keep({"outputs/0/a.mp4": tmp_path / "draft"}))

    query = {"uploads": ""}
    address = parse_bucket(url, KEYS).presign("GET", "", now=time.time(), seconds=60, query=query)
    assert "a.mp4" not in httpx.get(address).raise_for_status().text
    assert asyncio.run(storage.names("outputs/0")) == []
    assert (tmp_path / "draft").exists()


def test_leftovers_of_interrupted_transfers_are_removed_after_a_day(
    s3_server: S3Server, tmp_path: Path
) -> None:
    bucket = parse_bucket(s3_server.new_bucket(), KEYS)

    def request(method: str, query: dict[str, str], key: str = "") -> str:
        address = bucket.presign(method, key, now=time.time(), seconds=60, query=query)
        return httpx.request(method, address).text

    key = "outputs/0/a.mp4"
    request("POST", {"uploads": ""}, key)
    left = tmp_path / "outputs" / "0" / "b.png"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"x")
    storage = S3Storage(bucket, tmp_path / "outputs")
    old = S3Storage(bucket, tmp_path / "outputs", clock=lambda: time.time() + 25 * 3600)

    asyncio.run(storage.tidy())
    assert key in request("GET", {"uploads": ""})
    assert left.exists()
    asyncio.run(old.tidy())
    assert key not in request("GET", {"uploads": ""})
    assert not left.exists()


def test_a_failed_search_for_leftovers_logs_why_without_the_signed_address(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bucket = parse_bucket("s3://studio?endpoint=http://127.0.0.1:9", KEYS)

    with pytest.raises(UnavailableError, match="the storage does not answer"):
        asyncio.run(S3Storage(bucket, tmp_path / "outputs").tidy())

    assert "Connection refused" in caplog.text
    assert "Signature" not in caplog.text


@pytest.mark.parametrize(
    "faults", [[answer(503)], [answer(500), answer(503)], [cut(40)], [stall], [stall, answer(503)]]
)
def test_requests_to_a_slow_or_busy_storage_are_retried(
    s3_server: S3Server, failing_proxy: FailingProxy, tmp_path: Path, faults: list[Fault]
) -> None:
    url = s3_server.new_bucket().replace(s3_server.url, failing_proxy.url)
    storage = S3Storage(parse_bucket(url, KEYS), tmp_path / "outputs", read_seconds=0.5)
    failing_proxy.faults += faults
    (tmp_path / "draft").write_bytes(CONTENT)

    async def work() -> list[str]:
        await storage.keep({"outputs/0/a.png": tmp_path / "draft"})
        return await storage.names("outputs/0")

    assert asyncio.run(work()) == ["a.png"]
    assert failing_proxy.connections > len(faults)


def test_a_client_does_not_wait_for_retries_of_a_storage_that_hangs(
    s3_server: S3Server, failing_proxy: FailingProxy, tmp_path: Path
) -> None:
    url = s3_server.new_bucket().replace(s3_server.url, failing_proxy.url)
    storage = S3Storage(parse_bucket(url, KEYS), tmp_path / "outputs", read_seconds=0.9)
    failing_proxy.faults += [stall] * 9
    started = time.monotonic()

    with pytest.raises(UnavailableError, match="the storage does not answer"):
        asyncio.run(storage.fetch_received("upl_1", 10, tmp_path / "in"))
    assert time.monotonic() - started < 1.5


def test_an_interrupted_download_is_repeated_and_never_kept_in_part(
    s3_server: S3Server, failing_proxy: FailingProxy, tmp_path: Path
) -> None:
    url, folder = s3_server.new_bucket(), tmp_path / "in"
    content = os.urandom(100_000)
    (tmp_path / "draft").write_bytes(content)
    direct = S3Storage(parse_bucket(url, KEYS), tmp_path / "outputs")
    asyncio.run(direct.keep({"outputs/0/a.png": tmp_path / "draft"}))
    bucket = parse_bucket(url.replace(s3_server.url, failing_proxy.url), KEYS)

    def fetch() -> Path:
        storage = S3Storage(bucket, tmp_path / "outputs", retry_seconds=1)
        return asyncio.run(storage.fetch_local("outputs/0/a.png", folder))

    failing_proxy.faults += [cut(50_000)]
    path = fetch()
    assert path.read_bytes() == content
    assert list(folder.iterdir()) == [path]

    path.unlink()
    failing_proxy.faults += [cut(50_000)] * 99
    with pytest.raises(UnavailableError):
        fetch()
    assert list(folder.iterdir()) == []


def test_an_unreachable_storage_is_unavailable_without_showing_secrets(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    url = "s3://kit/prefix?endpoint=http://127.0.0.1:9"
    storage = S3Storage(parse_bucket(url, KEYS), tmp_path, retry_seconds=0.2)
    (tmp_path / "draft").write_bytes(CONTENT)

    with pytest.raises(UnavailableError) as caught:
        asyncio.run(storage.keep({"outputs/0/a.png": tmp_path / "draft"}))
    assert asyncio.run(storage.is_writable()) is False
    assert "the storage cannot be written: Generic S3 error: Error performing PUT in" in caplog.text
    assert (tmp_path / "draft").exists()
    for text in (str(caught.value), caplog.text):
        assert KEYS["AWS_SECRET_ACCESS_KEY"] not in text
        assert "X-Amz" not in text


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes certificates")
def test_the_log_says_why_a_storage_cannot_be_reached(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def check(endpoint: str) -> str:
        caplog.clear()
        place = parse_bucket(f"s3://kit?endpoint={endpoint}", KEYS)
        assert asyncio.run(S3Storage(place, tmp_path, retry_seconds=0.2).is_writable()) is False
        return caplog.text

    given = new_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(given["cluster_cert"], given["cluster_key"])
    with socket.create_server(("127.0.0.1", 0)) as plain:
        secure = context.wrap_socket(plain, server_side=True)

        def answer_all() -> None:
            while True:
                try:
                    secure.accept()
                except ssl.SSLError:
                    continue
                except OSError:
                    return

        threading.Thread(target=answer_all, daemon=True).start()
        assert "certificate is not accepted" in check(
            f"https://127.0.0.1:{secure.getsockname()[1]}"
        )
        secure.close()

    assert re.search(r"error sending request \(.*\w.*\)", check(f"http://127.0.0.1:{free_port()}"))


def test_publishing_waits_until_the_storage_is_back(tmp_path: Path) -> None:
    place = f"127.0.0.1:{free_port()}"
    storage = S3Storage(parse_bucket(f"s3://kit?endpoint=http://{place}", KEYS), tmp_path / "out")
    key = "outputs/0/a.png"
    storage.outputs.path(key).parent.mkdir(parents=True)
    storage.outputs.path(key).write_bytes(CONTENT)
    (tmp_path / "server" / "kit").mkdir(parents=True)

    async def publish() -> None:
        publishing = asyncio.create_task(storage.publish([key]))
        await asyncio.wait([publishing], timeout=4)
        assert not publishing.done()
        server = await asyncio.create_subprocess_exec(*server_command(place, tmp_path / "server"))
        try:
            await publishing
        finally:
            server.terminate()
            await server.wait()

    asyncio.run(publish())
    assert (tmp_path / "server" / "kit" / key).read_bytes() == CONTENT
    assert not storage.outputs.path(key).exists()


def test_a_missing_bucket_is_unavailable_and_the_log_says_why(
    s3_server: S3Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    url = f"s3://kit-nowhere?endpoint={s3_server.url}"
    storage = S3Storage(parse_bucket(url, KEYS), tmp_path / "outputs")
    (tmp_path / "draft").write_bytes(CONTENT)

    with pytest.raises(UnavailableError):
        asyncio.run(storage.keep({"outputs/0/a.png": tmp_path / "draft"}))
    assert asyncio.run(storage.is_writable()) is False
    assert s3_server.url not in caplog.text
    assert caplog.text.count("404 Not Found\n") == 2


def test_a_wrong_secret_of_the_bucket_is_named_as_the_reason(
    s3_server: S3Server, tmp_path: Path
) -> None:
    wrong = {**KEYS, "AWS_SECRET_ACCESS_KEY": "another-secret-1234567890"}
    storage = S3Storage(parse_bucket(s3_server.new_bucket(), wrong), tmp_path / "outputs")
    (tmp_path / "draft").write_bytes(CONTENT)

    with pytest.raises(UnavailableError, match="refuses the keys or the permissions"):
        asyncio.run(storage.keep({"outputs/0/a.png": tmp_path / "draft"}))


@pytest.mark.parametrize(
    ("url", "environ", "sentence"),
    [
        ("s3://", KEYS, "must be s3://BUCKET/PREFIX"),
        ("s3://key:secret@bucket", KEYS, "must be s3://BUCKET/PREFIX"),
        ("s3://Bucket", KEYS, "a bucket in lower case"),
        ("s3://b?zone=x", KEYS, "takes endpoint and region, not zone"),
        ("s3://b?endpoint=ftp://a", KEYS, "endpoint must be an http(s) address"),
        ("s3://b", {}, "needs AWS_ACCESS_KEY_ID"),
        ("s3://b", {"AWS_ACCESS_KEY_ID": "a"}, "needs AWS_SECRET_ACCESS_KEY"),
    ],
)
def test_an_invalid_storage_url_raises_a_config_error(
    url: str, environ: dict[str, str], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=re.escape(sentence)) as caught:
        parse_bucket(url, environ)
    assert "secret" not in str(caught.value)


def test_the_usual_aws_variables_are_read(tmp_path: Path) -> None:
    environ: dict[str, Any] = {
        **KEYS,
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9000/",
        "AWS_REGION": "eu-central-1",
        "KIT_STORAGE_URL": "s3://b/p/",
    }
    found = settings.load(environ, data=tmp_path)
    bucket = parse_bucket(found.storage_url, found.aws)

    assert isinstance(create_storage(found, b"s" * 32), S3Storage)
    assert (bucket.address, bucket.prefix) == ("http://127.0.0.1:9000/b", "p")
    assert bucket.region == "eu-central-1"
    assert KEYS["AWS_SECRET_ACCESS_KEY"] not in repr(found)
