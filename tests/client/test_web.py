"""Files from the web: what is fetched, what is refused, and that the API key is not sent."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from kit.client.aio import AsyncClient
from kit.client.calls import FetchMedium
from kit.client.http.web import Web, is_public
from kit.client.settings import Settings, resolve
from kit.client.sync import Client
from kit.errors import ParameterError

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 200


class Site(ThreadingHTTPServer):
    """A site with a scripted answer for each path; it records the requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: dict[str, Callable[[Any], None]] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.server_port}{path}"

    def add(self, path: str, body: bytes = PNG, status: int = 200, **headers: str) -> None:
        def answer(handler: Any) -> None:
            handler.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                handler.send_header(name.replace("_", "-"), value)
            handler.end_headers()
            handler.wfile.write(body)

        self.answers[path] = answer


class _Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        self.server.requests.append((self.path, dict(self.headers)))
        self.server.answers[self.path](self)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        thread = threading.Thread(target=site.serve_forever, args=(0.01,))
        thread.start()
        yield site
        site.shutdown()
        thread.join()


def dns(**known: str) -> Callable[..., Any]:
    """Return a resolver of names in a table; several addresses are separated by a blank."""
    table = {name.replace("_", "."): value.split() for name, value in known.items()}

    def look_up(host: str, port: int, **_: Any) -> Any:
        if host.endswith(".invalid"):
            raise OSError("it is not known")
        return [(2, 1, 6, "", (address, port)) for address in table.get(host, [host])]

    return look_up


#: The usual rules, but loopback is allowed.
LOCAL = Web(private=True)


def test_a_fetched_file_is_cached_under_its_name(site: Site, tmp_path: Path) -> None:
    site.add("/a%20b/lake.png?sig=1")

    first = LOCAL.fetch(site.url("/a%20b/lake.png?sig=1"), tmp_path)
    second = LOCAL.fetch(site.url("/a%20b/lake.png?sig=1"), tmp_path)

    assert first == second
    assert len(site.requests) == 1  # the second one is cached
    assert (first.name, first.read_bytes()) == ("lake.png", PNG)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [first]


@pytest.mark.parametrize("awaited", [False, True])
def test_both_clients_fetch_without_the_api_key(
    site: Site, tmp_path: Path, awaited: bool, settings: Settings
) -> None:
    site.add("/lake.png")
    settings = replace(settings, private_media=True, data=tmp_path)
    client: Any = AsyncClient(settings) if awaited else Client(settings)

    def flow() -> Any:
        return (yield FetchMedium(site.url("/lake.png")))

    assert client.block(flow()).is_relative_to(settings.uploads)
    ((_, headers),) = site.requests
    assert "Authorization" not in headers
    assert settings.api_key not in str(headers)


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("http://pictures.test/a.png", "must begin with https://"),
        ("https://router.test/a.png", "leads to a private network; download it first, or set KIT_"),
        ("https://mixed.test/a.png", "leads to a private network"),
        ("https://127.0.0.1/a.png", "leads to a private network"),
        ("http://127.0.0.1/a.png", "leads to a private network"),
        ("https://[::ffff:10.0.0.1]/a.png", "leads to a private network"),
        ("https://u:secret@pictures.test/a.png", "without a user or a password"),
        ("https://", "must be like https://host/file"),
        ("https://host:99999999/", "must be like https://host/file"),
        ("https://nowhere.invalid/", "could not be fetched: there is no nowhere.invalid"),
        ("http://nowhere.invalid/", "could not be fetched: there is no nowhere.invalid"),
    ],
)
def test_an_unsafe_url_is_not_requested(url: str, sentence: str, tmp_path: Path) -> None:
    known = {"pictures_test": "9.9.9.9", "router_test": "192.168.1.1"}
    web = Web(resolve=dns(**known, mixed_test="9.9.9.9 10.0.0.1"))

    with pytest.raises(ParameterError, match=sentence):
        web.fetch(url, tmp_path)

    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("9.9.9.9", True),
        ("2606:4700::1111", True),
        ("64:ff9b::9.9.9.9", True),
        ("64:ff9b::a9fe:a9fe", False),
        ("2002:7f00:1::", False),
        ("::127.0.0.1", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("100.64.0.1", False),
        ("169.254.169.254", False),
        ("224.0.0.1", False),
        ("0.0.0.0", False),
    ],
)
def test_which_addresses_are_public(address: str, public: bool) -> None:
    assert is_public(address) is public


