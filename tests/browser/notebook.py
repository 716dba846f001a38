"""Notebooks in a real browser.

Commands of JupyterLab's are run by their id instead of through menus, and waiting is for promises
and the kernel's own state.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    Locator,
    Page,
    Request,
    ViewportSize,
    expect,
    sync_playwright,
)

from tests.browser.lab import Lab

#: The first takes a sixth less processor time: it has no window of its own to draw.
_PROGRAMS = ("chromium-headless-shell", "chromium", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, _PROGRAMS)), "")
SIZE: ViewportSize = {"width": 1400, "height": 1000}
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    # Not a route: with one, nothing is taken from the cache, and each request waits for the tests.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--autoplay-policy=no-user-gesture-required",
]
_ERRORS = """() => jupyterapp.shell.currentWidget.content.model.toJSON().cells
    .flatMap(cell => cell.outputs ?? [])
    .filter(output => output.output_type === "error")
    .map(output => output.traceback.join("\\n"))"""
_SEEN = """part => {
    part.scrollIntoView({ block: 'start' });
    const { left, width, top, bottom } = part.getBoundingClientRect();
    const height = Math.min(bottom, innerHeight) - top;
    const there = document.elementFromPoint(left + width / 2, top + Math.min(height / 2, 60));
    return part.contains(there);
}"""
#: With `change` a test changes what belongs to the page; the next one has it as it was.
_CHANGE = """
window.changes = [];
window.change = (holder, name, property) => {
    const before = Object.getOwnPropertyDescriptor(holder, name);
    Object.defineProperty(holder, name, { configurable: true, ...property });
    changes.unshift(() => {
        delete holder[name];
        if (before) Object.defineProperty(holder, name, before);
    });
};
"""
_UNDONE = "() => changes.splice(0).forEach(undo => undo())"
_CLOSED = """() => {
    for (const widget of [...jupyterapp.shell.widgets('main')]) widget.dispose();
    localStorage.clear();
    sessionStorage.clear();
}"""
_OPENED = """async path => {
    await jupyterapp.commands.execute('docmanager:open', { path });
    await jupyterapp.shell.currentWidget.context.ready;
}"""
# What a widget leaves behind follows it a second later: then there is more to save.
_SAVED = """() => {
    if (!jupyterapp.shell.currentWidget.context.model.dirty) return true;
    jupyterapp.commands.execute('docmanager:save');
}"""
_LOCAL = ("http://127.0.0.1", "http://localhost", "data:", "blob:", "about:")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Open a browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=_ARGUMENTS, ignore_default_args=["--hide-scrollbars"]
        )
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def browsing(browser: Browser) -> Iterator[tuple[BrowserContext, list[str]]]:
    """Open a window that reaches this machine only, and the list of what else it asked for."""
    context = _window(browser)
    try:
        with _refusing(context) as refused:
            yield context, refused
    finally:
        context.close()


@contextmanager
def sharing(browser: Browser) -> Iterator[tuple[BrowserContext, list[str]]]:
    """Open the window that a test before has used, or one: JupyterLab takes seconds to load.

    A test that fails leaves none; see `Notebook.leave` for what the others leave.
    """
    context = next(iter(browser.contexts), None) or _window(browser)
    try:
        with _refusing(context) as refused:
            yield context, refused
    except BaseException:
        context.close()
        raise


def _window(browser: Browser) -> BrowserContext:
    context = browser.new_context(viewport=SIZE)
    context.add_init_script(_CHANGE)
    return context


@contextmanager
def _refusing(context: BrowserContext) -> Iterator[list[str]]:
    refused: list[str] = []

    def look(request: Request) -> None:
        if not request.url.startswith(_LOCAL):
            refused.append(request.url)

    context.on("request", look)
    yield refused
    context.remove_listener("request", look)


class Notebook:
    """One notebook, open in JupyterLab: in the page that is there, or in a new one."""

    KERNEL = "jupyterapp.shell.currentWidget?.context?.sessionContext?.session?.kernel"

    def __init__(self, context: BrowserContext, lab: Lab, path: str) -> None:
        self.lab = lab
        self.path = path
        loaded = bool(context.pages)
        self.page: Page = context.pages[0] if loaded else context.new_page()
        self.console: list[str] = []
        self.page.on("pageerror", self._keep)
        if loaded:
            self.open(lab, path)
        else:
            self._load()

    def _keep(self, error: Error) -> None:
        self.console.append(str(error))

    def _load(self) -> None:
        self.page.goto(self.lab.address(self.path), timeout=90_000)
        self.page.wait_for_function("() => window.jupyterapp && jupyterapp.started")
        self.page.evaluate("async () => { await jupyterapp.started; await jupyterapp.restored; }")
        self.page.locator(".jp-NotebookPanel .jp-Notebook").wait_for(timeout=90_000)
        self.wait_idle()

    def open(self, lab: Lab, path: str) -> None:
        """Open a notebook, or the same one anew, in place of what is open."""
        self.lab, self.path = lab, path
        self.page.evaluate(_CLOSED)
        self.page.evaluate(_OPENED, (lab.root / path).relative_to(lab.base).as_posix())
        self.wait_idle()
        self.forget_unanswered()  # what was open may have asked something a moment before

    def leave(self) -> None:
        """Leave the page as a new one is, without a notebook."""
        expect(self.page.locator(".jp-Dialog")).to_have_count(0)
        self.page.remove_listener("pageerror", self._keep)
        self.page.evaluate(_CLOSED)
        self.page.evaluate(_UNDONE)
        self.dress("JupyterLab Light")
        self.page.set_viewport_size(SIZE)
        self.page.mouse.move(0, 0)

    def forget_unanswered(self) -> None:
        """Forget what JupyterLab itself says of requests that a kernel did not live to answer."""
        self.console[:] = [said for said in self.console if "Canceled future for " not in said]

    def wait_idle(self, seconds: float = 90) -> None:
        """Wait until the kernel has nothing to do."""
        self.page.wait_for_function(
            f"() => {self.KERNEL}?.status === 'idle' && "
            f"{self.KERNEL}?.connectionStatus === 'connected'",
            timeout=seconds * 1000,
        )

    def command(self, name: str) -> None:
        """Run a command of JupyterLab's by its id."""
        self.page.evaluate("id => jupyterapp.commands.execute(id).then(() => null)", name)

    def theme(self) -> str:
        """Return the name of the theme that is on."""
        name: str = self.page.evaluate("document.body.dataset.jpThemeName")
        return name

    def dress(self, theme: str) -> None:
        """Put on a theme, and wait until it is on and what hid the change is gone."""
        if theme != self.theme():
            self.page.evaluate(
                "theme => jupyterapp.commands.execute('apputils:change-theme', { theme })"
                ".then(() => null)",
                theme,
            )
        body = self.page.locator("body")
        expect(body).to_have_attribute("data-jp-theme-name", theme)
        expect(body).to_have_attribute("data-jp-theme-light", str("Light" in theme).lower())
        expect(self.page.locator("#jupyterlab-splash")).to_have_count(0)

    def bring(self, part: str) -> Locator:
        """Scroll a part of the page to where it is seen, and see that nothing lies over it."""
        found = self.page.locator(part).first
        expect(found).to_be_visible()
        self.page.wait_for_function(_SEEN, arg=found.element_handle())
        return found

    def run_all(self, seconds: float = 180) -> None:
        """Queue every cell at once and wait for the last."""
        self.page.evaluate(
            """ms => Promise.race([
                 jupyterapp.commands.execute('notebook:run-all-cells').then(() => null),
                 new Promise((_, no) => setTimeout(() => no(new Error('run all')), ms))])""",
            seconds * 1000,
        )
        self.wait_idle(seconds)

    def save(self) -> Any:
        """Save the notebook and return it as it lies on disk."""
        self.command("docmanager:save")
        self.page.wait_for_function(_SAVED, polling=1000)
        return json.loads((self.lab.root / self.path).read_text(encoding="utf-8"))

    def output(self, cell: int) -> Locator:
        """Return what a cell shows."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(cell).locator(".jp-OutputArea").first

    def errors(self) -> list[str]:
        """Return the tracebacks in the notebook, from its model: how they are drawn changes."""
        found: list[str] = self.page.evaluate(_ERRORS)
        return found
