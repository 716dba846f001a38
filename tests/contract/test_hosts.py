"""Host names: URLs in answers have the service's own names, or else are relative."""

import asyncio
import io
import threading
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from PIL import Image

import kit
from kit.client.addresses import absolute_url
from kit.service import settings
from tests.conftest import ALL_SCOPES, Service
from tests.waiting import GENERATIONS, generate, wait_for_end

UPLOADS = "/v1/creative-studio/media-uploads"
TICKET = {"modelId": "retouch", "fileName": "a.png", "contentType": "image/png", "fileSizeBytes": 5}
ORDER = {"modelId": "flat", "prompt": "a lake", "parameters": {"does": "works"}}
FOREIGN = ["evil.example", "evil.example:8000", "localhost.evil.example", 'a"<b>', "", "10.0.0.1"]


@pytest.fixture
def finished(http: httpx.Client) -> dict[str, object]:
    return wait_for_end(http, generate(http))


@pytest.mark.parametrize("host", FOREIGN)
def test_an_unknown_host_name_is_not_used_in_urls(
    http: httpx.Client, guest: httpx.Client, finished: dict[str, object], host: str
) -> None:
    headers = {"Host": host}
    generate(http)
    listed = http.get(GENERATIONS, params={"limit": 1}, headers=headers)
    receipt = http.post(GENERATIONS, json=ORDER, headers=headers)
    ticket = http.post(UPLOADS, json=TICKET, headers=headers).json()
    one = http.get(f"{GENERATIONS}/{finished['id']}", headers=headers).json()

    assert receipt.json()["statusUrl"] == receipt.headers["Location"]
    assert receipt.json()["statusUrl"] == f"{GENERATIONS}/{receipt.json()['id']}"
    assert listed.headers["Link"].startswith(f"<{GENERATIONS}?")
    assert ticket["uploadUrl"].startswith("/media/uploads/")
    assert one["outputUrl"].startswith("/media/outputs/")
    assert guest.get(one["outputUrl"]).content == guest.get(str(finished["outputUrl"])).content


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:9", "127.0.0.1:1", "[::1]:8000"])
def test_loopback_names_are_used_in_urls(
    http: httpx.Client, finished: dict[str, object], host: str
) -> None:
    one = http.get(f"{GENERATIONS}/{finished['id']}", headers={"Host": host}).json()

    assert one["outputUrl"].startswith(f"http://{host}/media/outputs/")


def test_allowed_host_names_are_used_in_urls(start_service: Callable[..., Service]) -> None:
    names = settings.load({"KIT_ALLOWED_HOSTS": " Studio.example.org,,[fe80::1] "}).allowed_hosts
    service = start_service(allowed_hosts=names, workers=0)
    with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
        for host in ("studio.example.org:8443", "[fe80::1]"):
            receipt = http.post(GENERATIONS, json=ORDER, headers={"Host": host}).json()
            assert receipt["statusUrl"].startswith(f"http://{host}{GENERATIONS}/")
        headers = {"Host": "studio.example.org", "X-Forwarded-Proto": "https"}
        receipt = http.post(GENERATIONS, json=ORDER, headers=headers).json()
        assert receipt["statusUrl"].startswith("https://studio.example.org/v1/")


class _Proxy(BaseHTTPRequestHandler):
    """Forwards requests to the service with a host name that it does not know."""

    protocol_version = "HTTP/1.1"
    target = ""

    def _forward(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        connection = HTTPConnection(self.target)
        connection.request(self.command, self.path, body, {**self.headers, "Host": "studio:80"})
        answer = connection.getresponse()
        content = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
        connection.close()

    do_GET = do_POST = do_PUT = _forward  # noqa: N815 - the names are http.server's

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def proxy(service: Service) -> Iterator[str]:
    """The URL of a proxy in front of the service."""
    handler = type("Handler", (_Proxy,), {"target": urlsplit(service.url).netloc})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_the_client_resolves_relative_urls(proxy: str, key: str, tmp_path: Path) -> None:
    picture = io.BytesIO()
    Image.new("RGB", (320, 200), "teal").save(picture, "PNG")
    with kit.connect(proxy, key, data=tmp_path) as studio:
        made = studio.generate("poster", "a lake", size=512, seed=1)
        sharper = studio.generate("retouch", media=picture.getvalue(), operation="sharpen")

        assert made.facts.output_url.startswith("/media/")
        assert made.output.url.startswith(f"{proxy}/media/outputs/")
        assert httpx.get(made.output.url, verify=False).content == made.output.bytes()
        assert sharper.output.bytes()
        assert len(studio.history.list(None)) == 2

    async def download_again() -> bytes:
        async with await kit.aconnect(proxy, key, data=tmp_path / "other") as studio:
            [_, again] = await studio.history.list(2)
            return bytes(await again.output.bytes())

    assert asyncio.run(download_again()) == made.output.bytes()


def test_the_client_keeps_a_path_prefix_that_a_proxy_strips() -> None:
    assert absolute_url("https://hub/user/a", "/media/x?y=1") == "https://hub/user/a/media/x?y=1"
    assert absolute_url("https://hub/user/a", "/user/a/media/x") == "https://hub/user/a/media/x"
    assert absolute_url("https://hub/user/a", "//cdn/x") == "https://cdn/x"
    for same in ("https://cdn/x", "http://cdn/x", "http://hub:8000/x", "https://hub/x"):
        assert absolute_url("https://hub/user/a", same) == same
    for port in ("", ":8443"):
        assert absolute_url("https://hub:8443/a", f"http://hub{port}/x") == "https://hub:8443/x"
