"""Another implementation of the API document, on loopback, that fills its gaps differently.

Other success codes, a missing model group, unknown types and statuses, nulls, extra
fields, no additive path, header or field. Media go to and come from a second origin.
"""

from __future__ import annotations

import io
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from PIL import Image

KEY = "tp_test_0123456789abcdef"


@dataclass(frozen=True)
class Request:
    """A received request; header names in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Answer:
    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    drop: bool = False  # close the connection without an answer
    cut: int | None = None  # close it after so many bytes of the body

    @property
    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


App = Callable[[Request], Answer]


@dataclass
class Server:
    """A loopback server that records its requests and sends scripted answers first."""

    app: App
    url: str = ""
    seen: list[Request] = field(default_factory=list)
    scripted: dict[tuple[str, str], list[Answer]] = field(default_factory=dict)

    def answer(self, request: Request) -> Answer:
        self.seen.append(request)
        scripted = self.scripted.get((request.method, request.path.partition("?")[0]))
        return scripted.pop(0) if scripted else self.app(request)

    def script(self, method: str, path: str, *answers: Answer) -> None:
        self.scripted.setdefault((method, path), []).extend(answers)

    def requests(self, method: str, path: str = "") -> list[Request]:
        return [s for s in self.seen if s.method == method and s.path.startswith(path)]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # without these, headers and body leave in two packets and the second waits for an ACK
    wbufsize = -1
    disable_nagle_algorithm = True
    loopback: Server

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _serve(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, self.path, headers, self.rfile.read(length))
        answer = self.loopback.answer(request)
        if answer.drop:
            self.close_connection = True
            return
        self.send_response(answer.status)
        content = b"" if answer.status == 304 else answer.content
        for name, value in {"Content-Type": "application/json", **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: answer.cut])
        self.wfile.flush()
        self.close_connection = answer.cut is not None

    do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815 - the names are http.server's


@contextmanager
def serve(app: App) -> Iterator[Server]:
    """Serve an application on a free port of loopback."""
    server = Server(app)
    handler = type("Handler", (_Handler,), {"loopback": server})
    http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    http.daemon_threads = True
    server.url = f"http://127.0.0.1:{http.server_port}"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


def png(color: str = "teal", size: tuple[int, int] = (24, 16)) -> bytes:
    """Return a small picture."""
    buffer = io.BytesIO()
    Image.new("RGB", size, color).save(buffer, "PNG")
    return buffer.getvalue()


MODELS = [
    {
        "id": "paint",
        "title": "Paint",
        "assetType": "image",
        "category": "Generation",
        "supportsPrompt": True,
        "promptRequired": True,
        "mediaParameters": None,
        "settingParameters": [
            {"name": "size", "type": "int64", "required": False, "default": 512, "enum": None},
            {"name": "style", "type": "string", "enum": ["oil", "ink"], "default": "oil"},
            {"name": "steps", "type": "integer", "minimum": 1, "maximum": 50, "default": 20},
        ],
        "creditsFrom": 0.1,
        "creditsAtDefaults": 0.25,
        "estimatedCredits": None,
        "supportsMultiReferenceMedia": None,
        "vendor": {"something": "else"},
    },
    {
        "id": "retouch",
        "title": None,
        "assetType": "image",
        "mediaParameters": [
            {"name": "picture", "type": "image", "required": True, "media": True},
            {"name": "hints", "type": "image", "media": True, "maxItems": 3},
        ],
        "supportsPrompt": False,
        "creditsFrom": None,
    },
]


@dataclass
class ThirdParty:
    """The application and its generations.

    `media` is the URL of the other origin; `polls` is how many polls a generation takes, and
    `states` are the statuses it goes through; `facts` adds fields to the answer.
    """

    media: str
    polls: int = 2
    states: tuple[str, ...] = ("queued", "rendering", "succeeded")
    error: Any = None
    facts: Callable[[dict[str, Any]], dict[str, Any]] = lambda _: {}
    orders: dict[str, dict[str, Any]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    by_key: dict[str, str] = field(default_factory=dict)

    def __call__(self, request: Request) -> Answer:
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return problem(401, "invalid_api_key", "who are you?")
        path = request.path.partition("?")[0]
        for method, pattern, answer in self.routes():
            match = re.fullmatch(pattern, path)
            if match and method == request.method:
                return answer(request, *match.groups())
        return problem(404, "not_found", "no such thing")

    def routes(self) -> list[tuple[str, str, Callable[..., Answer]]]:
        return [
            ("GET", "/v1/account", lambda _: Answer(200, {"id": "a1", "name": "Ada", "plan": "x"})),
            ("GET", "/v1/creative-studio/models", lambda _: Answer(200, {"image": MODELS})),
            ("GET", "/v1/creative-studio/generations", self.list_all),
            ("POST", "/v1/creative-studio/generations", self.start),
            ("GET", r"/v1/creative-studio/generations/([\w-]+)", self.get),
            ("POST", "/v1/creative-studio/media-uploads", self.issue_ticket),
            ("POST", "/v1/scripts/title", lambda _: Answer(202, {"title": "T", "hookAngle": None})),
            ("POST", "/v1/scripts", lambda _: Answer(200, [{"id": "s1", "content": "Hello you"}])),
        ]

    def start(self, request: Request) -> Answer:
        with self.lock:  # starts of several threads have different numbers
            number = f"job-{len(self.orders) + 1}"
            self.orders[number] = {**request.json, "polled": 0}
        receipt = {"id": number, "status": "accepted", "creditsCharged": 0.25, "eta": 3}
        return Answer(200, receipt)

    def get(self, _: Request, number: str) -> Answer:
        if number not in self.orders:
            return problem(404, "not_found", "no such job")
        order = self.orders[number]
        order["polled"] += 1
        return Answer(200, self.to_json(number, order))

    def list_all(self, _: Request) -> Answer:
        orders = [*self.orders.items()]
        for _, order in orders:
            order["polled"] += 1
        return Answer(200, [self.to_json(n, o) for n, o in reversed(orders)])

    def to_json(self, number: str, order: dict[str, Any]) -> dict[str, Any]:
        done = order["polled"] >= self.polls
        word = self.states[-1] if done else self.states[min(order["polled"], len(self.states) - 2)]
        return {
            "id": number,
            "status": word,
            "assetType": "image",
            "modelId": order["modelId"],
            "prompt": order.get("prompt"),
            "parameters": order.get("parameters"),
            "outputUrl": f"{self.media}/out/{number}.png?sig=abc"
            if done and not self.error
            else None,
            "error": self.error if done else None,
            "createdAt": "2026-01-02T03:04:05",
            "updatedAt": "2026-01-02T03:04:09+00:00",
            "extra": [1, 2],
            **self.facts(order),
        }

    def issue_ticket(self, request: Request) -> Answer:
        return Answer(
            200,
            {
                "uploadId": f"u-{request.json['fileName']}",
                "uploadUrl": f"{self.media}/in/{request.json['fileName']}",
                "method": "PUT",
                "requiredHeaders": {"Content-Type": request.json["contentType"], "X-Signed": "yes"},
                "expiresAt": None,
            },
        )


def storage(request: Request) -> Answer:
    """The other origin: accepts every upload and serves one picture."""
    if request.method == "PUT":
        return Answer(204, b"")
    return Answer(200, png(), {"Content-Type": "image/png"})


def problem(status: int, code: str, message: str, **headers: str) -> Answer:
    """Return an error in the document's envelope."""
    return Answer(status, {"error": {"code": code, "message": message}}, headers)
