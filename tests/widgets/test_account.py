from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from ipywidgets import Checkbox, HBox

from kit import wire
from kit.errors import ConfigError, ConflictError, InvalidApiKeyError, NoAnswerError
from kit.widgets.account import AccountChoice, Key, Spent
from kit.widgets.account.panel import SHOWN_SECONDS, AccountPanel, Facts
from kit.widgets.account.signin import SignIn
from kit.widgets.background import BackgroundRunner
from kit.widgets.secret import OneTimeSecret, SecretInput
from tests.widgets.tree import every, find, send

SECRET = "cs_test_" + "s3cr3t" * 6


class FakeKeys:
    """A list of keys without a service."""

    def __init__(self) -> None:
        self.keys = [
            Key("key_1", "cs_test_aaaa", "demo", ("read",), "active", in_use=True),
            Key("key_2", "cs_test_bbbb", "<old>", ("read",), "revoked"),
        ]
        self.requests: list[tuple[Any, ...]] = []

    def list_all(self) -> list[Key]:
        return self.keys

    def create(self, name: str, scopes: Sequence[str], days: int | None) -> str:
        if not name:
            raise ConflictError("name: must have 1 to 100 characters")
        self.requests.append((name, tuple(scopes), days))
        expires = datetime(2030, 1, 2, tzinfo=UTC)
        self.keys.append(Key("key_3", SECRET[:12], name, tuple(scopes), "active", expires))
        return SECRET

    def revoke(self, key_id: str) -> None:
        self.requests.append((key_id,))


class Timers:
    """Timers that the test runs by hand."""

    def __init__(self) -> None:
        self.due: list[tuple[float, Callable[[], None]]] = []

    def __call__(self, seconds: float, work: Callable[[], None]) -> Callable[[], None]:
        self.due.append((seconds, work))
        return self.due.clear


def facts() -> Facts:
    account = wire.Account(id="a", name="Ada <b>", email="ada@a.test", credits=Decimal("9.5"))
    return Facts("embedded", account, Spent(Decimal("0.25"), Decimal(3)))


class FakeProfiles:
    """Two profiles to choose from, without a service."""

    def __init__(self) -> None:
        self.active = "home"
        self.refused = False
        self.entered: list[tuple[str, str, str]] = []

    def list_all(self) -> list[AccountChoice]:
        remark = "Only this panel uses <work>"
        code = "studio = kit.connect(profile='work')"
        return [
            AccountChoice(
                "home", "home", "https://home.test", "home", own=True, remark="This is yours."
            ),
            AccountChoice("work", "work", "https://work.test", "work", remark=remark, code=code),
        ]

    def choose(self, name: str) -> None:
        if self.refused:
            raise InvalidApiKeyError("the key is unknown")
        self.active = name

    def enter(self, address: str, key: str, name: str) -> str:
        self.entered.append((address, key, name))
        self.active = name
        return "signed in as Bob"

    def load(self) -> Facts:
        name = {"home": "Ada", "work": "Bob"}[self.active]
        return Facts(self.active, wire.Account(id="a", name=name))


def enter_key(form: SignIn, secret: str, timers: Timers) -> None:
    """Enter a secret as the page does, and run the timer that it starts."""
    send(every(form, SecretInput)[0], {"secret": secret})
    ((_, work),) = timers.due
    timers.due.clear()
    work()


def all_widgets(panel: Any) -> list[Any]:
    return [panel, *(one for child in getattr(panel, "children", ()) for one in all_widgets(child))]


@pytest.fixture
def timers() -> Timers:
    return Timers()


@pytest.fixture
def background(timers: Timers) -> BackgroundRunner:
    return BackgroundRunner(begin=lambda work: work(), after=timers)


def texts(panel: Any) -> str:
    """Return all text that a widget and those inside it show."""
    parts = [str(getattr(panel, "value", "")), str(getattr(panel, "description", ""))]
    return " ".join([*parts, *(texts(child) for child in getattr(panel, "children", ()))])


def request_secret(box: Any) -> list[Any]:
    """Return the responses to a page that has just drawn a box with a secret."""
    answers: list[Any] = []
    box.send = answers.append
    send(box, {"ready": True})
    del box.send
    return answers


