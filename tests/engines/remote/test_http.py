"""HTTP requests to other services: URLs, retries, redirects, and errors."""

import asyncio
import gzip
import time
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from kit.engines.remote.http import RemoteCaller, RemoteReply, RemoteRequest
from kit.engines.remote.site import Site
from kit.errors import EngineError
from tests.engines.remote.conftest import Answer, Server

QUICK = {"pause": 0.01}


def make_reply(status: int = 200, content: bytes = b"", **headers: str) -> RemoteReply:
    return RemoteReply(status, {k.replace("_", "-"): v for k, v in headers.items()}, content)


def send(site: Site, request: RemoteRequest, **how: Any) -> RemoteReply:
    async def once() -> RemoteReply:
        async with RemoteCaller(site, **how) as caller:
            return await caller.send(request)

    return asyncio.run(once())


def fetch(site: Site, path: str, target: Path, **how: Any) -> bytes:
    async def once() -> None:
        async with RemoteCaller(site) as caller:
            await caller.fetch(path, target, **how)

    asyncio.run(once())
    return target.read_bytes()


@pytest.mark.parametrize(
    ("path", "address"),
    [
        ("v1/videos", "https://host/deep/v1/videos"),
        ("/v1/videos", "https://host/deep/v1/videos"),
        ("/deep/v1/videos", "https://host/deep/v1/videos"),
        ("https://elsewhere/x", "https://elsewhere/x"),
    ],
)
def test_paths_are_joined_with_the_url_of_the_site(path: str, address: str) -> None:
    assert RemoteCaller(Site("https://host/deep")).address(path) == address


@pytest.mark.parametrize(
    ("url", "own"),
    [
        ("https://host/x", True),
        ("https://HOST:443/x", True),
        ("http://host/x", False),
        ("https://host:8443/x", False),
        ("https://host.evil.org/x", False),
        ("https://host@evil.org/x", False),
        ("https://host:port/x", False),
    ],
)
def test_only_urls_of_the_same_origin_are_own(url: str, own: bool) -> None:
    assert RemoteCaller(Site("https://host")).is_own(url) is own


def test_retry_after_may_be_a_number_or_a_date() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)

    assert make_reply(retry_after="7").retry_after == 7
    assert make_reply(retry_after="-7").retry_after is None
    assert 90 < (make_reply(retry_after=soon).retry_after or 0) <= 100
    assert make_reply(retry_after="later").retry_after is None
    assert make_reply(retry_after="Sun, 99 Mar 2026 12:00:00 GMT").retry_after is None
    assert make_reply().retry_after is None


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b'{"error": {"message": "no", "type": "x", "param": null, "code": 400}}', "no"),
        (b'{"error": "no"}', "no"),
        (b'{"statusCode": 400, "message": "no", "error": "Bad Request"}', "no"),
        (b'{"detail": "no"}', "no"),
        (b'{"detail": {"error": {"message": "no"}}}', "no"),
        (
            b'{"detail": [{"loc": ["body", "size", 0], "msg": "no"}, {"msg": "nor"}]}',
            "size.0: no; nor",
        ),
        (b'{"detail": [{"loc": 3, "msg": "no"}, 7, {"msg": 8}]}', "no"),
        (b'{"errors": [{"message": "no"}, "nor"]}', "no; nor"),
        (b'{"error": ' * 9 + b'"deep"' + b"}" * 9, ""),
        (b'{"error": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", ""),
        (b"<html>no</html>", ""),
        (b"\xff", ""),
    ],
)
def test_the_message_of_an_error_is_found(content: bytes, sentence: str) -> None:
    assert make_reply(400, content).sentence == sentence


def test_a_deeply_nested_response_is_not_json() -> None:
    with pytest.raises(EngineError, match="not JSON") as caught:
        make_reply(200, b"[" * 200_000 + b"]" * 200_000).json()
    assert caught.value.detail == "it answers 200 with 400,000 bytes of no type"


