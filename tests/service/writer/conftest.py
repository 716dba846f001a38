"""A chat endpoint that answers what a test tells it to, well or badly."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from kit.engines.text.offline import ScriptOrder, write_scripts

KEY = "sk-secret-0123456789"


@dataclass(frozen=True)
class Asked:
    """A request as it arrived."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def wanted(self) -> Any:
        """The kind of answer that is asked for, None when nothing is said of it."""
        return self.body.get("response_format", {}).get("type")

    @property
    def facts(self) -> Any:
        """The data of the order."""
        return json.loads(self.body["messages"][1]["content"])

    @property
    def rules(self) -> str:
        return str(self.body["messages"][0]["content"])

    @property
    def last(self) -> str:
        return str(self.body["messages"][-1]["content"])


@dataclass(frozen=True)
class Answer:
    """What is sent back.

    `claims` is another length than the true one, `waits` is set when the answer may be sent.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    claims: int | None = None
    waits: threading.Event | None = None


Reply = Answer | str
App = Callable[[Asked], Reply]


@dataclass
class Model:
    """A model that says what it is told to: the answers in turn, the last one for ever."""

    url: str
    says: list[Reply] = field(default_factory=list)
    app: App | None = None
    asked: list[Asked] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, asked: Asked) -> Answer:
        with self.lock:
            self.asked.append(asked)
            if not self.app:
                said = self.says.pop(0) if len(self.says) > 1 else self.says[0]
        if self.app:
            said = self.app(asked)
        return said if isinstance(said, Answer) else completion(said)


def completion(said: Any, **choice: Any) -> Answer:
    """Return what an endpoint answers when its model says something."""
    message = said if isinstance(said, dict) else {"role": "assistant", "content": said}
    body = {"object": "chat.completion", "choices": [{"index": 0, "message": message, **choice}]}
    return Answer(body=json.dumps(body).encode())


def titled(title: str, hook: str = "Nobody told you this.") -> str:
    return json.dumps({"title": title, "hookAngle": hook})


def scripted(text: str) -> str:
    return json.dumps({"content": text})


@cache
def text_of(seconds: int, seed: int = 1) -> str:
    """Return a text of about so many seconds."""
    order = ScriptOrder(topic="SPACE", title="My Neighbor's Bicycle", duration_seconds=seconds)
    return write_scripts(order, seed=seed)[0]


@pytest.fixture
def model() -> Iterator[Model]:
    """A model behind an endpoint on loopback."""
    with_it = Model("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1
        disable_nagle_algorithm = True

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_POST(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            raw = self.rfile.read(int(headers["content-length"]))
            answer = with_it.answer(Asked(self.path, headers, json.loads(raw)))
            if answer.waits:
                answer.waits.wait(20)
            length = len(answer.body) if answer.claims is None else answer.claims
            try:
                self.send_response(answer.status)
                for name, value in {"Content-Length": str(length), **answer.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer.body)
                self.wfile.flush()
            except OSError:  # nobody waits any more
                pass
            self.close_connection = length != len(answer.body)

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            """Some callers are meant to hang up."""

    http = Quiet(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    with_it.url = f"http://127.0.0.1:{http.server_port}/v1"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield with_it
    http.shutdown()
    thread.join()
    http.server_close()
