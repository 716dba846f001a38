"""Logging in: the key is requested, verified and saved, and never shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kit
from kit.errors import ConfigError, InvalidApiKeyError
from kit.widgets.secret import SecretInput
from tests.client.fixtures import api, backend, media
from tests.client.third_party import KEY, Server
from tests.waiting import until
from tests.widgets.tree import every, find, send, styled

__all__ = ["api", "backend", "media"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user without profiles, and without variables that name a service."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("KIT_DATA", str(tmp_path / "data"))
    for name in ("KIT_BASE_URL", "KIT_API_KEY", "KIT_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_connect_uses_the_saved_login_without_arguments(api: Server) -> None:
    questions: list[str] = []

    def answer(question: str) -> str:
        questions.append(question)
        return KEY

    with kit.login(api.url, ask_key=answer) as studio:
        assert studio.account.name == "Ada"
    with kit.connect() as again:
        assert again.account.name == "Ada"

    assert len(questions) == 1
    kit.logout()
    with pytest.raises(ConfigError, match="no saved profile"):
        kit.logout()


def test_a_login_does_not_pay_again_for_what_was_generated_before(api: Server) -> None:
    with kit.connect(api.url, KEY) as studio:
        first = studio.generate("paint", "a lake")
    with kit.login(api.url, KEY, profile="work") as studio:
        again = studio.generate("paint", "a lake")

    assert (again.id, again.made_before) == (first.id, True)


def test_a_key_that_the_service_refuses_is_not_saved(api: Server, home: Path) -> None:
    with pytest.raises(InvalidApiKeyError):
        kit.login(api.url, "cs_test_wrong")

    assert not (home / "config").exists()


def test_login_reports_a_missing_key_or_address(api: Server) -> None:
    def refuse(_: str) -> str:
        raise EOFError

    with pytest.raises(ConfigError, match="an API key is needed, and there is no way to ask for"):
        kit.login(api.url, ask_key=refuse)
    with pytest.raises(ConfigError, match="must be a whole address"):
        kit.login("studio.example", ask_key=refuse)
    with pytest.raises(ConfigError, match="an address is needed, and nothing was typed"):
        kit.login(ask=lambda _: " ", api_key=KEY)


def submit_key(form: Any) -> None:
    """Enter the key as the page does, and wait for the response."""
    (field,) = every(form, SecretInput)
    send(field, {"secret": KEY})
    until(lambda: not field.disabled)


def test_an_unknown_profile_is_refused_with_the_known_ones(api: Server) -> None:
    kit.login(api.url, KEY, profile="work").close()

    with pytest.raises(ConfigError, match="no saved profile 'home'; there is 'work'"):
        kit.connect(profile="home")


def test_a_form_signs_in_and_saves_the_profile(api: Server, home: Path) -> None:
    login = kit.login(api.url, profile="work", form=True)
    with pytest.raises(ConfigError, match="not signed in yet"):
        _ = login.studio

    submit_key(login)

    with login.studio as studio:
        assert studio.account.name == "Ada"
    assert "saved as &#x27;work&#x27;" in styled(login, "kit-status").value
    with kit.connect(profile="work") as again:
        assert again.account.name == "Ada"
    assert KEY not in str(vars(login)) + str(login.get_state()) + repr(login)


def test_an_empty_profile_name_saves_nothing(api: Server, home: Path) -> None:
    with kit.login(api.url, KEY, profile="") as studio:
        assert studio.account.name == "Ada"

    assert not (home / "config").exists()


def test_a_page_for_visitors_saves_nothing(
    api: Server, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVER_SOFTWARE", "voila/0.5.13")
    login = kit.login(api.url, form=True)
    find(login, "Save as").value = "work"
    submit_key(login)
    assert "keys cannot be saved here" in styled(login, "kit-status").value

    find(login, "Save as").value = ""
    submit_key(login)
    login.studio.close()

    assert not (home / "config").exists()
