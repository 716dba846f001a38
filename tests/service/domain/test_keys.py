"""API keys: what they look like, how many there may be, who is behind one."""

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
def make(write: Write, payer: Payer) -> Callable[..., NewKey]:
    """Make a key of the account."""

    def one(now: int = NOW, **wish: Any) -> NewKey:
        asked = KeyRequest(**{"account_id": payer.account_id, "name": "test", **wish})
        made: NewKey = write(keys.create(asked, SECRET, now))
        return made

    return one


def test_the_keys_of_an_account_are_its_own_and_so_is_their_bound(
    write: Write, payer: Payer, make: Callable[..., NewKey]
) -> None:
    other = write(accounts.create("Bob", "bob@example.org", 0, NOW)).id
    mine = [make(name=f"mine {number}").row.id for number in range(keys.MAX_ACTIVE_KEYS)]
    theirs = make(account_id=other).row.id

    assert [row.id for row in write(keys.list_keys(other))] == [theirs]
    assert [row.id for row in write(keys.list_keys(payer.account_id))] == mine


@pytest.mark.parametrize(("live", "prefix"), [(True, "cs_live_"), (False, "cs_test_")])
def test_a_key_has_its_prefix_and_its_length(live: bool, prefix: str) -> None:
    text = keys.generate(live=live)

    assert text.startswith(prefix)
    assert len(text) == len(prefix) + 36
    assert api_keys.is_well_formed(text)


def test_any_mistyped_letter_is_noticed() -> None:
    text = keys.generate(live=True)
    for place in range(len(text)):
        other = "A" if text[place] != "A" else "B"
        assert not api_keys.is_well_formed(text[:place] + other + text[place + 1 :]), place


@pytest.mark.parametrize("text", ["", "cs_live_", "x" * 44, "cs_live_" + "\u0661" * 36])
def test_what_is_no_key_does_not_look_like_one(text: str) -> None:
    assert not api_keys.is_well_formed(text)


def test_keys_differ() -> None:
    assert len({keys.generate(live=True) for _ in range(100)}) == 100


def test_only_a_digest_is_kept(make: Callable[..., NewKey]) -> None:
    made = make()

    assert made.text not in repr(made)
    assert made.text not in str(made.row)
    assert made.row.digest == keys.digest(made.text, SECRET) != keys.digest(made.text, b"o" * 32)
    assert made.text.startswith(made.row.prefix)
    assert len(made.row.prefix) == 12


def test_a_key_leads_to_its_account_with_its_scopes(
    write: Write, make: Callable[..., NewKey], payer: Payer
) -> None:
    made = make(scopes=("creative:generate",), cap=5)
    caller = write(keys.find_caller(made.text, SECRET, NOW))

    assert caller.account_id == payer.account_id
    assert caller.scopes == {"read", "creative:generate"}
    assert (caller.payer.key_id, caller.payer.cap) == (made.row.id, 5)


def test_a_key_under_another_secret_is_unknown(write: Write, make: Callable[..., NewKey]) -> None:
    with pytest.raises(InvalidApiKeyError, match="unknown"):
        write(keys.find_caller(make().text, b"o" * 32, NOW))


def test_a_key_ends_at_its_date(write: Write, make: Callable[..., NewKey]) -> None:
    text = make(expires_at=NOW + 10).text

    assert write(keys.find_caller(text, SECRET, NOW + 9))
    with pytest.raises(ExpiredApiKeyError):
        write(keys.find_caller(text, SECRET, NOW + 10))


def test_a_revoked_key_is_refused_and_stays_revoked(
    write: Write, make: Callable[..., NewKey]
) -> None:
    made = make()
    write(keys.revoke(made.row.id, NOW + 1))

    assert write(keys.revoke(made.row.id, NOW + 9)).revoked_at == NOW + 1
    with pytest.raises(InvalidApiKeyError, match="revoked"):
        write(keys.find_caller(made.text, SECRET, NOW))
    with pytest.raises(NotFoundError, match="key_0"):
        write(keys.revoke("key_0", NOW))


def test_the_eleventh_active_key_is_refused(write: Write, make: Callable[..., NewKey]) -> None:
    made = [make() for _ in range(9)]
    make(expires_at=NOW + 10)
    with pytest.raises(ConflictError, match="10 active keys"):
        make()
    assert make(now=NOW + 10)
    write(keys.revoke(made[0].row.id, NOW + 10))

    assert make(now=NOW + 10)


def test_twenty_racing_keys_give_ten(
    database: Database, runner: asyncio.Runner, payer: Payer
) -> None:
    wish = KeyRequest(account_id=payer.account_id, name="race")

    async def race() -> list[Any]:
        orders = (database.write(keys.create(wish, SECRET, NOW)) for _ in range(20))
        return await asyncio.gather(*orders, return_exceptions=True)

    answers = runner.run(race())

    assert [type(a) for a in answers].count(NewKey) == 10
    assert [type(a) for a in answers].count(ConflictError) == 10


@pytest.mark.parametrize(
    ("wish", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"scopes": ("write",)}, "scope"),
        ({"expires_at": NOW}, "expires"),
        ({"cap": 0}, "cap"),
    ],
)
def test_a_wish_that_makes_no_sense_names_the_field(
    make: Callable[..., NewKey], wish: dict[str, Any], field: str
) -> None:
    with pytest.raises(BadRequestError) as caught:
        make(**wish)

    assert [detail["field"] for detail in caught.value.details or ()] == [field]


def test_a_key_needs_an_account(make: Callable[..., NewKey]) -> None:
    with pytest.raises(NotFoundError, match="acc_0"):
        make(account_id="acc_0")
