"""Operation 4 and uploads: tickets, sent files and their use."""

import socket
from dataclasses import replace
from typing import Any

import httpx
import pytest

from kit.service.app import create_app
from kit.service.domain import accounts, uploads
from kit.service.domain.credits import Payer
from kit.service.machine import clock
from kit.service.settings import ServiceSettings
from kit.service.storage import make_ticket
from kit.wire import RequestUpload
from tests.buckets import any_service
from tests.conftest import ALL_SCOPES, Service, run_coroutine
from tests.uploading import create_ticket, png, put_file, request_ticket, upload_file, wav
from tests.waiting import GENERATIONS, balance, until, wait_for_end

FILE = {"fileName": "file", "contentType": "image/png"}


def read_problems(answer: httpx.Response) -> dict[str, str]:
    assert answer.status_code == 400, answer.text
    return {d["field"]: d["message"] for d in answer.json()["error"]["details"]}


@any_service
def test_a_ticket_has_the_method_and_the_required_headers(http: httpx.Client) -> None:
    ticket = create_ticket(http, png())

    assert ticket["method"] == "PUT"
    assert ticket["requiredHeaders"] == {
        "Content-Type": "image/png",
        "Content-Length": str(len(png())),
    }
    assert balance(http) == 100


@pytest.mark.parametrize(
    ("change", "field", "sentence"),
    [
        ({"fileName": ""}, "fileName", "1 to 255"),
        ({"fileName": "x" * 256}, "fileName", "1 to 255"),
        ({"fileName": "../a.png"}, "fileName", "path separators"),
        ({"fileName": "a\\b.png"}, "fileName", "path separators"),
        ({"fileName": "a\n.png"}, "fileName", "control characters"),
        ({"contentType": "image/svg+xml"}, "contentType", "image/png"),
        ({"contentType": "video/mp4"}, "contentType", "takes audio and image, not video"),
        ({"fileSizeBytes": 0}, "fileSizeBytes", "at least 1"),
        ({"fileSizeBytes": 50_000_001}, "fileSizeBytes", "at most 50,000,000"),
        ({"fileSizeBytes": 1.5}, "fileSizeBytes", "whole number"),
        ({"modelId": "flat"}, "contentType", "takes no media"),
    ],
)
def test_an_invalid_ticket_request_names_the_field(
    http: httpx.Client, change: dict[str, Any], field: str, sentence: str
) -> None:
    assert sentence in read_problems(request_ticket(http, png(), **change))[field]


def test_each_media_type_has_its_own_size_limit(http: httpx.Client) -> None:
    assert request_ticket(http, b"", "audio/wav", fileSizeBytes=100_000_000).status_code == 201
    assert "100,000,000" in request_ticket(http, b"", "audio/wav", fileSizeBytes=100_000_001).text


def test_a_ticket_needs_credits_for_the_models_lowest_price(service: Service) -> None:
    with service.client(service.key(service.account(credits=0), *ALL_SCOPES)) as http:
        answer = request_ticket(http, png())

    assert answer.status_code == 402
    assert answer.json()["error"]["details"] == {"required": 0.2, "available": 0}


def test_an_unknown_model_is_reported_before_invalid_fields(http: httpx.Client) -> None:
    assert request_ticket(http, b"", modelId="clai", contentType="no").status_code == 404


@any_service
def test_an_upload_becomes_part_of_a_generation(guest: httpx.Client, http: httpx.Client) -> None:
    portrait, voice = upload_file(http, png()), upload_file(http, wav(3), "audio/wav")
    media = {"portrait": portrait, "voice": [voice]}
    body = {"modelId": "clay", "mediaUploads": media, "fileMetadata": False}
    quote = http.post("/v1/creative-studio/estimates", json=body).json()
    receipt = http.post(GENERATIONS, json=body).json()
    done = wait_for_end(http, receipt["id"])

    assert receipt["creditsCharged"] == quote["total"] == 0.23
    assert {"kind": "unit", "parameter": "voice", "value": 3}.items() <= quote["terms"][1].items()
    assert (done["status"], done["generationType"]) == ("completed", "image-to-image")
    assert guest.get(done["mediaUrls"]["portrait"]).content == png()
    assert guest.get(done["mediaUrls"]["voice"]).headers["Content-Type"] == "audio/wav"
    assert guest.get(done["outputUrl"]).content == png()


@any_service
def test_a_parameter_takes_a_list_of_uploads(guest: httpx.Client, http: httpx.Client) -> None:
    both = [upload_file(http, png()), upload_file(http, png(9))]
    body = {"modelId": "clay", "mediaUploads": {"portrait": both}}
    done = wait_for_end(http, http.post(GENERATIONS, json=body).json()["id"])
    third = {"modelId": "clay", "mediaUploads": {"portrait": [*both, upload_file(http, png())]}}

    assert [guest.get(url).content for url in done["mediaUrls"]["portrait"]] == [png(), png(9)]
    assert "at most 2" in read_problems(http.post(GENERATIONS, json=third))["mediaUploads.portrait"]


@any_service
@pytest.mark.parametrize(
    ("content", "headers"),
    [
        (png() + b"x", {"Content-Length": str(len(png()) + 1)}),
        (png()[:-20], {"Content-Length": str(len(png()) - 20)}),
        (png(), {"Content-Type": "image/jpeg"}),
    ],
)
def test_a_put_that_differs_from_its_ticket_is_refused(
    http: httpx.Client, content: bytes, headers: dict[str, str]
) -> None:
    answer = put_file(create_ticket(http, png()), content, **headers)

    assert answer.status_code == 403