def test_plain_http_is_refused_for_other_machines(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="must begin with https://"):
        Web(private=True, resolve=dns(pictures_test="9.9.9.9")).fetch(
            "http://pictures.test/a.png", tmp_path
        )


def test_the_checked_ip_address_is_connected_to(site: Site, tmp_path: Path) -> None:
    site.add("/a.png")
    answers = iter(["127.0.0.1", "127.0.0.1"])  # a third lookup would fail
    web = Web(private=True, resolve=lambda _, port, **__: [(2, 1, 6, "", (next(answers), port))])

    web.fetch(site.url("/a.png", host="pictures.test"), tmp_path)

    assert site.requests[0][1]["Host"] == f"pictures.test:{site.server_port}"


def test_a_redirect_target_is_checked(site: Site, tmp_path: Path) -> None:
    site.add("/a.png", b"", 302, Location="/b.png")
    site.add("/b.png")
    site.add("/inside", b"", 302, Location=site.url("/b.png", host="router.test"))
    site.add("/round", b"", 302, Location="/round")
    site.add("/file", b"", 302, Location="file:///etc/passwd")
    # the test's own site, as if it were a public one
    web = Web(
        public=lambda address: address == "127.0.0.1",
        schemes=("http", "https"),
        resolve=dns(router_test="127.0.0.2"),
    )

    assert web.fetch(site.url("/a.png"), tmp_path).name == "b.png"
    for path, sentence in {
        "/inside": "leads to a private network",
        "/round": "redirects endlessly",
        "/file": "must be like https://host/file",
    }.items():
        with pytest.raises(ParameterError, match=sentence):
            web.fetch(site.url(path), tmp_path)


def test_a_redirect_from_https_to_http_is_refused(site: Site, tmp_path: Path) -> None:
    site.add("/a.png", b"", 302, Location="http://pictures.test/b.png")

    with pytest.raises(ParameterError, match="must begin with https://"):
        Web(private=True, resolve=dns(pictures_test="9.9.9.9")).fetch(site.url("/a.png"), tmp_path)


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        (b"<html>" + b" " * 200, 200, "is not a picture, video or sound, but text/html"),
        (b"<html>", 200, "is not a picture, video or sound, but text/html"),
        (b"", 200, "is not a picture"),
        (PNG, 404, "is not there: the answer is 404"),
        (PNG + b"0" * 2000, 200, "is larger than 0 MB"),
    ],
)
def test_a_response_without_a_medium_is_refused(
    site: Site, tmp_path: Path, body: bytes, status: int, sentence: str
) -> None:
    site.add("/a.png?sig=secret", body, status, Content_Type="text/html; charset=utf-8")

    with pytest.raises(ParameterError, match=sentence) as caught:
        replace(LOCAL, most=2000).fetch(site.url("/a.png?sig=secret"), tmp_path)

    assert "secret" not in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("head", [True, False])
def test_a_slow_response_times_out(site: Site, tmp_path: Path, head: bool) -> None:
    def trickle(handler: Any) -> None:
        if not head:
            handler.send_response(200)
            handler.end_headers()
            handler.wfile.write(PNG)
        try:
            for _ in range(200):
                handler.wfile.write(b"X")
                handler.wfile.flush()
                time.sleep(0.02)
        except OSError:
            pass  # the client has closed the connection

    site.answers["/a.png"] = trickle
    began = time.monotonic()

    with pytest.raises(ParameterError, match=r"takes too long|timed out"):
        replace(LOCAL, seconds=0.3).fetch(site.url("/a.png"), tmp_path)

    assert time.monotonic() - began < 3


def test_a_variable_allows_private_networks() -> None:
    def read_settings(value: str) -> Any:
        return resolve("http://host", "key", environment={"KIT_PRIVATE_MEDIA": value})

    assert read_settings("1").private_media
    assert not read_settings("0").private_media
