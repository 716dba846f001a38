from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from kit import wire
from kit.errors import ConflictError, NoAnswerError
from kit.widgets.account import SHOWN_SECONDS, AccountPanel, Facts
from kit.widgets.form.service import Background
from kit.widgets.keys import Key, Spent

SECRET = "cs_test_" + "s3cr3t" * 6


class Ring:
    """Keys, without a service."""

    def __init__(self) -> None:
        self.keys = [
            Key("key_1", "cs_test_aaaa", "demo", ("read",), "active", in_use=True),
            Key("key_2", "cs_test_bbbb", "<old>", ("read",), "revoked"),
        ]
        self.asked: list[tuple[Any, ...]] = []

    def known(self) -> list[Key]:
        return self.keys

    def create(self, name: str, scopes: Sequence[str], days: int | None) -> str:
        if not name:
            raise ConflictError("name: must have 1 to 100 characters")
        self.asked.append((name, tuple(scopes), days))
        expires = datetime(2030, 1, 2, tzinfo=UTC)
        self.keys.append(Key("key_3", SECRET[:12], name, tuple(scopes), "active", expires))
        return SECRET

    def revoke(self, key_id: str) -> None:
        self.asked.append((key_id,))


class Later:
    """Timers that ring when the test says so."""

    def __init__(self) -> None:
        self.due: list[tuple[float, Callable[[], None]]] = []

    def __call__(self, seconds: float, work: Callable[[], None]) -> Callable[[], None]:
        self.due.append((seconds, work))
        return self.due.clear


def facts() -> Facts:
    account = wire.Account(id="a", name="Ada <b>", email="ada@a.test", credits=Decimal("9.5"))
    return Facts("embedded", account, Spent(Decimal("0.25"), Decimal(3)))


@pytest.fixture
def later() -> Later:
    return Later()


@pytest.fixture
def background(later: Later) -> Background:
    return Background(begin=lambda work: work(), after=later)


def texts(panel: Any) -> str:
    """Return everything that a widget and those inside of it show."""
    parts = [str(getattr(panel, "value", "")), str(getattr(panel, "description", ""))]
    return " ".join([*parts, *(texts(child) for child in getattr(panel, "children", ()))])


def buttons(panel: Any, text: str) -> list[Any]:
    found = [panel] if getattr(panel, "description", "") == text and hasattr(panel, "click") else []
    return found + [b for child in getattr(panel, "children", ()) for b in buttons(child, text)]


def test_it_shows_who_pays_and_what_was_spent(background: Background) -> None:
    shown = texts(AccountPanel(facts, background=background))

    assert "Ada &lt;b&gt;" in shown
    for words in ("9.5 credits", "0.25 credits", "3 credits", "embedded", "ada@a.test"):
        assert words in shown


def test_a_service_without_a_ledger_shows_no_spending(background: Background) -> None:
    panel = AccountPanel(
        lambda: Facts("x", wire.Account(id="a", name="Ada")), background=background
    )

    assert "not told" in texts(panel)
    assert "spent" not in texts(panel)


def test_keys_are_listed_and_only_active_ones_can_be_revoked(background: Background) -> None:
    panel = AccountPanel(facts, keys=Ring(), background=background)

    assert "cs_test_aaaa" in texts(panel)
    assert "in use here" in texts(panel)
    assert "&lt;old&gt;" in texts(panel)
    assert len(buttons(panel, "Revoke")) == 1


def test_a_new_key_is_shown_once_and_leaves_no_trace(background: Background, later: Later) -> None:
    ring = Ring()
    panel = AccountPanel(facts, keys=ring, background=background)
    panel._name.value = "laptop"
    panel._scopes[0].value = False
    buttons(panel, "Create key")[0].click()

    assert ring.asked == [("laptop", ("creative:generate",), 90)]
    assert SECRET in texts(panel)
    box = panel._new.children[0]

    buttons(panel, "I have copied it")[0].click()

    assert SECRET not in texts(panel)
    assert SECRET not in str(box.get_state() if box.comm else box.value)
    assert SECRET not in str(vars(panel))


def test_a_key_that_nobody_copies_goes_away_by_itself(background: Background, later: Later) -> None:
    panel = AccountPanel(facts, keys=Ring(), background=background)
    panel._name.value = "laptop"
    buttons(panel, "Create key")[0].click()
    ((seconds, ring),) = later.due

    ring()

    assert seconds == SHOWN_SECONDS
    assert SECRET not in texts(panel)


def test_a_key_is_revoked_on_the_second_click(background: Background) -> None:
    ring = Ring()
    panel = AccountPanel(facts, keys=ring, background=background)
    button = buttons(panel, "Revoke")[0]

    button.click()
    assert ring.asked == []
    assert "will be shut out" in texts(panel)
    button.click()

    assert ring.asked == [("key_1",)]


def test_what_goes_wrong_is_said_in_the_panel(background: Background) -> None:
    panel = AccountPanel(facts, keys=Ring(), background=background)
    buttons(panel, "Create key")[0].click()
    assert "name: must have 1 to 100 characters" in texts(panel)
    assert not panel._make.disabled

    def gone() -> Facts:
        raise NoAnswerError("no connection to <there>")

    assert "no connection to &lt;there&gt;" in texts(AccountPanel(gone, background=background))


def test_saved_profiles_tell_how_to_use_them(background: Background) -> None:
    panel = AccountPanel(facts, profiles=["work", "home"], background=background)

    assert "studio = kit.connect(profile=&#x27;work&#x27;)" in texts(panel)


def test_nothing_of_a_key_is_in_what_is_saved(background: Background) -> None:
    panel = AccountPanel(facts, keys=Ring(), background=background)
    panel._name.value = "laptop"
    buttons(panel, "Create key")[0].click()

    bundle = panel._repr_mimebundle_()

    assert SECRET not in str(bundle)
    assert repr(panel) == "<AccountPanel>"
