"""Signed URLs: they allow exactly their grant, until they expire."""

from urllib.parse import parse_qs, urlsplit

import pytest

from kit.errors import AccessDeniedError
from kit.service.storage.signing import Grant, Signer

SIGNER = Signer(b"s" * 32)
GRANT = Grant("PUT", "uploads/upl_1", 1000, "image/png", 70)


def signature_of(grant: Grant, signer: Signer = SIGNER) -> str:
    return parse_qs(urlsplit(signer.address("http://here", grant)).query)["signature"][0]


def test_a_signed_url_contains_its_grant() -> None:
    parts = urlsplit(SIGNER.address("https://here/api", GRANT))

    assert parts.path == "/api/media/uploads/upl_1"
    assert parse_qs(parts.query)["expires"] == ["1000"]
    SIGNER.check(GRANT, signature_of(GRANT), 999_999)


@pytest.mark.parametrize(
    "other",
    [
        {"method": "GET"},
        {"key": "uploads/upl_2"},
        {"expires": 1001},
        {"content_type": "image/jpeg"},
        {"length": 71},
    ],
)
def test_an_altered_grant_is_refused(other: dict[str, object]) -> None:
    with pytest.raises(AccessDeniedError, match="does not match"):
        SIGNER.check(GRANT._replace(**other), signature_of(GRANT), 0)


@pytest.mark.parametrize("text", ["", "0" * 64, "\u00e9", "x"])
def test_another_signature_is_refused(text: str) -> None:
    with pytest.raises(AccessDeniedError, match="does not match"):
        SIGNER.check(GRANT, text, 0)


def test_another_secret_gives_another_signature() -> None:
    assert signature_of(GRANT, Signer(b"o" * 32)) != signature_of(GRANT)


def test_an_expired_url_is_refused() -> None:
    with pytest.raises(AccessDeniedError, match="has expired"):
        SIGNER.check(GRANT, signature_of(GRANT), 1_000_000)


def test_the_secret_is_never_shown() -> None:
    assert "s" * 4 not in repr(SIGNER)
