"""Every operation, by a stranger after the owner: the owner's data is not seen or changed.

The owner sends each request twice first, so that cached answers would be found.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from kit.service import server, settings
from kit.service.app import create_app
from kit.service.settings import ServiceSettings
from tests.conftest import ALL_SCOPES, PLUGINS, Service
from tests.uploading import png
from tests.waiting import GENERATIONS, generate, wait_for_end

STUDIO = "/v1/creative-studio"
UPLOADS = f"{STUDIO}/media-uploads"
SECRET = "the owner's own lake"
TICKET = {"fileName": "a.png", "contentType": "image/png", "modelId": "clay"}
BRIEF = {"topic": "SPACE", "title": SECRET, "duration": "20"}


@dataclass(frozen=True)
class Tenant:
    """An account with one of everything.

    Parameters
    ----------
    posts : mapping
        Its requests with an idempotency key, and their answers.
    marks : list of str
        Texts that no answer to another account may have.
    """

    http: httpx.Client
    done: dict[str, Any]
    busy: str
    canceled: str
    upload: str
    ticket: dict[str, Any]
    entry: str
    webhook: str
    posts: Mapping[str, tuple[Any, bytes]]
    marks: list[str]

    def view(self) -> list[Any]:
        """Return what the account sees of itself, without what changes with time."""
        replies = {path: post(self.http, path, body) for path, (body, _) in self.posts.items()}
        listed = self.http.get(GENERATIONS).json()
        return [
            self.http.get("/v1/account").content,
            self.http.get("/v1/account/credits").content,
            self.http.get("/v1/usage").content,
            self.http.get("/v1/webhooks").content,
            [(it["id"], it["status"], it["outputUrl"] and get_path(it)) for it in listed],
            [
                (answer.content, answer.headers["Idempotency-Replayed"])
                for answer in replies.values()
            ],
        ]


def post(http: httpx.Client, path: str, body: Any) -> httpx.Response:
    """Send the request of a tenant with the same idempotency key."""
    return http.post(
        path, json=body, headers={"Idempotency-Key": "the-same" + path.replace("/", ".")}
    )


def get_path(generation: dict[str, Any]) -> str:
    return httpx.URL(generation["outputUrl"]).path


def upload_file(http: httpx.Client) -> str:
    ticket = http.post(UPLOADS, json={**TICKET, "fileSizeBytes": len(png())}).json()
    sent = httpx.put(
        ticket["uploadUrl"], content=png(), headers=ticket["requiredHeaders"], verify=False
    )
    assert sent.status_code == 200, sent.text
    return str(ticket["uploadId"])


def make_tenant(service: Service, name: str, secret: str) -> Tenant:
    """Make an account with a finished, a running and a canceled generation, and more."""
    account = service.account(100, name)
    key = service.key(account, *ALL_SCOPES)
    http = service.client(key)
    upload = upload_file(http)
    body = {"modelId": "clay", "mediaUploads": {"portrait": upload}}
    done = wait_for_end(http, http.post(GENERATIONS, json=body).json()["id"])
    wait_for_end(http, generate(http, prompt=secret))
    busy = generate(http, does="hangs", prompt=secret)
    waiting = generate(http, does="hangs", prompt=secret)
    ticket = http.post(UPLOADS, json={**TICKET, "fileSizeBytes": len(png())}).json()
    requests = {
        GENERATIONS: {"modelId": "flat", "prompt": secret, "parameters": {"does": "fails"}},
        f"{GENERATIONS}/{waiting}/cancel": None,
        UPLOADS: {**TICKET, "fileSizeBytes": len(png())},
        "/v1/scripts/title": {"topic": "SPACE"},
        "/v1/scripts": {**BRIEF, "title": secret},
    }
    posts = {path: (body, post(http, path, body)) for path, body in requests.items()}
    assert all(answer.is_success for _, answer in posts.values()), posts
    wait_for_end(http, posts[GENERATIONS][1].json()["id"])
    entries = http.get("/v1/usage").json()
    hook = http.post("/v1/webhooks", json={"url": "https://studio.example/ends"}).json()
    marks = [account, key[:12], name, secret, upload, get_path(done), ticket["uploadId"]]
    marks += [hook["id"], hook["secret"]]
    marks += [it["id"] for it in http.get(GENERATIONS).json()] + [it["id"] for it in entries]
    marks += [posts[UPLOADS][1].json()["uploadId"], posts["/v1/scripts"][1].json()[0]["id"]]
    answers = {path: (body, answer.content) for path, (body, answer) in posts.items()}
    entry = entries[0]["id"]
    return Tenant(http, done, busy, waiting, upload, ticket, entry, hook["id"], answers, marks)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service of this module's own, because the owner keeps one of its two workers busy."""
    data = tmp_path_factory.mktemp("tenants") / "data"
    limits = {"requests_per_minute": 100_000, "starts_per_minute": 100_000}
    service_settings = settings.load({}, data=data, workers=2, grace_seconds=0, **limits)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(
            "PYTHONPATH", PLUGINS
        )  # earlier than the fixture that does so for a test
        one = server.start(service_settings)
        yield Service(one.url, one.app.state.context, service_settings, one.stop)
        one.stop()


