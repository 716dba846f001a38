"""API keys: their format, their number per account, the caller that they authenticate."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from kit.errors import (
    BadRequestError,
    ConflictError,
    ExpiredApiKeyError,
    InvalidApiKeyError,
    NotFoundError,
)
from kit.service.domain import accounts, keys
from kit.service.domain.credits import Payer
from kit.service.domain.keys import KeyRequest, NewKey
from kit.service.store import Database
from kit.wire import api_keys
from tests.service.domain.conftest import NOW, Write

SECRET = b"s" * 32


@pytest.fixture
def add_key(write: Write, payer: Payer) -> Callable[..., NewKey]:
    """Create a key of the account."""

    def create(now: int = NOW, **values: Any) -> NewKey:
        request = KeyRequest(**{"account_id": payer.account_id, "name": "test", **values})
        key: NewKey = write(keys.create(request, SECRET, now))
        return key

    return create


def test_keys_and_their_maximum_number_belong_to_one_account(
    write: Write, payer: Payer, add_key: Callable[..., NewKey]
) -> None:
    other = write(accounts.create("Bob", "bob@example.org", 0, NOW)).id
    mine = [add_key(name=f"mine {number}").row.id for number in range(keys.MAX_ACTIVE_KEYS)]
    theirs = add_key(account_id=other).row.id

    assert [row.id for row in write(keys.list_keys(other))] == [theirs]
    assert [row.id for row in write(keys.list_keys(payer.account_id))] == mine


@pytest.mark.parametrize(("live", "prefix"), [(True, "cs_live_"), (False, "cs_test_")])
def test_a_key_has_its_prefix_and_its_length(live: bool, prefix: str) -> None:
    text = keys.generate(live=live)

    assert text.startswith(prefix)
    assert len(text) == len(prefix) + 36
    assert api_keys.is_well_formed(text)


def test_any_mistyped_letter_makes_a_key_malformed() -> None:
    text = keys.generate(live=True)
    for place in range(len(text)):
        other = "A" if text[place] != "A" else "B"
        assert not api_keys.is_well_formed(text[:place] + other + text[place + 1 :]), place


@pytest.mark.parametrize("text", ["", "cs_live_", "x" * 44, "cs_live_" + "\u0661" * 36])
def test_other_text_is_not_well_formed_as_a_key(text: str) -> None:
    assert not api_keys.is_well_formed(text)


def test_generated_keys_differ() -> None:
    assert len({keys.generate(live=True) for _ in range(100)}) == 100


def test_only_a_digest_of_a_key_is_stored(add_key: Callable[..., NewKey]) -> None:
    made = add_key()

    assert made.text not in repr(made)
    assert made.text not in str(made.row)
    assert made.row.digest == keys.digest(made.text, SECRET) != keys.digest(made.text, b"o" * 32)
    assert made.text.startswith(made.row.prefix)
    assert len(made.row.prefix) == 12


def test_a_key_identifies_its_account_scopes_and_cap(
    write: Write, add_key: Callable[..., NewKey], payer: Payer
) -> None:
    made = add_key(scopes=("creative:generate",), cap=5)
    caller = write(keys.find_caller(made.text, SECRET, NOW))

    assert caller.account_id == payer.account_id
    assert caller.scopes == {"read", "creative:generate"}
    assert (caller.payer.key_id, caller.payer.cap) == (made.row.id, 5)


def test_a_key_of_another_secret_is_unknown(write: Write, add_key: Callable[..., NewKey]) -> None:
    with pytest.raises(InvalidApiKeyError, match="unknown"):
        write(keys.find_caller(add_key().text, b"o" * 32, NOW))


def test_a_key_expires_at_its_date(write: Write, add_key: Callable[..., NewKey]) -> None:
    text = add_key(expires_at=NOW + 10).text

    assert write(keys.find_caller(text, SECRET, NOW + 9))
    with pytest.raises(ExpiredApiKeyError):
        write(keys.find_caller(text, SECRET, NOW + 10))


def test_a_revoked_key_is_refused_and_stays_revoked(
    write: Write, add_key: Callable[..., NewKey]
) -> None:
    made = add_key()
    write(keys.revoke(made.row.id, NOW + 1))

    assert write(keys.revoke(made.row.id, NOW + 9)).revoked_at == NOW + 1
    with pytest.raises(InvalidApiKeyError, match="revoked"):
        write(keys.find_caller(made.text, SECRET, NOW))
    with pytest.raises(NotFoundError, match="key_0"):
        write(keys.revoke("key_0", NOW))


def test_the_eleventh_active_key_is_refused(write: Write, add_key: Callable[..., NewKey]) -> None:
    made = [add_key() for _ in range(9)]
    add_key(expires_at=NOW + 10)
    with pytest.raises(ConflictError, match="10 active keys"):
        add_key()
    assert add_key(now=NOW + 10)
    write(keys.revoke(made[0].row.id, NOW + 10))

    assert add_key(now=NOW + 10)


def test_of_twenty_concurrent_key_requests_ten_succeed(
    database: Database, runner: asyncio.Runner, payer: Payer
) -> None:
    request = KeyRequest(account_id=payer.account_id, name="race")

    async def race() -> list[Any]:
        orders = (database.write(keys.create(request, SECRET, NOW)) for _ in range(20))
        return await asyncio.gather(*orders, return_exceptions=True)

    answers = runner.run(race())

    assert [type(a) for a in answers].count(NewKey) == 10
    assert [type(a) for a in answers].count(ConflictError) == 10


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"scopes": ("write",)}, "scope"),
        ({"expires_at": NOW}, "expires"),
        ({"cap": 0}, "cap"),
    ],
)
def test_an_error_of_an_invalid_key_request_names_the_field(
    add_key: Callable[..., NewKey], values: dict[str, Any], field: str
) -> None:
    with pytest.raises(BadRequestError) as caught:
        add_key(**values)

    assert [detail["field"] for detail in caught.value.details or ()] == [field]


def test_a_key_needs_an_account(add_key: Callable[..., NewKey]) -> None:
    with pytest.raises(NotFoundError, match="acc_0"):
        add_key(account_id="acc_0")
