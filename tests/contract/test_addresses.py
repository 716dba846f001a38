"""Signed URLs: what they serve and what they refuse."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

import httpx
import pytest
from starlette.types import Message, Receive, Scope, Send

from kit.service.app import create_app
from kit.service.machine import clock
from kit.service.settings import ServiceSettings
from kit.service.storage.signing import Grant, Signer
from tests.conftest import ALL_SCOPES, Service, run_coroutine
from tests.uploading import create_ticket, png, upload_file
from tests.waiting import GENERATIONS, generate, read, wait_for_end

DAY = 24 * 3600


@pytest.fixture
def url(http: httpx.Client) -> str:
    """The URL of a finished output."""
    return str(wait_for_end(http, generate(http))["outputUrl"])


def get_code(answer: httpx.Response) -> str:
    return str(answer.json()["error"]["code"])


def test_an_output_url_needs_no_key(guest: httpx.Client, url: str, http: httpx.Client) -> None:
    answer = guest.get(url)
    output = http.get(GENERATIONS).json()[0]["output"]

    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == output["contentType"] == "image/png"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Accept-Ranges"] == "bytes"
    assert len(answer.content) == output["sizeBytes"]
    assert answer.content.startswith(b"\x89PNG")


def test_a_byte_range_can_be_requested(guest: httpx.Client, url: str) -> None:
    answer = guest.get(url, headers={"Range": "bytes=1-3"})

    assert (answer.status_code, answer.content) == (206, b"PNG")
    assert answer.headers["Content-Range"] == f"bytes 1-3/{len(guest.get(url).content)}"
    assert guest.get(url, headers={"Range": "bytes=-4"}).content == b"\xae\x42\x60\x82"


def test_a_range_beyond_the_end_is_refused(guest: httpx.Client, url: str) -> None:
    length = len(guest.get(url).content)
    answer = guest.get(url, headers={"Range": f"bytes={length}-"})
    problem = answer.json()["error"]

    assert answer.status_code == 416
    assert answer.headers["Content-Range"] == f"bytes */{length}"
    assert problem["code"] == "range_not_satisfiable"
    assert f"{length:,} bytes" in problem["message"]
    assert problem["requestId"] == answer.headers["X-Request-Id"]


def test_head_refuses_a_range_beyond_the_end_without_a_body(guest: httpx.Client, url: str) -> None:
    answer = guest.head(url, headers={"Range": "bytes=999999999-"})

    assert (answer.status_code, answer.content) == (416, b"")
    assert answer.headers["Content-Range"].startswith("bytes */")


def test_a_range_of_another_version_returns_the_whole_file(guest: httpx.Client, url: str) -> None:
    headers = {"Range": "bytes=999999999-", "If-Range": '"x"'}

    assert guest.get(url, headers=headers).status_code == 200


@pytest.mark.parametrize("value", ["bytes=5-2", "bytes=", "bytes=x-1", "bytes"])
def test_an_invalid_range_is_refused(guest: httpx.Client, url: str, value: str) -> None:
    answer = guest.get(url, headers={"Range": value})

    assert answer.status_code == 400
    assert answer.json()["error"]["details"][0]["field"] == "Range"


@pytest.mark.parametrize("value", ["lines=1-2", "bytesx=1-2", ""])
def test_a_range_in_another_unit_is_ignored(guest: httpx.Client, url: str, value: str) -> None:
    answer = guest.get(url, headers={"Range": value})

    assert (answer.status_code, answer.content) == (200, guest.get(url).content)


async def _get_during_deletion(config: ServiceSettings) -> httpx.Response:
    """Request a file that is deleted when the answer starts."""
    app = create_app(replace(config, workers=0))
    async with app.router.lifespan_context(app):
        context = app.state.context
        key = "outputs/01AAA/gen_0-a.png"
        path = context.storage.outputs.path(key)
        path.parent.mkdir(parents=True)
        path.write_bytes(png())

        async def app_with_deletion(scope: Scope, receive: Receive, send: Send) -> None:
            async def delete_and_send(message: Message) -> None:
                with suppress(PermissionError):  # Windows keeps a file that is open
                    path.unlink(missing_ok=True)
                await send(message)

            await app(scope, receive, delete_and_send)

        url = context.signer.address("http://here", Grant("GET", key, clock() // 1000 + DAY))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app_with_deletion)) as guest:
            return await guest.get(url)


def test_a_file_deleted_during_its_download_arrives_whole(config: ServiceSettings) -> None:
    answer = run_coroutine(_get_during_deletion(config))

    assert (answer.status_code, answer.content) == (200, png())


def test_head_has_the_headers_without_the_body(guest: httpx.Client, url: str) -> None:
    head, whole = guest.head(url), guest.get(url)

    assert (head.status_code, head.content) == (200, b"")
    for name in ("Content-Length", "Content-Type", "ETag"):
        assert head.headers[name] == whole.headers[name]


def test_an_unchanged_file_is_answered_with_304(guest: httpx.Client, url: str) -> None:
    tag = guest.head(url).headers["ETag"]

    for known in (tag, "*"):
        assert guest.get(url, headers={"If-None-Match": known}).status_code == 304
        assert guest.head(url, headers={"If-None-Match": known}).status_code == 304
    assert guest.get(url, headers={"Range": "bytes=0-1", "If-Range": '"x"'}).status_code == 200


def test_earlier_and_new_output_urls_both_work(
    guest: httpx.Client, http: httpx.Client, url: str
) -> None:
    again = http.get(GENERATIONS).json()[0]["outputUrl"]

    assert guest.get(again).content == guest.get(url).content


def expiry_of(url: str) -> int:
    return int(httpx.URL(url).params["expires"])


def test_output_urls_are_valid_for_a_day_and_two_minutes_at_most(
    http: httpx.Client, service: Service
) -> None:
    portrait = upload_file(http, png(900))
    body = {"modelId": "clay", "mediaUploads": {"portrait": portrait}}
    generation = http.post(GENERATIONS, json=body).json()["id"]
    now = service.context.clock() / 1000
    done = wait_for_end(http, generation)
    listed = [it for it in http.get(GENERATIONS).json() if it["id"] == generation]

    for facts in (done, *listed, read(http, generation)):
        output = facts["output"]
        urls = (facts["outputUrl"], output["thumbnailUrl"], facts["mediaUrls"]["portrait"])
        for url in urls:
            assert DAY <= expiry_of(url) - now <= DAY + 120
        moment = datetime.fromisoformat(output["expiresAt"]).timestamp()
        assert {expiry_of(url) for url in urls} == {moment}


def test_a_ticket_is_valid_for_a_quarter_of_an_hour(http: httpx.Client, service: Service) -> None:
    now = service.context.clock() / 1000
    ticket = create_ticket(http, png())

    assert 15 * 60 - 1 <= expiry_of(ticket["uploadUrl"]) - now <= 15 * 60 + 5
    assert datetime.fromisoformat(ticket["expiresAt"]).timestamp() == expiry_of(ticket["uploadUrl"])


@pytest.mark.parametrize(
    "alter",
    [
        lambda url: url.copy_set_param("signature", "0" * 64),
        lambda url: url.copy_set_param("signature", "\u00e9"),
        lambda url: url.copy_set_param("signature", ""),
        lambda url: url.copy_set_param("expires", "99999999999"),
        lambda url: url.copy_with(path=url.path.replace(".png", ".mp4")),
        lambda url: url.copy_with(raw_path=b"/media/%2e%2e/secret?" + url.query),
        lambda url: url.copy_with(raw_path=b"/media/..%2fsecret?" + url.query),
        lambda url: url.copy_with(raw_path=b"/media//etc/passwd?" + url.query),
    ],
)
def test_an_altered_url_is_refused(
    guest: httpx.Client, url: str, alter: Callable[[httpx.URL], httpx.URL]
) -> None:
    answer = guest.get(alter(httpx.URL(url)))

    assert (answer.status_code, get_code(answer)) == (403, "access_denied")


@pytest.mark.parametrize("missing", ["signature", "expires"])
def test_an_incomplete_url_is_refused(guest: httpx.Client, url: str, missing: str) -> None:
    answer = guest.get(httpx.URL(url).copy_remove_param(missing))

    assert (answer.status_code, get_code(answer)) == (400, "validation_error")


def test_an_output_url_is_valid_for_get_only(guest: httpx.Client, url: str) -> None:
    assert guest.put(url, content=b"x").status_code == 405
    assert guest.delete(url).status_code == 405


def test_an_expired_url_is_refused(guest: httpx.Client, service: Service) -> None:
    signer = Signer(service.settings.secret())
    now = service.context.clock() // 1000
    old = signer.address(service.url, Grant("GET", "outputs/a/b.png", now - 1))
    missing_file = signer.address(service.url, Grant("GET", "outputs/a/b.png", now + 60))

    assert (guest.get(old).status_code, get_code(guest.get(old))) == (403, "access_denied")
    assert "has expired" in guest.get(old).json()["error"]["message"]
    assert guest.get(missing_file).status_code == 404


def test_a_storage_key_outside_the_folder_is_not_found(
    guest: httpx.Client, service: Service
) -> None:
    signer = Signer(service.settings.secret())
    expiry = service.context.clock() // 1000 + 60
    url = signer.address(service.url, Grant("GET", "../secret", expiry)).replace("..", "%2e%2e")

    assert guest.get(url).status_code == 404


@pytest.mark.parametrize("path", ["/media/a%0Ab", "/media/uploads/a%0Ab", "/media/%0D%0A"])
def test_a_url_with_a_line_break_is_refused(guest: httpx.Client, path: str) -> None:
    answer = guest.get(path, params={"expires": 1, "signature": "x"})

    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "access_denied")


def test_urls_begin_with_the_public_url(start_service: Callable[..., Service]) -> None:
    service = start_service(public_url="https://studio.example.org/api/")
    with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
        generation = generate(http)
        done = wait_for_end(http, generation)
        [facts] = http.get(GENERATIONS).json()

    assert done["outputUrl"].startswith("https://studio.example.org/api/media/outputs/")
    assert facts["id"] == generation