@pytest.mark.parametrize("key", ["", "  ", "with\nbreak", "schlüssel"])
def test_an_invalid_key_is_not_sent(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", key)

    with pytest.raises(EngineError, match="variable SOME_KEY of the service, which") as caught:
        RemoteCaller(Site("https://host", "SOME_KEY"))
    assert caught.value.code == "not_configured"
    assert key.strip() == "" or key not in str(caught.value)


def test_a_file_on_another_host_is_requested_without_the_key(
    serve: Callable[[], Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = serve(), serve()
    monkeypatch.setenv("SOME_KEY", "secret")
    there.on("GET", "/x", Answer(body=b"x"))
    here.on("GET", "/x", Answer(body=b"x"))
    site = Site(here.url, "SOME_KEY")

    send(site, RemoteRequest(method="GET", path=f"{there.url}/x"))
    send(site, RemoteRequest(method="GET", path="x"))
    send(site, RemoteRequest(method="GET", path="x", without_key=True))

    assert "Authorization" not in there.requests[0].headers
    assert [a.headers.get("Authorization") for a in here.requests] == ["Bearer secret", None]


@pytest.mark.parametrize(
    ("answers", "again", "sent"),
    [
        ([Answer(503), Answer()], False, 2),
        ([Answer(500), Answer()], True, 2),
        ([Answer(500), Answer()], False, 1),
        ([Answer(400), Answer()], True, 1),
        ([Answer(body=b"x", claims=9), Answer()], True, 2),
        ([Answer(body=b"x", claims=9), Answer()], False, 1),
        ([Answer(502)], True, 5),
    ],
)
def test_only_repeatable_requests_are_sent_again(
    server: Server, answers: list[Answer], again: bool, sent: int
) -> None:
    server.on("POST", "/x", *answers)
    outcome: Any = None
    try:
        outcome = send(
            Site(server.url, **QUICK), RemoteRequest(method="POST", path="x", repeatable=again)
        )
    except EngineError as error:
        outcome = error

    assert len(server.requests) == sent
    assert isinstance(outcome, RemoteReply) is (sent == 2)


@pytest.mark.parametrize("compress", [gzip.compress, zlib.compress])
def test_a_compressed_response_is_decompressed(
    server: Server, tmp_path: Path, compress: Callable[[bytes], bytes]
) -> None:
    headers = {"Content-Encoding": "gzip" if compress is gzip.compress else "deflate"}
    server.on("GET", "/x", Answer(body=compress(b'{"a": 1}'), headers=headers))
    site = Site(server.url, **QUICK)

    assert send(site, RemoteRequest(method="GET", path="x")).json() == {"a": 1}
    assert fetch(site, "x", tmp_path / "file") == b'{"a": 1}'


def test_a_response_that_is_huge_when_decompressed_is_refused(server: Server) -> None:
    small = gzip.compress(b" " * 300_000)
    server.on("GET", "/x", Answer(body=small, headers={"Content-Encoding": "gzip"}))

    with pytest.raises(EngineError, match="sends more than"):
        send(Site(server.url, **QUICK), RemoteRequest(method="GET", path="x"), most=100_000)


@pytest.mark.parametrize("status", [202, 404])
def test_a_file_that_is_not_ready_is_requested_again(
    server: Server, tmp_path: Path, status: int
) -> None:
    server.on("GET", "/x", Answer(status, {"status": "preparing"}), Answer(body=b"x"))

    assert fetch(Site(server.url, **QUICK), "x", tmp_path / "file", late=True) == b"x"


def test_a_file_that_is_too_large_is_refused(server: Server, tmp_path: Path) -> None:
    server.on("GET", "/x", Answer(body=bytes(500)))

    with pytest.raises(EngineError, match="more than"):
        fetch(Site(server.url, **QUICK), "x", tmp_path / "file", most=100)


def test_a_request_over_the_quota_is_not_sent_again(server: Server) -> None:
    """OpenAI API documentation, "Error codes": the status is that of requests too fast."""
    error = {"message": "You exceeded your current quota", "code": "insufficient_quota"}
    server.on("POST", "/x", Answer(429, {"error": error}, {"Retry-After": "0"}))

    with pytest.raises(EngineError, match="out of credits") as caught:
        send(Site(server.url, **QUICK), RemoteRequest(method="POST", path="x"))
    assert caught.value.code == "upstream_no_credits"
    assert len(server.requests) == 1


def test_a_local_server_may_use_another_local_host_name(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", "secret")
    port = server.url.rpartition(":")[2]
    server.on("GET", "/moved", Answer(302, headers={"Location": f"http://localhost:{port}/x"}))
    server.on("GET", "/x", Answer(body=b"x"))
    site, target = Site(server.url, "SOME_KEY", **QUICK), tmp_path / "file"

    for url in (f"http://0.0.0.0:{port}/x", f"http://localhost:{port}/moved"):
        assert fetch(site, url, target) == b"x"
    assert {one.headers["Host"] for one in server.requests} == {f"127.0.0.1:{port}"}
    with pytest.raises(EngineError, match="not safe"):
        fetch(site, "http://localhost:9/x", target)


def test_redirects_are_followed_only_within_the_site(
    serve: Callable[[], Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = serve(), serve()
    monkeypatch.setenv("SOME_KEY", "secret")
    here.on("GET", "/moved", Answer(302, headers={"Location": "/x"}))
    here.on("GET", "/gone", Answer(302, headers={"Location": f"{there.url}/x"}))
    here.on("GET", "/round", Answer(302, headers={"Location": "/round"}))
    here.on("GET", "/x", Answer(body=b"found"))
    site, target = Site(here.url, "SOME_KEY", **QUICK), tmp_path / "file"

    assert fetch(site, "/moved", target) == b"found"
    for path in ("/gone", "/round"):
        with pytest.raises(EngineError, match="redirect"):
            fetch(site, path, target)
    assert there.requests == []
    assert len(here.to("GET", "/round")) == 4


def test_a_redirect_to_a_store_is_followed_with_https_without_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", "secret")
    target = tmp_path / "file"
    seen: list[tuple[str, str | None]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append((str(request.url), request.headers.get("authorization")))
        moved = {"Location": "https://store.example.org/x?signed=1"}
        own = request.url.host == "host"
        stream = httpx.ByteStream(b"" if own else b"found")
        return httpx.Response(302 if own else 200, headers=moved, stream=stream)

    async def download() -> None:
        store = httpx.MockTransport(answer)
        async with RemoteCaller(Site("http://host", "SOME_KEY"), transport=store) as caller:
            await caller.fetch("v1/x", target)

    asyncio.run(download())
    assert target.read_bytes() == b"found"
    assert seen == [
        ("http://host/v1/x", "Bearer secret"),
        ("https://store.example.org/x?signed=1", None),
    ]


def test_an_unreachable_server_is_reported_within_five_seconds() -> None:
    async def send_once() -> None:
        async with RemoteCaller(Site("http://127.0.0.1:9", pause=1.0)) as caller:
            await caller.send(RemoteRequest(method="POST", path="v1/images/generations", json={}))

    start = time.monotonic()
    with pytest.raises(EngineError, match="does not answer"):
        asyncio.run(send_once())
    assert time.monotonic() - start < 5.0
