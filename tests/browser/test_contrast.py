"""Secondary text has enough contrast in applications that define no colors of JupyterLab."""

import pytest
from playwright.sync_api import Browser

from kit import wire
from kit.widgets import preview
from kit.widgets.account.panel import Facts, render_facts
from kit.widgets.compare import Comparison
from kit.widgets.gallery import Gallery
from tests.browser.contrast import find_faint_text
from tests.widgets.gallery_items import new_item

pytestmark = pytest.mark.browser

#: Text and background of an output. Source: VS Code, default themes and high contrast.
THEMES = {
    "Dark Modern": ("#cccccc", "#1f1f1f"),
    "Light Modern": ("#3b3b3b", "#ffffff"),
    "Dark+": ("#d4d4d4", "#1e1e1e"),
    "Light+": ("#000000", "#ffffff"),
    "Dark High Contrast": ("#ffffff", "#000000"),
    "Light High Contrast": ("#292929", "#ffffff"),
}


@pytest.mark.parametrize("theme", THEMES)
def test_secondary_text_has_enough_contrast_in_vs_code(browser: Browser, theme: str) -> None:
    items = [new_item("gen_1", prompt="a lake"), new_item("gen_2", status="failed")]
    facts = {"id": "gen_1", "prompt": "a lake", "model_id": "flat"}
    states = ("queued", "completed", "canceled", "failed")
    generations = [wire.Generation(**facts, status=it, error="too dry") for it in states]
    account = wire.Account(id="acc_1", name="Ada", email="ada@example.org", credits=5)
    html = (
        Gallery(items).html(),
        Comparison(items).html(),
        *(preview.generation(generation, None) for generation in generations),
        preview.model(wire.Model(id="flat", setting_parameters=[wire.Parameter(name="size")])),
        render_facts(Facts("https://studio.test", account)),
    )
    page = browser.new_page()
    color, background = THEMES[theme]
    style = f"color:{color};background:{background}"
    page.set_content(f'<body style="{style}">{"".join(html)}</body>')

    assert find_faint_text(page.locator("body")) == []
    page.close()
