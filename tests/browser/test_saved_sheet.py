"""A saved contact sheet in a browser, opened as a file in both color schemes."""

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser

from kit.explore.sweeps import plan_values
from kit.explore.sweeps.sheet import Tile, lay_out_sheet
from tests.browser.contrast import find_faint_text

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_saved_sheet_follows_the_color_scheme_of_its_reader(
    browser: Browser, tmp_path: Path, scheme: Literal["light", "dark"]
) -> None:
    tiles = [Tile(None, f"#{n} · 0.1 credits", number=n) for n in range(2)]
    found = lay_out_sheet(
        plan_values({"seed": [1, 2]}, "grid"), tiles, "poster", x=None, y=None, size=90
    )
    context = browser.new_context(color_scheme=scheme)
    view = context.new_page()
    view.goto(found.save(tmp_path / "sheet.html").as_uri())

    assert find_faint_text(view.locator("html")) == []
    color = view.locator("html").evaluate("page => getComputedStyle(page).backgroundColor")
    assert (color == "rgb(255, 255, 255)") == (scheme == "light")
    context.close()