def buttons(panel: Any, text: str) -> list[Any]:
    found = [panel] if getattr(panel, "description", "") == text and hasattr(panel, "click") else []
    return found + [b for child in getattr(panel, "children", ()) for b in buttons(child, text)]


def test_the_panel_shows_the_account_and_its_spending(background: BackgroundRunner) -> None:
    shown = texts(AccountPanel(facts, background=background))

    assert "Ada &lt;b&gt;" in shown
    for words in ("9.5 credits", "0.25 credits", "3 credits", "embedded", "ada@a.test"):
        assert words in shown


def test_a_service_without_a_ledger_shows_no_spending(background: BackgroundRunner) -> None:
    panel = AccountPanel(
        lambda: Facts("x", wire.Account(id="a", name="Ada")), background=background
    )

    assert "not reported" in texts(panel)
    assert "spent today" not in texts(panel)
    assert "this service keeps no ledger" in texts(panel)


def test_an_uncertain_amount_is_marked_with_its_reason(background: BackgroundRunner) -> None:
    def shown(*doubts: str) -> str:
        spent = Spent(Decimal("0.25"), Decimal(3), doubts)
        found = Facts("x", wire.Account(id="a", name="Ada"), spent)
        return texts(AccountPanel(lambda: found, background=background))

    sure, unsure = shown(), shown("It may be <more>.")
    assert ">0.25 credits<" in sure
    assert "about" not in sure
    assert "summed from the service&#x27;s ledger; days are in UTC" in sure
    assert '<span title="It may be &lt;more&gt;.">about 0.25 credits</span>' in unsure
    assert "UTC. It may be &lt;more&gt;.</span>" in unsure


def test_keys_are_listed_and_only_active_ones_can_be_revoked(background: BackgroundRunner) -> None:
    panel = AccountPanel(facts, keys=FakeKeys(), background=background)

    assert "cs_test_aaaa" in texts(panel)
    assert "in use here" in texts(panel)
    assert "&lt;old&gt;" in texts(panel)
    (revoke,) = buttons(panel, "Revoke")
    assert revoke.tooltip == "Revoke cs_test_aaaa… forever"


def test_a_new_key_is_shown_once_and_not_stored_in_the_widgets(
    background: BackgroundRunner, timers: Timers
) -> None:
    keys = FakeKeys()
    panel = AccountPanel(facts, keys=keys, background=background)
    find(panel.key_list, "Name").value = "laptop"
    every(panel.key_list, Checkbox)[0].value = False
    buttons(panel, "Create key")[0].click()

    assert keys.requests == [("laptop", ("creative:generate",), 90)]
    box = every(panel, OneTimeSecret)[0]
    assert request_secret(box) == [{"secret": SECRET}]
    assert SECRET not in texts(panel)
    assert SECRET not in str(box.get_state())

    buttons(panel, "I have copied it")[0].click()

    assert every(panel, OneTimeSecret) == []
    assert SECRET not in str(vars(panel)) + str(vars(box))


def test_a_double_click_creates_one_key_and_newly_typed_text_stays(timers: Timers) -> None:
    pending: list[Callable[[], None]] = []
    keys = FakeKeys()
    panel = AccountPanel(
        facts, keys=keys, background=BackgroundRunner(begin=pending.append, after=timers)
    )
    pending.pop()()
    find(panel.key_list, "Name").value = "laptop"

    for _ in range(2):
        buttons(panel, "Create key")[0].click()
    find(panel.key_list, "Name").value = "tablet"
    for work in pending:
        work()

    assert [request[0] for request in keys.requests] == ["laptop"]
    assert find(panel.key_list, "Name").value == "tablet"
    assert not panel.key_list.make.disabled


def test_a_click_while_the_panel_still_loads_is_not_lost(timers: Timers) -> None:
    pending: list[Callable[[], None]] = []
    keys = FakeKeys()
    background = BackgroundRunner(begin=pending.append, after=timers)
    panel = AccountPanel(facts, keys=keys, background=background)
    find(panel.key_list, "Name").value = "laptop"

    buttons(panel, "Create key")[0].click()
    for work in pending:
        work()

    assert [request[0] for request in keys.requests] == ["laptop"]


