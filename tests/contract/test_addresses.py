"""Signed addresses: what they serve, and what they refuse."""

from collections.abc import Callable
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
def address(http: httpx.Client) -> str:
    """The address of a finished output."""
    return str(wait_for_end(http, generate(http))["outputUrl"])


def code(answer: httpx.Response) -> str:
    return str(answer.json()["error"]["code"])


def test_an_output_needs_no_key(anyone: httpx.Client, address: str, http: httpx.Client) -> None:
    answer = anyone.get(address)
    output = http.get(GENERATIONS).json()[0]["output"]

    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == output["contentType"] == "image/png"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Accept-Ranges"] == "bytes"
    assert len(answer.content) == output["sizeBytes"]
    assert answer.content.startswith(b"\x89PNG")


def test_a_part_can_be_asked_for(anyone: httpx.Client, address: str) -> None:
    answer = anyone.get(address, headers={"Range": "bytes=1-3"})

    assert (answer.status_code, answer.content) == (206, b"PNG")
    assert answer.headers["Content-Range"] == f"bytes 1-3/{len(anyone.get(address).content)}"
    assert anyone.get(address, headers={"Range": "bytes=-4"}).content == b"\xae\x42\x60\x82"


def test_a_part_beyond_the_end_is_refused(anyone: httpx.Client, address: str) -> None:
    length = len(anyone.get(address).content)
    answer = anyone.get(address, headers={"Range": f"bytes={length}-"})
    problem = answer.json()["error"]

    assert answer.status_code == 416
    assert answer.headers["Content-Range"] == f"bytes */{length}"
    assert problem["code"] == "range_not_satisfiable"
    assert f"{length:,} bytes" in problem["message"]
    assert problem["requestId"] == answer.headers["X-Request-Id"]


def test_head_refuses_a_part_beyond_the_end_without_a_body(
    anyone: httpx.Client, address: str
) -> None:
    answer = anyone.head(address, headers={"Range": "bytes=999999999-"})

    assert (answer.status_code, answer.content) == (416, b"")
    assert answer.headers["Content-Range"].startswith("bytes */")


def test_a_part_beyond_the_end_of_another_version_is_the_whole(
    anyone: httpx.Client, address: str
) -> None:
    asked = {"Range": "bytes=999999999-", "If-Range": '"x"'}

    assert anyone.get(address, headers=asked).status_code == 200


@pytest.mark.parametrize("asked", ["lines=1-2", "bytes=5-2", "bytes=", "bytes=x-1", "bytes"])
def test_a_part_that_makes_no_sense_is_named(
    anyone: httpx.Client, address: str, asked: str
) -> None:
    answer = anyone.get(address, headers={"Range": asked})

    assert answer.status_code == 400
    assert answer.json()["error"]["details"][0]["field"] == "Range"


