"""The account panel in JupyterLab: keys that leave no trace, and profiles to go over to."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from kit.client import profiles
from tests.browser.cells import look, opened
from tests.browser.lab import Lab
from tests.client import third_party
from tests.client.third_party import KEY, Server, ThirdParty
from tests.studio.second_service import SecondService

pytestmark = pytest.mark.browser

CELLS = ("import kit\nstudio = kit.connect()", "studio.account_panel()")
PANEL = ("import kit\nstudio = kit.connect()", "studio.panel()", "print(studio.account.name)")
TYPED = "tp_test_typed_in_the_browser"


@pytest.fixture
def own() -> Iterator[Server]:
    """The service of the studio in the cells."""
    with third_party.serve(ThirdParty("http://127.0.0.1:9")) as server:
        yield server


@pytest.fixture
def neighbor(tmp_path: Path) -> Iterator[Server]:
    """Another one, saved as the profile "work"."""
    with third_party.serve(SecondService("http://127.0.0.1:9")) as server:
        folder = tmp_path / "config" / "creative-studio-kit"
        profiles.save(server.url, KEY, name="work", path=folder / "profiles.toml")
        yield server


@pytest.fixture
def remote(environment: dict[str, str], own: Server, neighbor: Server, tmp_path: Path) -> None:
    """Kernels that find both of them."""
    environment |= {"KIT_BASE_URL": own.url, "KIT_API_KEY": KEY}
    environment["XDG_CONFIG_HOME"] = str(tmp_path / "config")


def saving_state(lab: Lab) -> None:
    """Have JupyterLab write all widget state into the notebook."""
    lab.set("@jupyter-widgets/jupyterlab-manager:plugin", {"saveState": True})


def test_a_new_key_is_seen_once_and_is_not_in_the_notebook(lab: Lab, browser: Browser) -> None:
    with opened(lab, browser, *CELLS) as notebook:
        notebook.run_all()
        page = notebook.page
        panel = page.locator(".kit-account").first
        expect(panel).to_contain_text("1,000 credits")
        expect(panel).to_contain_text("in use here")

        panel.get_by_placeholder("name of the key").fill("laptop")
        panel.get_by_placeholder("name of the key").press("Tab")
        panel.get_by_role("button", name="Create key").click()
        secret = panel.locator(".kit-new code")
        expect(secret).to_contain_text("cs_test_")
        text = secret.inner_text()
        look(notebook, "account", ".kit-account")
        panel.get_by_role("button", name="I have copied it").click()
        expect(secret).to_have_count(0)
        panel.get_by_role("button", name="Revoke").nth(1).click()
        panel.get_by_role("button", name="Yes, revoke").click()
        expect(panel).to_contain_text("revoked")

        saved = json.dumps(notebook.save())
        assert text[:16] not in saved
        assert "1,000 credits" in saved
        assert notebook.errors() == []


@pytest.mark.usefixtures("remote")
def test_the_panel_goes_over_to_a_profile_and_no_key_is_saved_with_all_widget_state(
    lab: Lab, browser: Browser, own: Server, neighbor: Server
) -> None:
    saving_state(lab)
    with opened(lab, browser, *PANEL, alone=True) as notebook:
        notebook.run_all()
        page = notebook.page
        top, here = page.locator(".kit-top"), page.locator(".kit-page:visible")
        expect(top).to_contain_text("Ada")
        page.get_by_role("tab", name="Account", exact=True).click()
        expect(here).to_contain_text("This is the account of")
        look(notebook, "profiles", ".kit-panel")

        here.get_by_label("Profile").select_option(label=f"work · {neighbor.url[7:]}")
        expect(top).to_contain_text("7 credits")
        expect(top).to_contain_text("profile work")
        banner = page.locator(".kit-banner")
        expect(banner).to_contain_text("kit.connect(profile='work')")
        expect(here).to_contain_text("Bob")

        # a new key, typed into a field that forgets it: first one that is refused
        here.get_by_role("button", name="Sign in with a key").click()
        field = here.get_by_label("API key")
        assert field.get_attribute("type") == "password"
        field.fill(TYPED)
        field.press("Enter")
        expect(here.get_by_role("alert")).to_contain_text("who are you?")
        expect(field).to_have_value("")
        here.get_by_label("Save as").fill("spare")
        field.fill(KEY)
        look(notebook, "signing", ".kit-panel")
        here.get_by_role("button", name="Sign in", exact=True).click()
        expect(top).to_contain_text("profile spare")
        expect(banner).to_contain_text("kit.connect(profile='spare')")
        notebook.dress("JupyterLab Dark")
        look(notebook, "signed", ".kit-panel")

        page.get_by_role("tab", name="Models", exact=True).click()
        expect(here).to_contain_text("carve")
        assert len(neighbor.requests("GET", "/v1/account")) >= 2

        expect(notebook.output(2)).to_contain_text("Ada")
        saved = notebook.save()
        assert saved["metadata"]["widgets"], "the state of all widgets was saved"
        text = json.dumps(saved)
        assert KEY not in text
        assert TYPED not in text
        assert notebook.errors() == []


@pytest.mark.usefixtures("remote")
def test_a_form_signs_in_and_the_next_cell_has_the_studio(
    lab: Lab, browser: Browser, neighbor: Server
) -> None:
    saving_state(lab)
    cells = (
        f'import kit\nlogin = kit.login("{neighbor.url}", profile="", form=True)\nlogin',
        "print(login.studio.account.name)",
    )
    with opened(lab, browser, *cells, alone=True) as notebook:
        page = notebook.page
        notebook.command("notebook:run-cell-and-select-next")
        field, address = page.get_by_label("API key"), page.get_by_label("Address")
        address.press("End")
        address.press_sequentially("?")
        expect(page.get_by_role("alert")).to_contain_text("'?'")
        expect(address).to_have_attribute("aria-invalid", "true")
        field.press_sequentially("two words")
        expect(page.get_by_text("a key has no blanks")).to_be_visible()
        expect(field).to_have_attribute("aria-invalid", "true")
        look(notebook, "login", ".kit-account")
        address.fill(neighbor.url)
        expect(address).not_to_have_attribute("aria-invalid", "true")
        field.fill(KEY)
        field.press("Enter")
        expect(notebook.output(0)).to_contain_text("signed in as Bob; not saved")
        page.locator(".jp-Notebook .jp-Cell").nth(1).click()
        notebook.command("notebook:run-cell")
        expect(notebook.output(1)).to_contain_text("Bob")

        saved = notebook.save()
        assert saved["metadata"]["widgets"]
        assert KEY not in json.dumps(saved)
        assert notebook.errors() == []
