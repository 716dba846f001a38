"""Switching to another profile, with two services on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import ipywidgets
import pytest

import kit
from kit import wire
from kit.client import profiles
from kit.client.settings import Settings
from kit.errors import ConfigError, InvalidApiKeyError
from kit.studio import AsyncGeneration, AsyncStudio, Studio
from kit.studio.accounts import AccountConnection, AccountConnections
from kit.studio.panel import PanelAccounts, PanelPages
from kit.widgets.panel import Panel
from tests.client import third_party
from tests.client.third_party import KEY, Server, ThirdParty
from tests.studio.second_service import SecondService
from tests.waiting import until
from tests.widgets.writers import search, text


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without profiles, and without variables that name a service."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("KIT_BASE_URL", "KIT_API_KEY", "KIT_PROFILE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def second(media: Server) -> Iterator[Server]:
    """The second service, saved as the profile "work"."""
    with third_party.serve(SecondService(media.url)) as server:
        profiles.save(server.url, KEY, name="work")
        yield server


@pytest.fixture
def connections(studio: Studio, second: Server) -> Iterator[AccountConnections]:
    connections = AccountConnections(studio.session)
    yield connections
    connections.close()


def test_the_studios_account_is_listed_before_profiles(
    connections: AccountConnections, api: Server, second: Server
) -> None:
    mine, work = connections.choices()

    assert (mine.name, mine.own, mine.code) == (api.url, True, "")
    assert (work.name, work.own, work.saved) == ("work", False, "work")
    assert work.label == f"work · {second.url.removeprefix('http://')}"
    assert work.code == "studio = kit.connect(profile='work')"
    assert KEY not in repr(connections.choices())


def test_a_connection_is_checked_when_opened_and_then_kept(
    connections: AccountConnections, second: Server
) -> None:
    second.script("GET", "/v1/account", third_party.problem(401, "invalid_api_key", "who?"))
    with pytest.raises(InvalidApiKeyError):
        connections.open("work")

    assert connections.open("work").account().name == "Bob"
    assert connections.open("work") is connections.open("work")
    with pytest.raises(ConfigError, match="no saved profile 'gone'"):
        connections.open("gone")


def test_signing_in_saves_a_profile_and_opens_it(
    connections: AccountConnections, second: Server
) -> None:
    connection, message = connections.enter(second.url, KEY, "home")

    assert message == "signed in as Bob, 7 credits; saved as 'home'"
    assert profiles.find("home") == (second.url, KEY)
    assert connections.open("home") is connection
    assert KEY not in message + repr(connection)


def test_a_key_without_a_name_is_used_and_not_saved(
    connections: AccountConnections, second: Server
) -> None:
    connection, message = connections.enter(second.url, KEY, "")

    assert message.endswith("not saved")
    assert [profile.name for profile in profiles.list_profiles()] == ["work"]
    place = connections.describe(connection)
    assert place.saved == ""
    assert place.code == f"studio = kit.login('{second.url}')"


def test_a_refused_key_saves_nothing(connections: AccountConnections, second: Server) -> None:
    with pytest.raises(InvalidApiKeyError):
        connections.enter(second.url, "tp_test_wrong", "home")

    assert [profile.name for profile in profiles.list_profiles()] == ["work"]


def test_a_profile_name_of_another_service_is_refused(
    connections: AccountConnections, api: Server
) -> None:
    with pytest.raises(ConfigError, match=r"the profile 'work' is for http.*take another name"):
        connections.enter(api.url, KEY, "work")


def test_a_new_key_of_the_studios_profile_is_shown(studio: Studio, api: Server) -> None:
    profiles.save(api.url, KEY, name="mine")
    settings = replace(studio.client.settings, name="mine")
    with Studio(settings) as mine:
        connections = AccountConnections(mine.session)
        connection, _ = connections.enter(api.url, KEY, "mine")

        assert connections.open("mine") is connection
        assert "This panel uses a new key" in connections.describe(connection).remark
        connections.close()


def test_the_account_panel_switches_without_the_studio(studio: Studio, second: Server) -> None:
    panel = studio.account_panel()
    until(lambda: text(panel), lambda shown: "Ada" in shown)

    (profile,) = search(panel, ipywidgets.Dropdown, "Profile")
    profile.value = "work"

    shown = until(lambda: text(panel), lambda shown: "Bob" in shown and "7 credits" in shown)
    assert "Only this panel uses &#x27;work&#x27;" in shown
    assert studio.account.name == "Ada"
    assert KEY not in shown
    panel.close()


def test_the_awaited_face_connects_with_await(astudio: AsyncStudio, second: Server) -> None:
    connections = AccountConnections(astudio.session)

    assert connections.choices()[1].code == "studio = await kit.aconnect(profile='work')"
    assert connections.open("work").account().name == "Bob"
    connections.close()
    asyncio.run(astudio.close())


def find_choice(panel: Panel, words: str) -> Any:
    """The list of profiles on the account page, once it is there."""
    panel.page = "Account"
    (one,) = until(lambda: search(get_page(panel), ipywidgets.Dropdown, words), bool)
    until(lambda: one.value)
    return one


def get_model(connection: AccountConnection, name: str) -> wire.Model:
    session = connection.session
    search: wire.Model = session.client.block(session.operations.model(name))
    return search


def get_page(panel: Panel) -> Any:
    (tabs,) = search(panel, ipywidgets.Tab)
    return tabs.children[tabs.selected_index]


@pytest.fixture
def panel(studio: Studio, second: Server) -> Iterator[Panel]:
    panel = PanelAccounts(studio.session).panel()
    until(lambda: text(panel), lambda shown: "Ada" in shown and "paint" in shown)
    yield panel
    panel.close()


def test_the_panel_switches_to_a_profile_and_back(
    panel: Panel, studio: Studio, api: Server
) -> None:
    panel.page = "Create"
    form = until(lambda: getattr(get_page(panel).children[0], "form", None))
    form.value = {"prompt": "half typed"}
    mine = panel.page_set

    find_choice(panel, "Profile").value = "work"
    until(lambda: panel.page_set is not mine)
    assert panel.page == "Account"
    shown = until(lambda: text(panel), lambda shown: "Bob" in shown and "7 credits" in shown)
    assert "profile work" in shown
    assert "kit.connect(profile=&#x27;work&#x27;)" in shown
    panel.page = "Models"
    until(lambda: text(panel), lambda shown: "carve" in shown)
    assert "paint" not in text(get_page(panel))
    panel.page = "History"
    until(lambda: get_page(panel).children and text(get_page(panel)))
    assert studio.account.name == "Ada", "the notebook's studio keeps its account"

    find_choice(panel, "Profile").value = api.url
    until(lambda: panel.page_set is mine)
    panel.page = "Create"
    assert get_page(panel).children[0].form is form
    assert form.value["prompt"] == "half typed"
    assert 'class="kit-banner"' not in text(panel)


def test_a_run_continues_when_the_profile_is_switched(panel: Panel, backend: ThirdParty) -> None:
    panel.page = "Create"
    form = until(lambda: getattr(get_page(panel).children[0], "form", None))
    form.value = {"prompt": "a lake"}
    backend.polls = 6
    run = form.submit()
    until(lambda: backend.orders)

    find_choice(panel, "Profile").value = "work"
    until(lambda: "Bob" in text(panel))

    assert run.result().facts.state == "completed"


def test_forms_of_another_profile_start_there(panel: Panel, second: Server, api: Server) -> None:
    mine = panel.page_set
    find_choice(panel, "Profile").value = "work"
    until(lambda: panel.page_set is not mine)
    panel.page = "Create"
    form = until(lambda: getattr(get_page(panel).children[0], "form", None))
    assert form.model.id == "carve"

    assert form.submit().result().model_id == "carve"
    assert form.code() == 'kit.connect(profile="work").generate("carve")'

    start = "/v1/creative-studio/generations"
    assert [len(server.requests("POST", start)) for server in (second, api)] == [1, 0]


def test_a_refused_profile_is_reported_and_not_used(panel: Panel, second: Server) -> None:
    second.script("GET", "/v1/account", third_party.problem(401, "invalid_api_key", "who?"))
    mine, chosen = panel.page_set, find_choice(panel, "Profile")
    before = chosen.value

    chosen.value = "work"

    until(lambda: text(get_page(panel)), lambda shown: "who?" in shown)
    until(lambda: chosen.value == before)
    assert panel.page_set is mine


def test_the_awaited_panel_creates_awaited_generations_there(
    studio: Studio, astudio: AsyncStudio, second: Server
) -> None:
    accounts = PanelAccounts(astudio.session)
    connection = accounts.connections.open("work")

    form = PanelPages(connection, accounts).form(get_model(connection, "carve"))

    assert form.code() == 'await (await kit.aconnect(profile="work")).generate("carve")'
    assert isinstance(form.submit().result(), AsyncGeneration)
    accounts.connections.close()
    asyncio.run(astudio.close())


def test_code_for_an_unsaved_sign_in_asks_for_the_key(studio: Studio, second: Server) -> None:
    accounts = PanelAccounts(studio.session)
    connection = accounts.connections.enter(second.url, KEY, "")[0]
    mine = PanelPages(accounts.connections.own, accounts)

    code = PanelPages(connection, accounts).form(get_model(connection, "carve")).code()

    assert code == f'kit.login("{second.url}", profile="").generate("carve")'
    assert mine.form(studio.models["paint"]).code() == 'studio.generate("paint")'
    accounts.connections.close()


def test_code_of_a_studio_with_a_profile_works_in_a_script(second: Server) -> None:
    work = kit.connect(profile="work")

    form = work.form("carve")

    assert form.code() == 'kit.connect(profile="work").generate("carve")'
    assert "kit.connect(profile=&quot;work&quot;).form(" in form._repr_mimebundle_()["text/html"]
    work.close()


def test_a_saved_panel_shows_its_service_and_models(panel: Panel, api: Server) -> None:
    html = panel._repr_mimebundle_()["text/html"]

    assert api.url in html
    assert "Paint" in html
    assert "studio.panel()" in html


def test_visitors_see_no_profiles_and_save_none(
    studio: Studio, second: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVER_SOFTWARE", "voila/0.5.13")
    connections = AccountConnections(studio.session)

    (mine,) = connections.choices()
    assert (mine.saved, mine.remark) == ("", "This is the account of this page.")
    with pytest.raises(ConfigError, match="there is no account 'work' on this page"):
        connections.open("work")
    with pytest.raises(ConfigError, match="keys cannot be saved here"):
        connections.enter(second.url, KEY, "home")
    connection, _ = connections.enter(second.url, KEY, "")
    assert "You are using" in connections.describe(connection).remark
    assert [profile.name for profile in profiles.list_profiles()] == ["work"]
    connections.close()


def test_settings_are_those_of_the_profile(connections: AccountConnections, second: Server) -> None:
    settings = connections.open("work").session.operations.settings

    assert isinstance(settings, Settings)
    assert (settings.base_url, settings.name) == (second.url, "work")
    assert settings.data == connections.own.session.operations.settings.data