async def _while_it_is_deleted(config: ServiceSettings) -> httpx.Response:
    """Ask for a file that is deleted as soon as the answer begins."""
    app = create_app(replace(config, workers=0))
    async with app.router.lifespan_context(app):
        context = app.state.context
        key = "outputs/01AAA/gen_0-a.png"
        path = context.storage.outputs.path(key)
        path.parent.mkdir(parents=True)
        path.write_bytes(png())

        async def deleting(scope: Scope, receive: Receive, send: Send) -> None:
            async def send_then(message: Message) -> None:
                path.unlink(missing_ok=True)
                await send(message)

            await app(scope, receive, send_then)

        address = context.signer.address("http://here", Grant("GET", key, clock() // 1000 + DAY))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(deleting)) as anyone:
            return await anyone.get(address)


def test_a_file_that_is_deleted_while_it_is_sent_comes_whole(config: ServiceSettings) -> None:
    answer = run_coroutine(_while_it_is_deleted(config))

    assert (answer.status_code, answer.content) == (200, png())


def test_head_tells_without_the_bytes(anyone: httpx.Client, address: str) -> None:
    head, whole = anyone.head(address), anyone.get(address)

    assert (head.status_code, head.content) == (200, b"")
    for name in ("Content-Length", "Content-Type", "ETag"):
        assert head.headers[name] == whole.headers[name]


def test_what_is_there_is_not_sent_again(anyone: httpx.Client, address: str) -> None:
    tag = anyone.head(address).headers["ETag"]

    assert anyone.get(address, headers={"If-None-Match": tag}).status_code == 304
    assert anyone.get(address, headers={"Range": "bytes=0-1", "If-Range": '"x"'}).status_code == 200


def test_an_address_is_minted_afresh_and_both_work(
    anyone: httpx.Client, http: httpx.Client, address: str
) -> None:
    again = http.get(GENERATIONS).json()[0]["outputUrl"]

    assert anyone.get(again).content == anyone.get(address).content


def expires(address: str) -> int:
    return int(httpx.URL(address).params["expires"])


def test_an_address_is_good_for_a_day_and_two_minutes_at_most(
    http: httpx.Client, service: Service
) -> None:
    portrait = upload_file(http, png(900))
    body = {"modelId": "clay", "mediaUploads": {"portrait": portrait}}
    generation = http.post(GENERATIONS, json=body).json()["id"]
    now = service.context.clock() / 1000
    done = wait_for_end(http, generation)
    listed = [it for it in http.get(GENERATIONS).json() if it["id"] == generation]

    for told in (done, *listed, read(http, generation)):
        output = told["output"]
        addresses = (told["outputUrl"], output["thumbnailUrl"], told["mediaUrls"]["portrait"])
        for address in addresses:
            assert DAY <= expires(address) - now <= DAY + 120
        ends = datetime.fromisoformat(output["expiresAt"]).timestamp()
        assert {expires(address) for address in addresses} == {ends}


def test_a_ticket_is_good_for_a_quarter_of_an_hour(http: httpx.Client, service: Service) -> None:
    now = service.context.clock() / 1000
    told = create_ticket(http, png())

    assert 15 * 60 - 1 <= expires(told["uploadUrl"]) - now <= 15 * 60 + 5
    assert datetime.fromisoformat(told["expiresAt"]).timestamp() == expires(told["uploadUrl"])


@pytest.mark.parametrize(
    "spoil",
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
def test_an_altered_address_is_refused(
    anyone: httpx.Client, address: str, spoil: Callable[[httpx.URL], httpx.URL]
) -> None:
    answer = anyone.get(spoil(httpx.URL(address)))

    assert (answer.status_code, code(answer)) == (403, "access_denied")


@pytest.mark.parametrize("missing", ["signature", "expires"])
def test_an_incomplete_address_is_refused(anyone: httpx.Client, address: str, missing: str) -> None:
    answer = anyone.get(httpx.URL(address).copy_remove_param(missing))

    assert (answer.status_code, code(answer)) == (400, "validation_error")


def test_an_address_is_good_for_one_method(anyone: httpx.Client, address: str) -> None:
    assert anyone.put(address, content=b"x").status_code == 405
    assert anyone.delete(address).status_code == 405


def test_an_address_past_its_time_is_refused(anyone: httpx.Client, service: Service) -> None:
    signer = Signer(service.settings.secret())
    now = service.context.clock() // 1000
    old = signer.address(service.url, Grant("GET", "outputs/a/b.png", now - 1))
    gone = signer.address(service.url, Grant("GET", "outputs/a/b.png", now + 60))

    assert (anyone.get(old).status_code, code(anyone.get(old))) == (403, "access_denied")
    assert "has expired" in anyone.get(old).json()["error"]["message"]
    assert anyone.get(gone).status_code == 404


def test_a_key_that_leads_out_of_the_folder_leads_nowhere(
    anyone: httpx.Client, service: Service
) -> None:
    signer = Signer(service.settings.secret())
    far = service.context.clock() // 1000 + 60
    address = signer.address(service.url, Grant("GET", "../secret", far)).replace("..", "%2e%2e")

    assert anyone.get(address).status_code == 404


@pytest.mark.parametrize("path", ["/media/a%0Ab", "/media/uploads/a%0Ab", "/media/%0D%0A"])
def test_a_line_break_in_an_address_is_no_other_method(anyone: httpx.Client, path: str) -> None:
    answer = anyone.get(path, params={"expires": 1, "signature": "x"})

    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "access_denied")


def test_addresses_begin_with_the_public_one(start_service: Callable[..., Service]) -> None:
    service = start_service(public_url="https://studio.example.org/api/")
    with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
        generation = generate(http)
        done = wait_for_end(http, generation)
        [told] = http.get(GENERATIONS).json()

    assert done["outputUrl"].startswith("https://studio.example.org/api/media/outputs/")
    assert told["id"] == generation