def test_a_key_that_is_not_copied_disappears_after_a_timeout(
    background: BackgroundRunner, timers: Timers
) -> None:
    panel = AccountPanel(facts, keys=FakeKeys(), background=background)
    find(panel.key_list, "Name").value = "laptop"
    buttons(panel, "Create key")[0].click()
    box = every(panel, OneTimeSecret)[0]
    ((seconds, keys),) = timers.due

    keys()

    assert seconds == SHOWN_SECONDS
    assert every(panel, OneTimeSecret) == []
    assert SECRET not in str(vars(box))


def test_a_key_is_revoked_on_the_second_click(background: BackgroundRunner) -> None:
    keys = FakeKeys()
    panel = AccountPanel(facts, keys=keys, background=background)

    buttons(panel, "Revoke")[0].click()
    assert keys.requests == []
    assert "will lose access" in texts(panel)
    buttons(panel, "Yes, revoke")[0].click()

    assert keys.requests == [("key_1",)]


def test_an_open_confirmation_survives_a_refresh(background: BackgroundRunner) -> None:
    keys = FakeKeys()
    panel = AccountPanel(facts, keys=keys, background=background)
    buttons(panel, "Revoke")[0].click()

    panel.refresh()

    assert buttons(panel, "Yes, revoke")[0].layout.display is None
    buttons(panel, "Yes, revoke")[0].click()
    assert keys.requests == [("key_1",)]


def test_keep_appears_where_the_revoke_button_was(background: BackgroundRunner) -> None:
    panel = AccountPanel(facts, keys=FakeKeys(), background=background)
    buttons(panel, "Revoke")[0].click()

    def labels() -> list[str]:
        profiles = next(box for box in every(panel, HBox) if buttons(box, "Yes, revoke"))
        there = [one for one in profiles.children[1:] if one.layout.display != "none"]
        return [one.description for one in there]

    assert labels() == ["Yes, revoke", "Keep"], "Keep is at the right edge, where Revoke was before"
    buttons(panel, "Keep")[0].click()

    assert labels() == ["Revoke"]


def test_new_buttons_appear_before_the_focused_one_disappears(background: BackgroundRunner) -> None:
    panel = AccountPanel(facts, keys=FakeKeys(), background=background)
    names = ("Revoke", "Yes, revoke", "Keep")
    parts = [buttons(panel, name)[0] for name in names]
    labels: list[list[str]] = []

    def record(_: object) -> None:
        labels.append([one.description for one in parts if one.layout.display != "none"])

    for part in parts:
        part.layout.observe(record, "display")
    parts[0].click()
    parts[2].click()

    assert labels[1] == list(names), "all are there before Revoke goes"
    assert labels[2] == ["Yes, revoke", "Keep"]
    assert labels[3] == list(names), "all are there before Keep goes"
    assert labels[-1] == ["Revoke"]


def test_errors_are_shown_in_the_panel(background: BackgroundRunner) -> None:
    panel = AccountPanel(facts, keys=FakeKeys(), background=background)
    buttons(panel, "Create key")[0].click()
    assert "name: must have 1 to 100 characters" in texts(panel)
    assert not panel.key_list.make.disabled

    def fail() -> Facts:
        raise NoAnswerError("no connection to <there>")

    assert "no connection to &lt;there&gt;" in texts(AccountPanel(fail, background=background))


def test_choosing_a_profile_switches_the_panel_to_it(background: BackgroundRunner) -> None:
    profiles = FakeProfiles()
    panel = AccountPanel(profiles.load, profiles=profiles, background=background)
    assert "Ada" in texts(panel)
    assert "This is yours." in texts(panel)
    assert "kit.connect" not in texts(panel)

    find(panel, "Profile").value = "work"

    assert profiles.active == "work"
    assert "Bob" in texts(panel)
    assert "Only this panel uses &lt;work&gt;" in texts(panel)
    assert "studio = kit.connect(profile=&#x27;work&#x27;)" in texts(panel)
    find(panel, "Profile").value = "home"
    assert "Ada" in texts(panel)


def test_a_profile_that_cannot_be_opened_is_not_chosen(background: BackgroundRunner) -> None:
    profiles = FakeProfiles()
    panel = AccountPanel(profiles.load, profiles=profiles, background=background)
    profiles.refused = True

    find(panel, "Profile").value = "work"

    assert "the key is unknown" in texts(panel)
    assert (profiles.active, find(panel, "Profile").value) == ("home", "home")
    assert "Ada" in texts(panel)


