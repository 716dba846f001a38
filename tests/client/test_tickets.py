"""Upload tickets: unusable ones, expired ones, and ones with a relative URL."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from kit import wire
from kit.client import uploads
from kit.client.calls import Reply, SendRequest, UploadFile
from kit.client.flows import Policy
from kit.client.settings import Settings
from kit.client.sync import Client
from kit.errors import ParameterError, UploadError
from tests.client.fixtures import drive
from tests.client.third_party import Answer, Server, png

FILE = uploads.source(png())
EXPIRED = Reply(403, {}, b"<Error><Code>X</Code><Message>Request has expired</Message></Error>")
PAST, FUTURE = "2020-01-01T00:00:00Z", "2199-01-01T00:00:00Z"


def ticket(expires: str | None = None, **headers: str) -> Reply:
    facts = wire.Ticket.model_validate(
        {
            "uploadId": "u",
            "uploadUrl": "https://store.test/in",
            "requiredHeaders": {name.replace("_", "-"): value for name, value in headers.items()},
            "expiresAt": expires,
        }
    )
    return Reply(200, {}, facts.model_dump_json(by_alias=True).encode())


def drive_upload(policy: Policy, *outcomes: Any) -> tuple[int, Any]:
    """Drive an upload; return the number of requested tickets, and its result or error."""
    steps, result = drive(uploads.upload("m", FILE, policy), *outcomes)
    return sum(isinstance(step, SendRequest) for step in steps), result


@pytest.mark.parametrize(
    "refused",
    [
        (ticket(), EXPIRED),
        (ticket(FUTURE), EXPIRED),
        (ticket(PAST), Reply(403)),
        (ticket(FUTURE), Reply(401, {"date": "Tue, 01 Jan 3000 00:00:00 GMT"})),
        (ticket(), Reply(410, {}, b'{"error": {"message": "the ticket has EXPIRED"}}')),
    ],
)
def test_an_expired_ticket_is_renewed_once(refused: tuple[Reply, Reply], policy: Policy) -> None:
    assert drive_upload(policy, *refused, ticket(), Reply(200)) == (2, "u")

    tickets, error = drive_upload(policy, *refused * 9)
    assert tickets == 2
    assert isinstance(error, UploadError)


@pytest.mark.parametrize(
    "refused",
    [
        (ticket(FUTURE), Reply(403)),
        (ticket(PAST), Reply(413)),
        (ticket(PAST), Reply(403, {"date": "Tue, 01 Jan 2019 00:00:00 GMT"})),
    ],
)
def test_any_other_refusal_is_final(refused: tuple[Reply, Reply], policy: Policy) -> None:
    tickets, error = drive_upload(policy, *refused)

    assert tickets == 1
    assert "was refused" in str(error)


def test_the_reason_of_the_storage_is_reported(policy: Policy) -> None:
    _, error = drive_upload(policy, *(ticket(), EXPIRED) * 2)

    assert str(error) == "the file 'upload.png' was refused: Request has expired"


@pytest.mark.parametrize(
    ("headers", "sentence"),
    [
        ({"Content_Length": "5"}, f"is for 5 bytes, and it has {FILE.size:,}"),
        ({"content_length": "many"}, "is for many bytes, and it has"),
        ({"x_note": "é"}, "wants the header 'x-note', which cannot be sent"),
        ({"x_note": "a\r\nb: c"}, "wants the header 'x-note', which cannot be sent"),
        ({"x note": "a"}, "wants the header 'x note', which cannot be sent"),
    ],
)
def test_an_unusable_ticket_is_reported_and_nothing_is_sent(
    headers: dict[str, str], sentence: str, policy: Policy
) -> None:
    steps, error = drive(uploads.upload("m", FILE, policy), ticket(**headers))

    assert isinstance(error, UploadError)
    assert sentence in str(error)
    assert not any(isinstance(step, UploadFile) for step in steps)


def test_a_ticket_may_require_the_right_content_length(policy: Policy) -> None:
    assert drive_upload(policy, ticket(Content_Length=str(FILE.size)), Reply(200)) == (1, "u")


def make_upload(url: str) -> UploadFile:
    return UploadFile(url, {"X-A": "1"}, lambda: io.BytesIO(b"abc"), 3)


def test_an_upload_url_may_be_relative(api: Server, client: Client, settings: Settings) -> None:
    api.script("PUT", "/in/x", Answer(200, {}), Answer(200, {}))

    reply = client.perform(make_upload("/in/x"))
    assert isinstance(reply, Reply)
    assert reply.status == 200
    assert [seen.path for seen in api.seen] == ["/in/x"]
    assert "authorization" not in {name.lower() for name in api.seen[0].headers}


# ── limits of other services ──────────────────────────────────────────────────────────────────────

MODEL = wire.Model(
    id="m", media_parameters=[wire.Parameter(name="shape", type="mesh", media=True, max_items=3)]
)


@pytest.mark.parametrize(
    ("name", "content", "content_type"),
    [
        ("a.glb", b"glTF....", "model/gltf-binary"),
        ("a.svg", b"<svg xmlns='x'/>", "image/svg+xml"),
        ("a.weird", b"????", "application/octet-stream"),
        ("a.mkv", b"????", "video/x-matroska"),
    ],
)
def test_another_service_gets_file_types_that_ours_refuses(
    tmp_path: Path, name: str, content: bytes, content_type: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)

    (file,) = uploads.sources(MODEL, path, ours=False)["shape"]
    assert (file.name, file.size) == (name, len(content))
    # Systems know less, and Python 3.14 an official name.
    known = content_type, content_type.replace("/x-", "/"), "application/octet-stream"
    assert file.content_type in known
    with pytest.raises(ParameterError, match=r"no model takes|of a type that services take"):
        uploads.sources(MODEL, path)


def test_a_server_error_does_not_mean_an_expired_ticket() -> None:
    facts = wire.Ticket(upload_id="u", upload_url="/u", expires_at=None)

    assert not uploads.is_expired(facts, Reply(500, {}, b'{"error": "expired"}'))


@pytest.mark.parametrize("content", [png() + b"more", png()[:-4]])
def test_a_file_that_changed_after_its_inspection_is_not_sent(
    tmp_path: Path, content: bytes, policy: Policy
) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(png())
    file = uploads.source(path)
    path.write_bytes(content)

    steps, error = drive(uploads.upload("m", file, policy), ticket())

    assert str(error).startswith("the file 'a.png' was not sent: it had")
    assert not any(isinstance(step, UploadFile) for step in steps)