def test_a_refused_put_has_the_error_envelope(http: httpx.Client) -> None:
    answer = put_file(create_ticket(http, png()), png(), **{"Content-Type": "image/jpeg"})

    assert answer.json()["error"]["code"] == "access_denied"


def test_a_put_without_a_length_is_refused(guest: httpx.Client, http: httpx.Client) -> None:
    ticket = create_ticket(http, png())
    answer = guest.put(
        ticket["uploadUrl"], content=iter([png()]), headers={"Content-Type": "image/png"}
    )

    assert answer.status_code == 403


def test_an_incomplete_file_is_discarded_and_the_ticket_stays_valid(
    http: httpx.Client, service: Service
) -> None:
    ticket = create_ticket(http, png())
    url = httpx.URL(ticket["uploadUrl"])
    head = [f"PUT {url.raw_path.decode()} HTTP/1.1", f"Host: {url.host}"]
    head += [f"{name}: {value}" for name, value in ticket["requiredHeaders"].items()]
    with socket.create_connection((url.host, url.port or 80)) as connection:
        connection.sendall("\r\n".join([*head, "", ""]).encode() + png()[:-20])
        connection.shutdown(socket.SHUT_WR)
        assert not connection.recv(1000).startswith(b"HTTP/1.1 2")

    until(lambda: not list(service.settings.scratch.glob("*.part")))
    # The service may not have noticed yet that the connection is closed.
    assert until(lambda: put_file(ticket, png()).status_code, lambda status: status != 409) == 200


async def _send_short_body(config: ServiceSettings, content: bytes) -> httpx.Response:
    """Send a body that a proxy ended early because its client disconnected."""
    app = create_app(replace(config, workers=0))
    async with app.router.lifespan_context(app):
        context = app.state.context
        account = await context.database.write(accounts.create("Ada", "a@b", 1000, clock()))
        request = RequestUpload(modelId="clay", **FILE, fileSizeBytes=len(content))
        most = config.account_upload_bytes
        ticket = uploads.issue_ticket(context.catalog, request, Payer(account.id), most, clock())
        row = await context.database.write(ticket)
        signed = make_ticket(
            context.storage,
            "http://here",
            row.id,
            "image/png",
            len(content),
            expires=row.expires_at // 1000,
        )
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as guest:
            return await guest.put(
                signed.upload_url, content=content[:-20], headers=signed.required_headers
            )


def test_a_body_shorter_than_announced_is_refused(config: ServiceSettings) -> None:
    found = read_problems(run_coroutine(_send_short_body(config, png())))

    sentence = f"the file has {len(png()) - 20} bytes, {len(png())} were announced"
    assert found == {"fileSizeBytes": sentence}
    assert not list(config.scratch.glob("*.part"))


def test_a_ticket_permits_no_reading_and_no_other_upload(
    guest: httpx.Client, http: httpx.Client
) -> None:
    ticket = create_ticket(http, png())
    url = httpx.URL(ticket["uploadUrl"])
    other = url.copy_with(path="/media/uploads/upl_0")

    assert guest.get(url).status_code == 403
    assert put_file({**ticket, "uploadUrl": other}, png()).status_code == 403
    expired_later = url.copy_set_param("expires", str(int(url.params["expires"]) + 60))
    assert put_file({**ticket, "uploadUrl": expired_later}, png()).status_code == 403


def test_a_ticket_accepts_one_file(http: httpx.Client) -> None:
    ticket = create_ticket(http, png())

    assert [put_file(ticket, png()).status_code for _ in range(2)] == [200, 409]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"no picture at all", "image/png"),
        (png()[:40], "image/png"),
        (png(), "image/jpeg"),
        (png(), "audio/wav"),
        (b"RIFF\0\0\0\0WAVEnothing", "audio/wav"),
    ],
)
def test_content_of_another_type_is_refused_and_removed(
    http: httpx.Client, service: Service, content: bytes, kind: str
) -> None:
    ticket = create_ticket(http, content, kind)
    answer = put_file(ticket, content)

    sentence = read_problems(answer)["file"]
    assert "the content is not" in sentence or sentence == "the file is cut off or damaged"
    assert "/" not in sentence.replace(kind, "")
    assert not list(service.settings.scratch.glob("*.part"))
    assert not (service.settings.objects / "uploads" / ticket["uploadId"]).exists()
    assert not put_file(ticket, content).is_success


def start_with(http: httpx.Client, upload: str, name: str = "portrait") -> httpx.Response:
    return http.post(GENERATIONS, json={"modelId": "clay", "mediaUploads": {name: upload}})


@any_service
def test_an_upload_of_another_account_is_not_found(http: httpx.Client, service: Service) -> None:
    upload = upload_file(http, png())
    with service.client(service.key(service.account(), *ALL_SCOPES)) as other:
        assert start_with(other, upload).status_code == 404
    assert start_with(http, "upl_0").status_code == 404


@any_service
def test_an_upload_must_match_its_parameter_and_be_received(http: httpx.Client) -> None:
    voice = upload_file(http, wav(1), "audio/wav")
    empty = create_ticket(http, png())["uploadId"]

    assert "image is wanted" in read_problems(start_with(http, voice))["mediaUploads.portrait"]
    assert "not received" in read_problems(start_with(http, empty))["mediaUploads.portrait"]
    assert "no such medium" in read_problems(start_with(http, voice, "hat"))["mediaUploads.hat"]
    assert balance(http) == 100