def test_another_profile_can_be_chosen_if_the_own_key_is_refused(
    background: BackgroundRunner,
) -> None:
    profiles = FakeProfiles()

    def load() -> Facts:
        if profiles.active == "home":
            raise InvalidApiKeyError("who are you?")
        return profiles.load()

    panel = AccountPanel(load, profiles=profiles, background=background)
    assert "who are you?" in texts(panel)

    find(panel, "Profile").value = "work"

    assert "Bob" in texts(panel)
    assert "who are you?" not in texts(panel)


def test_keys_are_hidden_for_another_account(background: BackgroundRunner) -> None:
    profiles = FakeProfiles()
    panel = AccountPanel(profiles.load, keys=FakeKeys(), profiles=profiles, background=background)
    assert panel.key_list.layout.display is None

    find(panel, "Profile").value = "work"

    assert panel.key_list.layout.display == "none"


def test_signing_in_switches_account_and_stores_no_key(
    background: BackgroundRunner, timers: Timers
) -> None:
    profiles = FakeProfiles()
    panel = AccountPanel(profiles.load, profiles=profiles, background=background)
    buttons(panel, "Sign in with a key …")[0].click()
    (form,) = every(panel, SignIn)
    assert (find(form, "Address").value, find(form, "Save as").value) == (
        "https://home.test",
        "home",
    )

    find(form, "Save as").value = "work"
    enter_key(form, SECRET, timers)

    assert profiles.entered == [("https://home.test", SECRET, "work")]
    assert "signed in as Bob" in texts(panel)
    assert find(panel, "Profile").value == "work"
    assert SECRET not in texts(panel) + str(vars(every(form, SecretInput)[0])) + str(vars(form))
    assert SECRET not in str([one.get_state() for one in all_widgets(panel)])
    buttons(panel, "Sign in with a key …")[0].click()
    assert every(panel, SignIn) == []


def test_a_sign_in_form_provides_the_studio_once_signed_in(
    background: BackgroundRunner, timers: Timers
) -> None:
    form = SignIn(
        lambda *given: given, name="work", describe=lambda _: "<in>", background=background
    )
    with pytest.raises(ConfigError, match="not signed in yet"):
        _ = form.studio

    enter_key(form, SECRET, timers)
    assert "a service has an address" in texts(form)
    find(form, "Address").value = " https://a.test "
    enter_key(form, SECRET, timers)

    assert form.studio == ("https://a.test", SECRET, "work")
    assert "&lt;in&gt;" in texts(form)
    assert not every(form, SecretInput)[0].disabled
    assert repr(form) == "<SignIn https://a.test>"
    assert "kit.login(form=True)" in form._repr_mimebundle_()["text/html"]


def test_an_invalid_address_is_reported_at_its_field_while_typing(
    background: BackgroundRunner,
) -> None:
    form = SignIn(lambda *given: given, background=background)
    box = find(form, "Address")

    box.value = "studio.example"
    assert "must be a whole address" in texts(form)
    assert "kit-invalid" in box._dom_classes

    box.value = "https://studio.example"
    assert "must be" not in texts(form)
    assert "kit-invalid" not in box._dom_classes


def test_a_refused_key_is_reported_and_the_field_is_enabled_again(
    background: BackgroundRunner, timers: Timers
) -> None:
    def refuse(*_: str) -> None:
        raise InvalidApiKeyError("the key is <unknown>")

    form = SignIn(refuse, address="https://a.test", background=background)
    enter_key(form, SECRET, timers)

    assert "the key is &lt;unknown&gt;" in texts(form)
    assert not every(form, SecretInput)[0].disabled
    with pytest.raises(ConfigError):
        _ = form.studio


def test_the_saved_html_contains_nothing_of_a_key(background: BackgroundRunner) -> None:
    panel = AccountPanel(facts, keys=FakeKeys(), background=background)
    find(panel.key_list, "Name").value = "laptop"
    buttons(panel, "Create key")[0].click()

    bundle = panel._repr_mimebundle_()

    assert SECRET not in str(bundle)
    assert repr(panel) == "<AccountPanel>"
