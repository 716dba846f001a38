"""The account panel in JupyterLab: a key is made, used up, and leaves no trace."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.cells import keep_screenshot, opened
from tests.browser.lab import Lab

pytestmark = pytest.mark.browser

CELLS = ("import kit\nstudio = kit.connect()", "studio.account_panel()")


def test_a_new_key_is_seen_once_and_is_not_in_the_notebook(lab: Lab, tmp_path: Path) -> None:
    with opened(lab, tmp_path, *CELLS) as notebook:
        notebook.run_all()
        page = notebook.page
        panel = page.locator(".kit-account")
        expect(panel).to_contain_text("1000 credits")
        expect(panel).to_contain_text("in use here")

        panel.get_by_placeholder("what the key is for").fill("laptop")
        panel.get_by_placeholder("what the key is for").press("Tab")
        panel.get_by_role("button", name="Create key").click()
        secret = panel.locator(".kit-new code")
        expect(secret).to_contain_text("cs_test_")
        text = secret.inner_text()
        keep_screenshot(notebook, "account", ".kit-account")
        page.evaluate(
            "jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})"
        )
        keep_screenshot(notebook, "account-dark", ".kit-account")
        panel.get_by_role("button", name="I have copied it").click()
        expect(secret).to_have_count(0)
        panel.get_by_role("button", name="Revoke").nth(1).click()
        panel.get_by_role("button", name="Yes, revoke").click()
        expect(panel).to_contain_text("revoked")

        saved = json.dumps(notebook.save())
        assert text[:16] not in saved
        assert "1000 credits" in saved
        assert notebook.errors() == []
