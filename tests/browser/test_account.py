"""The account panel in JupyterLab: new keys are not saved, and profiles can be chosen."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from kit.client import profiles
from tests.browser.cells import check_part, open_cells
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
    """Another service, saved as the profile "work"."""
    with third_party.serve(SecondService("http://127.0.0.1:9")) as server:
        folder = tmp_path / "config" / "creative-studio-kit"
        profiles.save(server.url, KEY, name="work", path=folder / "profiles.toml")
        yield server


@pytest.fixture
def remote(environment: dict[str, str], own: Server, neighbor: Server, tmp_path: Path) -> None:
    """Let the kernels find both services."""
    environment |= {"KIT_BASE_URL": own.url, "KIT_API_KEY": KEY}
    environment["XDG_CONFIG_HOME"] = str(tmp_path / "config")


def save_widget_state(lab: Lab) -> None:
    """Let JupyterLab save all widget state in the notebook."""
    lab.set("@jupyter-widgets/jupyterlab-manager:plugin", {"saveState": True})


def test_a_new_key_is_shown_once_and_not_saved_in_the_notebook(lab: Lab, browser: Browser) -> None:
    with open_cells(lab, browser, *CELLS) as notebook:
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
        check_part(notebook, "account", ".kit-account")
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
def test_the_panel_switches_to_a_profile_and_saves_no_key_in_widget_state(
    lab: Lab, browser: Browser, own: Server, neighbor: Server
) -> None:
    save_widget_state(lab)
    with open_cells(lab, browser, *PANEL, alone=True) as notebook:
        notebook.run_all()
        page = notebook.page
        top, here = page.locator(".kit-top"), page.locator(".kit-page:visible")
        expect(top).to_contain_text("Ada")
        page.get_by_role("tab", name="Account", exact=True).click()
        expect(here).to_contain_text("This is the account of")
        check_part(notebook, "profiles", ".kit-panel")

        here.get_by_label("Profile").select_option(label=f"work · {neighbor.url[7:]}")
        expect(top).to_contain_text("7 credits")
        expect(top).to_contain_text("profile work")
        banner = page.locator(".kit-banner")
        expect(banner).to_contain_text("kit.connect(profile='work')")
        expect(here).to_contain_text("Bob")

        # a new key, typed into a field that does not store it: first one that is refused
        here.get_by_role("button", name="Sign in with a key").click()
        field = here.get_by_label("API key")
        assert field.get_attribute("type") == "password"
        field.fill(TYPED)
        field.press("Enter")
        expect(here.get_by_role("alert")).to_contain_text("who are you?")
        expect(field).to_have_value("")
        here.get_by_label("Save as").fill("spare")
        field.fill(KEY)
        check_part(notebook, "signing", ".kit-panel")
        here.get_by_role("button", name="Sign in", exact=True).click()
        expect(top).to_contain_text("profile spare")
        expect(banner).to_contain_text("kit.connect(profile='spare')")
        notebook.set_theme("JupyterLab Dark")
        check_part(notebook, "signed", ".kit-panel")

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
def test_a_sign_in_form_provides_the_studio_to_the_next_cell(
    lab: Lab, browser: Browser, neighbor: Server
) -> None:
    save_widget_state(lab)
    cells = (
        f'import kit\nlogin = kit.login("{neighbor.url}", profile="", form=True)\nlogin',
        "print(login.studio.account.name)",
    )
    with open_cells(lab, browser, *cells, alone=True) as notebook:
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
        check_part(notebook, "login", ".kit-account")
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