@pytest.fixture(scope="module")
def owner(service: Service) -> Iterator[Tenant]:
    """An account with everything."""
    tenant = make_tenant(service, "Olga Owner", SECRET)
    yield tenant
    tenant.http.close()


@pytest.fixture(scope="module")
def stranger(service: Service) -> Iterator[httpx.Client]:
    """An account with seven credits and a finished generation."""
    with service.client(service.key(service.account(7, "Sam Stranger"), *ALL_SCOPES)) as http:
        wait_for_end(http, generate(http))
        yield http


Ask = Callable[[httpx.Client, Tenant], httpx.Response]


@dataclass(frozen=True)
class Row:
    """A request that a stranger makes with the owner's ids.

    Parameters
    ----------
    status : int
        Status of the answer to the stranger.
    shown : bool
        Whether the answer to the owner's same request shows the owner's data.
    equal : object
        The exact answer to the stranger, where it is known.
    """

    ask: Ask
    status: int
    shown: bool = False
    equal: Any = ...


def get(path: str, **headers: str) -> Ask:
    """Return a GET request of a path with the owner's ids."""

    return send("GET", path, **headers)


def send(method: str, path: str, **headers: str) -> Ask:
    """Return a request of a path with the owner's ids."""

    def ask(http: httpx.Client, owner: Tenant) -> httpx.Response:
        ids = {"id": owner.done["id"], "busy": owner.busy, "entry": owner.entry}
        return http.request(method, path.format(**ids, hook=owner.webhook), headers=headers)

    return ask


def replay(path: str) -> Ask:
    """Return the owner's request with the same body and idempotency key."""
    return lambda http, owner: post(http, path, owner.posts[path][0])


def use_upload(path: str) -> Ask:
    """Return a request that uses the owner's upload."""

    def ask(http: httpx.Client, owner: Tenant) -> httpx.Response:
        body = {"modelId": "clay", "mediaUploads": {"portrait": owner.upload}}
        return http.post(path, json=body)

    return ask


def get_unchanged(http: httpx.Client, owner: Tenant) -> httpx.Response:
    path = f"{GENERATIONS}/{owner.done['id']}"
    tag = owner.http.get(path).headers["ETag"]
    return http.get(path, headers={"If-None-Match": tag})


def cancel(http: httpx.Client, owner: Tenant) -> httpx.Response:
    return http.post(f"{GENERATIONS}/{owner.busy}/cancel")


def cancel_again(http: httpx.Client, owner: Tenant) -> httpx.Response:
    return post(http, f"{GENERATIONS}/{owner.canceled}/cancel", None)


def add_webhook(http: httpx.Client, owner: Tenant) -> httpx.Response:
    return http.post("/v1/webhooks", json={"url": "https://studio.example/ends"})


def delete_outputs(http: httpx.Client, owner: Tenant) -> httpx.Response:
    return http.delete(f"{GENERATIONS}/{owner.done['id']}/outputs")


def get_unsigned(http: httpx.Client, owner: Tenant) -> httpx.Response:
    return http.get(get_path(owner.done))


def use_own_signature(method: str) -> Ask:
    """Return a request for the owner's file with the signature of the stranger's own file."""

    def ask(http: httpx.Client, owner: Tenant) -> httpx.Response:
        [own] = [it for it in http.get(GENERATIONS).json() if it["status"] == "completed"][:1]
        url = httpx.URL(own["outputUrl"])
        other = url.copy_with(path=get_path(owner.done), params=url.params)
        return http.request(method, other)

    return ask


def put_with_own_ticket(http: httpx.Client, owner: Tenant) -> httpx.Response:
    own = http.post(UPLOADS, json={**TICKET, "fileSizeBytes": len(png())}).json()
    url = httpx.URL(own["uploadUrl"])
    other = url.copy_with(path=httpx.URL(owner.ticket["uploadUrl"]).path, params=url.params)
    return http.put(other, content=png(), headers=own["requiredHeaders"])


