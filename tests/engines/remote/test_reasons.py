"""Which part of another service's refusal the client may read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.engines.remote.reasons import clean_reason, explain

KEY = "sk-proj-0123456789abcdefghijklmnopqrstuvwxyz"


@pytest.mark.parametrize(
    "reason",
    [
        "Your request was rejected by our safety system.",
        "the prompt has 5,000 characters, at most 4,000 are allowed",
        "Invalid value: '1000x1000'. Supported values are: '1024x1024', and '1536x1024'.",
        "image: must be image/png or image/jpeg, and/or smaller than 4 MB",
        "size.0: Input should be 16:9 or 4:3 (ratio 1.7)",
        "The prompt has 120 tokens: 77 at most; width / height must be [16:9], 12 key-frames",
        "skyscrapers-and-cats are not user-friendly, token: none, and the seed is 1234567",
        "Das Bild ist zu groß: höchstens 4 Megapixel",
    ],
)
def test_a_plain_reason_is_passed_on_unchanged(reason: str) -> None:
    assert explain(400, reason) == (f"refuses this request: {reason}", "upstream_rejected")


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("see https://a.test/x?X-Amz-Signature=abc for more", "see (address) for more"),
        ("picture data:image/png;base64,AAAA is odd", "picture (address) is odd"),
        ("upstream gpu-7.internal failed", "upstream (address) failed"),
        ("10.0.0.7:8000 says no", "(address) says no"),
        ("localhost:8188 says no", "(address) says no"),
        ("cannot read /srv/models/flux.safetensors today", "cannot read (path) today"),
        (r"cannot read C:\models\flux today", "cannot read (path) today"),
        ("api_key=abc is wrong", "*** is wrong"),
        ("Authorization: Bearer abc.def is wrong", "Authorization: *** is wrong"),
        (f"wrong key {KEY[:12]}****wxyz", "wrong key ***"),
        ("token: abc0123456 and AKIA0123456789ABCDEF", "*** and ***"),
        ("[fe80::1]:8000 says no", "(address) says no"),
        ("org-AbCdEfGh has no access", "*** has no access"),
        ("ask ops@example.test", "ask (address)"),
        ("request 0a1b2c3d4e5f60718293a4b5c6d7e8f9 failed", "request *** failed"),
        ("two\nlines\x00 and\ttabs", "two lines and tabs"),
    ],
)
def test_addresses_paths_and_keys_are_removed_from_a_reason(reason: str, expected: str) -> None:
    assert clean_reason(reason) == expected


@pytest.mark.parametrize(
    "reason",
    [
        "",
        "<html><head><title>400</title></head></html>",
        "Bad <b>Request</b>",
        'Traceback (most recent call last):\n  File "x.py", line 3',
        "boom\n    at Object.render (index.js:3)",
        "{'error': {'type': 'x'}}",
        "400",
    ],
)
def test_a_reason_that_is_not_a_sentence_is_not_passed_on(reason: str) -> None:
    sentence, _ = explain(422, reason)

    assert sentence == "refuses this request; other settings or words may help"


@pytest.mark.parametrize("status", [401, 402, 403, 404, 429, 500, 503])
def test_an_error_that_the_client_cannot_correct_has_no_reason(status: int) -> None:
    assert "too long" not in explain(status, "the prompt is too long")[0]


@given(before=st.text(max_size=400), after=st.text(max_size=400))
def test_a_reason_is_one_short_line_without_the_key(before: str, after: str) -> None:
    line = clean_reason(f"{before}{KEY}{after}", [KEY])

    assert KEY not in line
    assert len(line) <= 250
    assert line.isprintable()
