"""The door to other machines: addresses, waits, and what is shown of an answer."""

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


def replied(status: int = 200, content: bytes = b"", **headers: str) -> RemoteReply:
    return RemoteReply(status, {k.replace("_", "-"): v for k, v in headers.items()}, content)


def asked(site: Site, request: RemoteRequest, **how: Any) -> RemoteReply:
    async def once() -> RemoteReply:
        async with RemoteCaller(site, **how) as caller:
            return await caller.send(request)

    return asyncio.run(once())


def fetched(site: Site, path: str, target: Path, **how: Any) -> bytes:
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
def test_paths_are_below_the_site(path: str, address: str) -> None:
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
def test_only_the_same_origin_is_ones_own(url: str, own: bool) -> None:
    assert RemoteCaller(Site("https://host")).is_own(url) is own


def test_a_wait_may_be_a_number_or_a_date() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)

    assert replied(retry_after="7").retry_after == 7
    assert replied(retry_after="-7").retry_after is None
    assert 90 < (replied(retry_after=soon).retry_after or 0) <= 100
    assert replied(retry_after="later").retry_after is None
    assert replied(retry_after="Sun, 99 Mar 2026 12:00:00 GMT").retry_after is None
    assert replied().retry_after is None


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
def test_the_sentence_of_an_error_is_found(content: bytes, sentence: str) -> None:
    assert replied(400, content).sentence == sentence


def test_an_answer_that_is_nested_without_end_is_a_clear_error() -> None:
    with pytest.raises(EngineError, match="not JSON"):
        replied(200, b"[" * 200_000 + b"]" * 200_000).json()


