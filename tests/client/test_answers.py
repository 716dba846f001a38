from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from kit import errors
from kit.client import answers, calls
from kit.client.calls import Reply
from kit.errors import ApiError
from kit.internet import retry_after

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


def reply(status: int, body: Any = None, **headers: str) -> Reply:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Reply(status, {name.replace("_", "-"): v for name, v in headers.items()}, content)


@pytest.mark.parametrize(
    "kind", sorted(ApiError.by_code.values(), key=lambda k: k.code), ids=lambda kind: kind.code
)
def test_each_error_code_raises_its_class(kind: type[ApiError]) -> None:
    body = {"error": {"code": kind.code, "message": "as sent"}}

    error = answers.find_error(reply(kind.status, body))

    assert type(error) is kind
    assert error.message == "as sent"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, errors.BadRequestError),
        (401, errors.InvalidApiKeyError),
        (402, errors.InsufficientCreditsError),
        (404, errors.NotFoundError),
        (422, errors.BadRequestError),
        (429, errors.RateLimitError),
        (502, errors.UnavailableError),
        (504, errors.UnavailableError),
        (418, ApiError),
    ],
)
def test_an_unknown_error_code_falls_back_to_the_status(status: int, kind: type[ApiError]) -> None:
    body = {"error": {"code": "E_SOMETHING", "message": "m"}}

    assert type(answers.find_error(reply(status, body))) is kind


def test_an_html_page_is_not_shown_in_the_error_message() -> None:
    error = answers.find_error(reply(502, b"<html><h1>nginx</h1></html>"))

    assert str(error) == "the service answered 502 Bad Gateway and gave no reason"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": "no credits"}, "no credits"),
        ({"message": "no credits"}, "no credits"),
        ({"detail": "no credits"}, "no credits"),
        ({"detail": [{"msg": "bad"}]}, '[{"msg": "bad"}]'),
        ({"error": "Bad Request", "message": "no credits", "statusCode": 400}, "no credits"),
        ({"error": "invalid_request", "error_description": "no credits"}, "no credits"),
        ({"errors": ["no credits"]}, '["no credits"]'),
        ("no credits", "no credits"),
        ([1, 2], "the service answered 400 Bad Request and gave no reason"),
        ({"error": None}, "the service answered 400 Bad Request and gave no reason"),
    ],
)
def test_error_messages_of_other_envelopes_are_read(body: Any, message: str) -> None:
    assert str(answers.find_error(reply(400, body))) == message


def test_an_error_carries_details_and_request_id() -> None:
    details = {"required": 1, "available": 0.5}
    body = {"error": {"code": "insufficient_credits", "message": "m", "details": details}}

    error = answers.find_error(reply(402, body, x_request_id="req_7"))

    assert error is not None
    assert (error.details, error.request_id) == (details, "req_7")


def test_a_deeply_nested_error_body_falls_back_to_the_status() -> None:
    error = answers.find_error(Reply(403, {}, b"[" * 1_000_000))

    assert isinstance(error, errors.InsufficientScopeError)


def test_a_long_error_message_is_truncated() -> None:
    error = answers.find_error(reply(400, {"error": {"message": "x" * 10_000}}))

    assert len(str(error)) < 2100


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("", None),
        ("5", 5.0),
        ("0", 0.0),
        ("1.5", 1.5),
        ("86400", 86400.0),
        ("-3", None),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("Sun, 01 Mar 2026 12:00:30 GMT", 30.0),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0.0),
        ("Sun, 01 Mar 2026 13:00:10 +0100", 10.0),
        ("Sun, 99 Mar 2026", None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(value: str | None, seconds: float | None) -> None:
    assert retry_after(value, NOW) == seconds


@pytest.mark.parametrize("ahead", [-1, 0, 1])
def test_a_retry_after_date_is_relative_to_the_answers_date(ahead: int) -> None:
    service_now = NOW + timedelta(hours=ahead)
    date = {"date": format_datetime(service_now, usegmt=True)}
    until = format_datetime(service_now + timedelta(seconds=2), usegmt=True)
    busy = Reply(429, {**date, "retry-after": until})

    assert answers.retry_seconds(busy, now=NOW) == 2.0
    error = answers.find_error(busy, now=NOW)
    assert error is not None
    assert error.retry_after == 2.0


@pytest.mark.parametrize("date", ["", "soon", "Sun, 99 Mar 2026 12:00:00 GMT"])
def test_a_retry_after_date_without_a_valid_date_header_counts_from_now(date: str) -> None:
    until = format_datetime(NOW + timedelta(seconds=7), usegmt=True)

    assert answers.retry_seconds(Reply(503, {"date": date, "retry-after": until}), now=NOW) == 7.0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b'<?xml version="1.0"?><Error><Code>AccessDenied</Code>'
            b"<Message>Request has expired</Message></Error>",
            "Request has expired",
        ),
        (b'<Error xmlns="urn:x">\n <Message> a &lt;b&gt;\n c </Message></Error>', "a <b> c"),
        (b"<Error><Code>AccessDenied</Code></Error>", "403 Forbidden and gave no reason"),
        (b"<html><Message>login</Message></html>", "403 Forbidden and gave no reason"),
    ],
)
def test_the_error_message_of_an_object_store_is_read(content: bytes, message: str) -> None:
    assert str(answers.find_error(Reply(403, {}, content))).endswith(message)


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("https://studio.example/v1/account?key=1", "https://studio.example:443;"),
        ("//u:p@a.example:81/x", "another address;"),
        ("http://u:p@a.example:81/x", "http://a.example:81;"),
        ("/v1/account/", "another address;"),
        ("https://[", "another address;"),
        (None, "another address;"),
    ],
)
def test_a_redirect_names_where_it_leads(location: str | None, target: str) -> None:
    headers = {} if location is None else {"location": location}

    assert f"points to {target}" in str(answers.find_error(Reply(301, headers)))


@pytest.mark.parametrize(
    ("header", "url"),
    [
        (None, None),
        ("", None),
        ('<https://a.test/x?cursor=1>; rel="next"', "https://a.test/x?cursor=1"),
        ("</x?c=1>; rel=next", "/x?c=1"),
        ('</a>; rel="prev", </b>; rel="next"', "/b"),
        ('</b>; title="t"; rel="last next"', "/b"),
        ('</a>; rel="prev"', None),
        ("garbage; rel=next", None),
        ('</x?ids=1,2>; rel="next"', "/x?ids=1,2"),
        ('</a>; title="x, y"; rel=prev, </x?ids=1,2>;Rel = Next', "/x?ids=1,2"),
        ('</a>; title="rel=next"', None),
    ],
)
def test_the_next_page_is_found_in_a_link_header(header: str | None, url: str | None) -> None:
    assert answers.next_link(header) == url


def test_an_html_page_instead_of_json_is_reported() -> None:
    page = Reply(200, {"content-type": "text/html; charset=utf-8"}, b"<html>")

    with pytest.raises(ApiError, match=r"not JSON \(text/html\): check that base_url"):
        answers.read(calls.get_account(), page)


def test_an_answer_without_its_id_names_the_missing_field() -> None:
    with pytest.raises(ApiError, match=r"GET /v1/account is not what .* id: Field required"):
        answers.read(calls.get_account(), reply(200, {"name": "Ada"}))


def test_an_object_instead_of_a_list_is_reported() -> None:
    with pytest.raises(ApiError, match=r"Input should be a valid (list|array)"):
        answers.read(calls.list_generations(), reply(200, {}))