ONE = f"{GENERATIONS}/{{id}}"
#: Operation -> requests of a stranger.
ROWS: Mapping[str, Mapping[str, Row]] = {
    "GET /v1/account": {"mine": Row(get("/v1/account"), 200, shown=True)},
    "GET /v1/account/credits": {
        "mine": Row(
            get("/v1/account/credits"),
            200,
            equal={"balance": 6.4, "reserved": 0, "charged30d": 0.6, "refunded30d": 0},
        )
    },
    "GET /v1/usage": {
        "newest": Row(get("/v1/usage"), 200, shown=True),
        "older than the owner's": Row(get("/v1/usage?cursor={entry}"), 200, shown=True),
    },
    f"GET {STUDIO}/models": {"all": Row(get(f"{STUDIO}/models"), 200)},
    f"GET {STUDIO}/models/{{model_id}}": {"one": Row(get(f"{STUDIO}/models/flat"), 200)},
    f"POST {STUDIO}/estimates": {
        "of the owner's file": Row(use_upload(f"{STUDIO}/estimates"), 404)
    },
    f"POST {UPLOADS}": {"replayed": Row(replay(UPLOADS), 201)},
    f"GET {GENERATIONS}": {
        "newest": Row(get(GENERATIONS), 200, shown=True),
        "of a page": Row(get(f"{GENERATIONS}?limit=1000"), 200, shown=True),
        "finished": Row(get(f"{GENERATIONS}?status=completed"), 200, shown=True),
        "unfinished": Row(get(f"{GENERATIONS}?status=processing"), 200, shown=True, equal=[]),
        "of a kind": Row(get(f"{GENERATIONS}?assetType=image"), 200, shown=True),
        "of a model": Row(get(f"{GENERATIONS}?modelId=clay"), 200, shown=True, equal=[]),
        "older than the owner's": Row(get(f"{GENERATIONS}?cursor={{busy}}"), 200, shown=True),
    },
    f"POST {GENERATIONS}": {
        "of the owner's file": Row(use_upload(GENERATIONS), 404),
        "replayed": Row(replay(GENERATIONS), 202),
    },
    f"GET {GENERATIONS}/{{generation_id}}": {
        "finished": Row(get(ONE), 404, shown=True),
        "running": Row(get(f"{GENERATIONS}/{{busy}}"), 404, shown=True),
        "known": Row(get_unchanged, 404),
        "waited for": Row(get(ONE, Prefer="wait=2"), 404, shown=True),
        "running, waited for": Row(
            get(f"{GENERATIONS}/{{busy}}", Prefer="wait=1"), 404, shown=True
        ),
    },
    f"POST {GENERATIONS}/{{generation_id}}/cancel": {
        "running": Row(cancel, 404),
        "replayed": Row(cancel_again, 404),
    },
    f"DELETE {GENERATIONS}/{{generation_id}}/outputs": {"finished": Row(delete_outputs, 404)},
    f"GET {GENERATIONS}/{{generation_id}}/events": {
        "finished": Row(get(f"{ONE}/events"), 404, shown=True),
        "resumed": Row(get(f"{ONE}/events", **{"Last-Event-ID": "99999"}), 404),
    },
    "GET /v1/webhooks": {"all": Row(get("/v1/webhooks"), 200, shown=True, equal=[])},
    "POST /v1/webhooks": {"for itself": Row(add_webhook, 201)},
    "GET /v1/webhooks/{webhook_id}": {"one": Row(get("/v1/webhooks/{hook}"), 404, shown=True)},
    "DELETE /v1/webhooks/{webhook_id}": {"one": Row(send("DELETE", "/v1/webhooks/{hook}"), 404)},
    "POST /v1/webhooks/{webhook_id}/rotate": {
        "one": Row(send("POST", "/v1/webhooks/{hook}/rotate"), 404),
        "of requests": Row(send("POST", "/v1/webhooks/requests/rotate"), 200),
    },
    "POST /v1/scripts/title": {"replayed": Row(replay("/v1/scripts/title"), 200)},
    "POST /v1/scripts": {"replayed": Row(replay("/v1/scripts"), 201)},
    "GET /media/{key:path}": {
        "unsigned": Row(get_unsigned, 400),
        "signed for another": Row(use_own_signature("GET"), 403),
        "head, signed for another": Row(use_own_signature("HEAD"), 403),
    },
    "PUT /media/uploads/{upload_id}": {"signed for another": Row(put_with_own_ticket, 403)},
    **{
        f"GET {path}": {"open to all": Row(get(path), 200)}
        for path in ("/healthz", "/readyz", "/metrics", "/docs", "/openapi.json")
    },
}


@pytest.mark.parametrize(
    ("operation", "name"), [(operation, name) for operation in ROWS for name in ROWS[operation]]
)
def test_a_stranger_cannot_see_or_change_the_owners_data(
    owner: Tenant, stranger: httpx.Client, operation: str, name: str
) -> None:
    row = ROWS[operation][name]
    if row.shown:
        shown = [row.ask(owner.http, owner).text for _ in range(2)]
        assert all(any(mark in text for mark in owner.marks) for text in shown)
    before = owner.view()

    answer = row.ask(stranger, owner)

    assert answer.status_code == row.status, answer.text
    request = f"{answer.request.url} {answer.request.content.decode(errors='replace')}"
    leaked = [mark for mark in owner.marks if mark in answer.text and mark not in request]
    assert not leaked
    assert "Idempotency-Replayed" not in answer.headers
    assert row.equal in (..., answer.json() if row.equal is not ... else None)
    assert owner.view() == before


def test_every_operation_is_requested_by_a_stranger(config: ServiceSettings) -> None:
    found = {f"{it.method} {it.path}" for it in create_app(config).operations}

    assert len(found) > 20
    assert found - ROWS.keys() == set(), "add to ROWS what a stranger gets from it"
    assert ROWS.keys() == found
