"""A small server that sends the responses of a test, and records the requests."""

import json
import struct
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from kit.engines.base import CanceledError, Engine, Job, Progress

#: The type of the fixture `job`, which creates jobs.
Jobs = Callable[..., Job]


@dataclass(frozen=True)
class SentRequest:
    """A request that arrived."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Answer:
    """A response; `claims` is a wrong content length, it is sent once `waits` is set."""

    status: int = 200
    body: Any = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    claims: int | None = None
    waits: threading.Event | None = None

    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass
class Server:
    """Responses by (method, path): each request gets the next one, the last one repeatedly."""

    url: str
    routes: dict[tuple[str, str], list[Answer]] = field(default_factory=dict)
    requests: list[SentRequest] = field(default_factory=list)
    arrived: threading.Event = field(default_factory=threading.Event)

    def on(self, method: str, path: str, *answers: Answer) -> None:
        self.routes[method, path] = list(answers)

    def answer(self, asked: SentRequest) -> Answer:
        self.requests.append(asked)
        self.arrived.set()
        answers = self.routes.get((asked.method, asked.path))
        if not answers:
            return Answer(404, {"error": {"message": f"no {asked.method} {asked.path} here"}})
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def to(self, method: str, path: str) -> list[SentRequest]:
        return [one for one in self.requests if (one.method, one.path) == (method, path)]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    serving: Server

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        answer = self.serving.answer(SentRequest(self.command, self.path, dict(self.headers), body))
        if answer.waits is not None:
            answer.waits.wait(20)
        content = answer.content()
        try:
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(answer.claims or len(content)))
            self.end_headers()
            self.wfile.write(content)
        except ConnectionError:
            pass  # the client has disconnected
        if answer.claims is not None:
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815 - names of the standard library

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def serve() -> Iterator[Callable[[], Server]]:
    """Start small servers; they stop at the end of the test."""
    running: list[ThreadingHTTPServer] = []

    def start() -> Server:
        handler = type("Handler", (_Handler,), {})
        listener = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        listener.daemon_threads = True
        server = Server(f"http://127.0.0.1:{listener.server_address[1]}")
        handler.serving = server
        threading.Thread(target=listener.serve_forever, args=(0.02,), daemon=True).start()
        running.append(listener)
        return server

    yield start
    for listener in running:
        listener.shutdown()
        listener.server_close()


@pytest.fixture
def server(serve: Callable[[], Server]) -> Server:
    """One small server."""
    return serve()


def cancel_during_request(
    server: Server,
    render: Callable[[Progress], Any],
    answered: threading.Event,
    *,
    after: float,
    within: float,
) -> None:
    """Cancel a job during a request, which gets its response some seconds later.

    The job must end within some seconds after the cancel.
    """
    server.arrived.clear()
    progress = Progress()
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(render, progress)
        assert server.arrived.wait(10)
        progress.cancel()
        threading.Timer(after, answered.set).start()
        with pytest.raises(CanceledError):
            ended.result(within)


@pytest.fixture
def job(tmp_path: Path) -> Jobs:
    """Create jobs, each with its own folder."""
    count = iter(range(100))

    def make(prompt: str = "a lake", *, seed: int = 7, **more: Any) -> Job:
        folder = tmp_path / f"job{next(count)}"
        folder.mkdir()
        return Job(
            prompt=prompt, parameters=more.pop("parameters", {}), folder=folder, seed=seed, **more
        )

    return make


def build(server: Server, kind: Any, folder: Path, **more: Any) -> Engine:
    """Return the engine of an entry of a kind."""
    data = {"id": "far", "url": server.url, "model": "tiny", "price": 1, "pause": 0.01, **more}
    (engine,) = kind(data, folder / "copies", False)
    found: Engine = engine
    return found


def png(width: int = 8, height: int = 6, gray: int = 90) -> bytes:
    """Return a small gray picture as a file."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    row = b"\0" + bytes([gray]) * 3 * width
    body = chunk(b"IDAT", zlib.compress(row * height)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + body


@pytest.fixture(scope="session")
def mp4(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A clip of half a second as a file."""
    import numpy as np

    from kit.engines.media.clip import Clip, rgb_frame

    path = tmp_path_factory.mktemp("clips") / "clip.mp4"
    with Clip(path, 32, 16, fps=10) as clip:
        for number in range(5):
            clip.add(rgb_frame(np.full((16, 32, 3), number * 40, np.uint8)))
    return path.read_bytes()