@pytest.mark.parametrize("key", ["", "  ", "with\nbreak", "schlüssel"])
def test_what_cannot_be_a_key_is_not_sent(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", key)

    with pytest.raises(EngineError, match="variable SOME_KEY of the service, which") as caught:
        RemoteCaller(Site("https://host", "SOME_KEY"))
    assert caught.value.code == "not_configured"
    assert key.strip() == "" or key not in str(caught.value)


def test_a_file_elsewhere_is_asked_for_without_the_key(
    serve: Callable[[], Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = serve(), serve()
    monkeypatch.setenv("SOME_KEY", "secret")
    there.on("GET", "/x", Answer(body=b"x"))
    here.on("GET", "/x", Answer(body=b"x"))
    site = Site(here.url, "SOME_KEY")

    asked(site, RemoteRequest(method="GET", path=f"{there.url}/x"))
    asked(site, RemoteRequest(method="GET", path="x"))
    asked(site, RemoteRequest(method="GET", path="x", without_key=True))

    assert "Authorization" not in there.asked[0].headers
    assert [a.headers.get("Authorization") for a in here.asked] == ["Bearer secret", None]


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
def test_what_does_no_harm_is_sent_again(
    server: Server, answers: list[Answer], again: bool, sent: int
) -> None:
    server.on("POST", "/x", *answers)
    outcome: Any = None
    try:
        outcome = asked(
            Site(server.url, **QUICK), RemoteRequest(method="POST", path="x", repeatable=again)
        )
    except EngineError as error:
        outcome = error

    assert len(server.asked) == sent
    assert isinstance(outcome, RemoteReply) is (sent == 2)


@pytest.mark.parametrize("packed", [gzip.compress, zlib.compress])
def test_an_answer_that_is_packed_unasked_is_unpacked(
    server: Server, tmp_path: Path, packed: Callable[[bytes], bytes]
) -> None:
    headers = {"Content-Encoding": "gzip" if packed is gzip.compress else "deflate"}
    server.on("GET", "/x", Answer(body=packed(b'{"a": 1}'), headers=headers))
    site = Site(server.url, **QUICK)

    assert asked(site, RemoteRequest(method="GET", path="x")).json() == {"a": 1}
    assert fetched(site, "x", tmp_path / "file") == b'{"a": 1}'


def test_what_unpacks_into_something_huge_is_not_taken(server: Server) -> None:
    small = gzip.compress(b" " * 300_000)
    server.on("GET", "/x", Answer(body=small, headers={"Content-Encoding": "gzip"}))

    with pytest.raises(EngineError, match="sends more than"):
        asked(Site(server.url, **QUICK), RemoteRequest(method="GET", path="x"), most=100_000)


@pytest.mark.parametrize("status", [202, 404])
def test_a_file_that_is_not_ready_is_asked_for_again(
    server: Server, tmp_path: Path, status: int
) -> None:
    server.on("GET", "/x", Answer(status, {"status": "preparing"}), Answer(body=b"x"))

    assert fetched(Site(server.url, **QUICK), "x", tmp_path / "file", late=True) == b"x"


def test_a_file_that_is_too_large_is_not_taken(server: Server, tmp_path: Path) -> None:
    server.on("GET", "/x", Answer(body=bytes(500)))

    with pytest.raises(EngineError, match="more than"):
        fetched(Site(server.url, **QUICK), "x", tmp_path / "file", most=100)


def test_an_account_there_that_is_out_of_quota_is_not_asked_again(server: Server) -> None:
    """OpenAI API documentation, "Error codes": the status is that of requests too fast."""
    error = {"message": "You exceeded your current quota", "code": "insufficient_quota"}
    server.on("POST", "/x", Answer(429, {"error": error}, {"Retry-After": "0"}))

    with pytest.raises(EngineError, match="out of credits") as caught:
        asked(Site(server.url, **QUICK), RemoteRequest(method="POST", path="x"))
    assert caught.value.code == "upstream_no_credits"
    assert len(server.asked) == 1


def test_a_local_server_may_call_itself_by_another_local_name(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", "secret")
    port = server.url.rpartition(":")[2]
    server.on("GET", "/moved", Answer(302, headers={"Location": f"http://localhost:{port}/x"}))
    server.on("GET", "/x", Answer(body=b"x"))
    site, target = Site(server.url, "SOME_KEY", **QUICK), tmp_path / "file"

    for url in (f"http://0.0.0.0:{port}/x", f"http://localhost:{port}/moved"):
        assert fetched(site, url, target) == b"x"
    assert {one.headers["Host"] for one in server.asked} == {f"127.0.0.1:{port}"}
    with pytest.raises(EngineError, match="not safe"):
        fetched(site, "http://localhost:9/x", target)


def test_a_file_may_have_moved_within_the_site_only(
    serve: Callable[[], Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = serve(), serve()
    monkeypatch.setenv("SOME_KEY", "secret")
    here.on("GET", "/moved", Answer(302, headers={"Location": "/x"}))
    here.on("GET", "/gone", Answer(302, headers={"Location": f"{there.url}/x"}))
    here.on("GET", "/round", Answer(302, headers={"Location": "/round"}))
    here.on("GET", "/x", Answer(body=b"found"))
    site, target = Site(here.url, "SOME_KEY", **QUICK), tmp_path / "file"

    assert fetched(site, "/moved", target) == b"found"
    for path in ("/gone", "/round"):
        with pytest.raises(EngineError, match="redirect"):
            fetched(site, path, target)
    assert there.asked == []
    assert len(here.to("GET", "/round")) == 4


def test_a_redirect_to_a_store_is_followed_over_https_and_without_the_key(
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

    async def fetch() -> None:
        store = httpx.MockTransport(answer)
        async with RemoteCaller(Site("http://host", "SOME_KEY"), transport=store) as caller:
            await caller.fetch("v1/x", target)

    asyncio.run(fetch())
    assert target.read_bytes() == b"found"
    assert seen == [
        ("http://host/v1/x", "Bearer secret"),
        ("https://store.example.org/x?signed=1", None),
    ]


def test_a_server_that_is_not_there_is_said_within_five_seconds() -> None:
    async def asked() -> None:
        async with RemoteCaller(Site("http://127.0.0.1:9", pause=1.0)) as caller:
            await caller.send(RemoteRequest(method="POST", path="v1/images/generations", json={}))

    start = time.monotonic()
    with pytest.raises(EngineError, match="does not answer"):
        asyncio.run(asked())
    assert time.monotonic() - start < 5.0
