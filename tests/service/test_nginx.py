"""The kit's configuration for nginx, run by a real nginx with TLS."""

import os
import random
import re
import shutil
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path

import httpx
import pytest

from tests.conftest import ALL_SCOPES, Service
from tests.ports import free_port
from tests.service.http.test_events import parse_events
from tests.uploading import create_ticket, png
from tests.waiting import GENERATIONS, generate, until, wait_for_end, wait_for_start

CONFIGURATION = (files("kit") / "deploy" / "nginx.conf").read_text(encoding="utf-8")
NGINX = shutil.which("nginx", path=os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin")))
OPENSSL = shutil.which("openssl")
MAIN = """
{user}
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/studio.conf;
}}
"""

pytestmark = pytest.mark.skipif(
    not (NGINX and OPENSSL) and os.environ.get("KIT_TEST_NGINX") != "required",
    reason="there is no nginx here, or no openssl to make a certificate",
)


@dataclass(frozen=True)
class Proxied:
    """The service behind nginx."""

    service: Service
    url: str
    plain: str
    trust: ssl.SSLContext

    def client(self, key: str | None = None) -> httpx.Client:
        """Return a client that trusts only nginx's certificate."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60, verify=self.trust)


def make_certificate(folder: Path) -> ssl.SSLContext:
    """Make a certificate for this machine and return a context that trusts it."""
    command = [OPENSSL or "openssl", "req", "-x509", "-newkey", "ec", "-nodes", "-days", "1"]
    command += ["-pkeyopt", "ec_paramgen_curve:prime256v1", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost"]
    command += ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run(command, check=True, capture_output=True)
    return ssl.create_default_context(cafile=str(folder / "cert.pem"))


def adapt_configuration(folder: Path, backend: str, secure: int, plain: int) -> str:
    """Return the configuration with all values changed that are marked CHANGE."""
    text = CONFIGURATION
    for before, after in (
        ("127.0.0.1:8000", backend),
        ("listen 80;", f"listen 127.0.0.1:{plain};"),
        ("listen 443 ssl", f"listen 127.0.0.1:{secure} ssl"),
        ("studio.example.org;", "localhost;"),
        ("/etc/ssl/studio.pem", str(folder / "cert.pem")),
        ("/etc/ssl/studio.key", str(folder / "key.pem")),
    ):
        assert before in text
        text = text.replace(before, after)
    return text


@pytest.fixture
def proxied(start_service: Callable[..., Service], tmp_path: Path) -> Iterator[Proxied]:
    """The service behind nginx, with nginx's URL as its public URL."""
    folder = tmp_path / "nginx"
    folder.mkdir()
    secure, plain = free_port(), free_port()
    url = f"https://localhost:{secure}"
    service = start_service(public_url=url)
    backend = service.url.removeprefix("http://")
    trust = make_certificate(folder)
    ready = Proxied(service, url, f"http://localhost:{plain}", trust)
    with run_nginx(folder, adapt_configuration(folder, backend, secure, plain)):
        until(lambda: is_healthy(ready))
        yield ready


@contextmanager
def run_nginx(folder: Path, configuration: str) -> Iterator[None]:
    (folder / "studio.conf").write_text(configuration)
    user = "user root;" if hasattr(os, "geteuid") and os.geteuid() == 0 else ""
    (folder / "main.conf").write_text(MAIN.format(folder=folder, user=user))
    process = subprocess.Popen(
        [NGINX or "nginx", "-p", str(folder), "-c", str(folder / "main.conf")],
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
        assert process.poll() is None
    finally:
        process.terminate()
        process.wait(20)


def is_healthy(proxied: Proxied) -> bool:
    with proxied.client() as http:
        try:
            return http.get("/healthz").status_code == 200
        except httpx.TransportError:
            return False


@pytest.fixture
def http(proxied: Proxied) -> Iterator[httpx.Client]:
    """A client with a key, through nginx."""
    service = proxied.service
    with proxied.client(service.key(service.account(), *ALL_SCOPES)) as client:
        yield client


def test_every_url_in_a_response_goes_through_nginx(proxied: Proxied, http: httpx.Client) -> None:
    answer = http.post(GENERATIONS, json={"modelId": "flat", "prompt": "a lake"})
    receipt = answer.json()
    done = wait_for_end(http, receipt["id"])
    output = http.get(done["outputUrl"])
    page = http.get(GENERATIONS, params={"limit": 1})

    assert answer.status_code == 202
    for url in (receipt["statusUrl"], answer.headers["Location"], done["outputUrl"]):
        assert url.startswith(f"{proxied.url}/")
    assert http.get(receipt["statusUrl"]).json()["id"] == done["id"]
    assert (output.status_code, output.headers["Content-Type"]) == (200, "image/png")
    assert page.status_code == 200
    assert "max-age" in output.headers["Strict-Transport-Security"]


def test_uploads_of_several_megabytes_are_accepted(proxied: Proxied, http: httpx.Client) -> None:
    picture = png() + random.Random(7).randbytes(8_000_000)
    ticket = create_ticket(http, picture)
    assert ticket["uploadUrl"].startswith(f"{proxied.url}/media/")
    with proxied.client() as nobody:
        answer = nobody.put(ticket["uploadUrl"], content=picture, headers=ticket["requiredHeaders"])
    assert answer.status_code == 200, answer.text
    media = {"portrait": ticket["uploadId"]}
    body = {"modelId": "clay", "mediaUploads": media, "fileMetadata": False}
    done = wait_for_end(http, http.post(GENERATIONS, json=body).json()["id"])

    assert done["status"] == "completed"
    assert http.get(done["outputUrl"]).content == picture


def test_events_are_not_buffered(http: httpx.Client) -> None:
    generation_id = generate(http, does="hangs")
    wait_for_start(http, generation_id)
    with http.stream("GET", f"{GENERATIONS}/{generation_id}/events") as answer:
        seen = parse_events(answer.iter_lines())
        # If nginx buffered them, none would arrive before the end.
        first = next(event for event in seen if event.name == "progress")
        http.post(f"{GENERATIONS}/{generation_id}/cancel")
        last = list(seen)[-1]

    assert first.data == {"progress": 0.5}
    assert last.data["status"] == "canceled"


def test_long_polling_and_etags_work_through_nginx(http: httpx.Client) -> None:
    generation_id = generate(http)
    held = http.get(f"{GENERATIONS}/{generation_id}", headers={"Prefer": "wait=30"})
    again = http.get(
        f"{GENERATIONS}/{generation_id}", headers={"If-None-Match": held.headers["ETag"]}
    )

    assert (held.json()["status"], held.headers["Preference-Applied"]) == ("completed", "wait=30")
    assert again.status_code == 304


def test_pauses_between_requests_break_no_connection_to_the_service(http: httpx.Client) -> None:
    answers = []
    for pause in (0, 0, 4.2, 5.2, 0):
        time.sleep(pause)
        order = {"modelId": "flat", "prompt": "a lake"}
        answers.append(http.post(GENERATIONS, json=order).status_code)

    assert answers == [202] * 5


def test_metrics_and_plain_http_are_refused(proxied: Proxied, http: httpx.Client) -> None:
    assert http.get("/metrics").status_code == 404
    assert httpx.get(f"{proxied.plain}/v1/account", headers=http.headers).status_code == 403


def test_errors_of_nginx_have_the_form_of_the_service(proxied: Proxied, http: httpx.Client) -> None:
    with ThreadPoolExecutor(8) as threads:
        answers = [*threads.map(lambda _: http.get("/healthz"), range(1500))]
    limited = next(it for it in answers if it.status_code != 200)
    too_large = http.post(GENERATIONS, content=b"x" * 3_000_000)
    proxied.service.stop()
    gone = http.get("/v1/account")

    codes = {429: "rate_limited", 413: "payload_too_large", 502: "unavailable"}
    for answer, status in zip((limited, too_large, gone), codes, strict=True):
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, codes[status])
    assert int(limited.headers["Retry-After"]) >= 1


def test_forwarded_headers_of_a_client_are_ignored(proxied: Proxied, http: httpx.Client) -> None:
    forged = {"X-Forwarded-Proto": "http", "X-Forwarded-For": "192.0.2.1", "Host": "elsewhere"}
    answer = http.post(GENERATIONS, json={"modelId": "flat", "prompt": "x"}, headers=forged)

    assert answer.json()["statusUrl"].startswith(f"{proxied.url}/")


class Ok(BaseHTTPRequestHandler):
    """A service that answers any request."""

    def do_GET(self) -> None:
        self.send_response(204)
        self.end_headers()


@contextmanager
def serve_ok(port: int) -> Iterator[None]:
    server = ThreadingHTTPServer(("127.0.0.1", port), Ok)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_services_can_be_restarted_one_soon_after_the_other(tmp_path: Path) -> None:
    one, other, secure, plain = (free_port() for _ in range(4))
    trust = make_certificate(tmp_path)
    text = adapt_configuration(tmp_path, f"127.0.0.1:{one}", secure, plain)
    line = re.search(rf"server 127.0.0.1:{one}.*?;", text)
    assert line is not None
    text = text.replace(line[0], line[0] + line[0].replace(str(one), str(other)))

    def status() -> int:
        with httpx.Client(verify=trust) as http:
            try:
                return http.get(f"https://localhost:{secure}/readyz").status_code
            except httpx.ConnectError:  # nginx is not ready
                return 0

    with run_nginx(tmp_path, text), ExitStack() as first:
        first.enter_context(serve_ok(one))
        with serve_ok(other):
            assert until(status) == 204
        assert [status() for _ in range(6)] == [204] * 6, "the first one is used"
        with serve_ok(other):
            first.close()
            until(status, lambda found: found == 204, seconds=6)
