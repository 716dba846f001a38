"""Clicks while a cell draws: with the settings of ``kit lab`` they wait for the cell."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

import kit
from tests.browser.cells import open_cells
from tests.browser.lab import Lab

pytestmark = pytest.mark.browser

SETTINGS = Path(kit.__file__).parent / "commands/jupyter_config/labconfig"
CELLS = (
    """
import threading, time
import kit, ipywidgets
import matplotlib.pyplot as plt

studio = kit.connect()
studio.generate("poster", "a lake", size=256)
threads = []

def draw(_):
    studio.costs.by("model").plot()
    threads.append(threading.current_thread().name)
    button.description = f"drawn {len(threads)}"

button = ipywidgets.Button(description="drawn 0")
button.on_click(draw)
button
""",
    """
mine = plt.figure()
print("drawing")
time.sleep(3)
print(plt.gcf() is mine, len(threads))
plt.close()
""",
    "print(set(threads))",
)


def test_a_click_waits_for_the_cell_and_keeps_its_figure(lab: Lab, browser: Browser) -> None:
    overrides = json.loads((SETTINGS / "default_setting_overrides.json").read_text("utf-8"))
    for plugin, values in overrides.items():
        lab.set(plugin, values)
    with open_cells(lab, browser, *CELLS, alone=True) as notebook:
        page = notebook.page

        def run(cell: int) -> None:
            page.locator(".jp-Notebook .jp-Cell").nth(cell).locator(".jp-Cell-inputArea").click()
            page.evaluate("void jupyterapp.commands.execute('notebook:run-cell')")

        run(0)
        page.get_by_role("button", name="drawn 0").click()
        again = page.get_by_role("button", name="drawn 1")
        expect(again).to_be_visible()
        run(1)
        expect(notebook.output(1)).to_contain_text("drawing")
        again.click()

        expect(notebook.output(1)).to_contain_text("True 1")
        expect(page.get_by_role("button", name="drawn 2")).to_be_visible()
        run(2)
        expect(notebook.output(2)).to_contain_text("{'MainThread'}")
