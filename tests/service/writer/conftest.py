"""A chat endpoint that sends the responses of a test, valid or not."""

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
class ChatRequest:
    """A request as it arrived."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def format(self) -> Any:
        """The requested response format; None if there is none."""
        return self.body.get("response_format", {}).get("type")

    @property
    def facts(self) -> Any:
        """The order as data."""
        return json.loads(self.body["messages"][1]["content"])

    @property
    def rules(self) -> str:
        return str(self.body["messages"][0]["content"])

    @property
    def last(self) -> str:
        return str(self.body["messages"][-1]["content"])


@dataclass(frozen=True)
class Answer:
    """A response of the endpoint.

    `claims` is a wrong content length; the response is sent once `waits` is set.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    claims: int | None = None
    waits: threading.Event | None = None


Reply = Answer | str
App = Callable[[ChatRequest], Reply]


@dataclass
class Model:
    """A model with given replies: in turn, the last one repeatedly."""

    url: str
    replies: list[Reply] = field(default_factory=list)
    app: App | None = None
    requests: list[ChatRequest] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, asked: ChatRequest) -> Answer:
        with self.lock:
            self.requests.append(asked)
            if not self.app:
                reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if self.app:
            reply = self.app(asked)
        return reply if isinstance(reply, Answer) else complete(reply)


def complete(content: Any, **choice: Any) -> Answer:
    """Return the response of an endpoint to a message of its model."""
    message = content if isinstance(content, dict) else {"role": "assistant", "content": content}
    body = {"object": "chat.completion", "choices": [{"index": 0, "message": message, **choice}]}
    return Answer(body=json.dumps(body).encode())


def as_title(title: str, hook: str = "Nobody told you this.") -> str:
    return json.dumps({"title": title, "hookAngle": hook})


def as_script(text: str) -> str:
    return json.dumps({"content": text})


@cache
def text_of(seconds: int, seed: int = 1) -> str:
    """Return a text of about a number of seconds."""
    order = ScriptOrder(topic="SPACE", title="My Neighbor's Bicycle", duration_seconds=seconds)
    return write_scripts(order, seed=seed)[0]


@pytest.fixture
def model() -> Iterator[Model]:
    """A model behind an endpoint on loopback."""
    model_state = Model("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1
        disable_nagle_algorithm = True

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_POST(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            raw = self.rfile.read(int(headers["content-length"]))
            answer = model_state.answer(ChatRequest(self.path, headers, json.loads(raw)))
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
            except OSError:  # the client has closed the connection
                pass
            self.close_connection = length != len(answer.body)

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            """Ignore clients that close the connection."""

    http = Quiet(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    model_state.url = f"http://127.0.0.1:{http.server_port}/v1"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield model_state
    http.shutdown()
    thread.join()
    http.server_close()
