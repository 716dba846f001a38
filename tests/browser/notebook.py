"""Notebooks in JupyterLab in a real browser.

Commands of JupyterLab are run by their id instead of through menus; tests wait for promises and for
the state of the kernel.
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

#: The first needs a sixth less processor time, because it draws no window.
_PROGRAMS = ("chromium-headless-shell", "chromium", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, _PROGRAMS)), "")
SIZE: ViewportSize = {"width": 1400, "height": 1000}
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    # Not a route: it would disable the cache, and each request would wait for the test process.
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
#: Script with `change`, which replaces a property of the page; `Notebook.reset` restores it.
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
# The static snapshot of a widget is updated after a second: then there is more to save.
_SAVED = """() => {
    if (!jupyterapp.shell.currentWidget.context.model.dirty) return true;
    jupyterapp.commands.execute('docmanager:save');
}"""
_LOCAL = ("http://127.0.0.1", "http://localhost", "data:", "blob:", "about:")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=_ARGUMENTS, ignore_default_args=["--hide-scrollbars"]
        )
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def open_window(browser: Browser) -> Iterator[tuple[BrowserContext, list[str]]]:
    """Open a window that can only reach this machine; yield it and its other requested URLs."""
    context = _window(browser)
    try:
        with _record_external_requests(context) as external:
            yield context, external
    finally:
        context.close()


@contextmanager
def reuse_window(browser: Browser) -> Iterator[tuple[BrowserContext, list[str]]]:
    """Reuse the window of the previous test, or open one: JupyterLab takes seconds to load.

    A failed test closes its window; `Notebook.reset` resets that of the others.
    """
    context = next(iter(browser.contexts), None) or _window(browser)
    try:
        with _record_external_requests(context) as external:
            yield context, external
    except BaseException:
        context.close()
        raise


def _window(browser: Browser) -> BrowserContext:
    context = browser.new_context(viewport=SIZE)
    context.add_init_script(_CHANGE)
    return context


@contextmanager
def _record_external_requests(context: BrowserContext) -> Iterator[list[str]]:
    external: list[str] = []

    def record(request: Request) -> None:
        if not request.url.startswith(_LOCAL):
            external.append(request.url)

    context.on("request", record)
    yield external
    context.remove_listener("request", record)


class Notebook:
    """A notebook that is open in JupyterLab, in the existing page or in a new one."""

    KERNEL = "jupyterapp.shell.currentWidget?.context?.sessionContext?.session?.kernel"

    def __init__(self, context: BrowserContext, lab: Lab, path: str) -> None:
        self.lab = lab
        self.path = path
        loaded = bool(context.pages)
        self.page: Page = context.pages[0] if loaded else context.new_page()
        self.page_errors: list[str] = []
        self.page.on("pageerror", self._keep)
        if loaded:
            self.open(lab, path)
        else:
            self._load()

    def _keep(self, error: Error) -> None:
        self.page_errors.append(str(error))

    def _load(self) -> None:
        self.page.goto(self.lab.url_of(self.path), timeout=90_000)
        self.page.wait_for_function("() => window.jupyterapp && jupyterapp.started")
        self.page.evaluate("async () => { await jupyterapp.started; await jupyterapp.restored; }")
        self.page.locator(".jp-NotebookPanel .jp-Notebook").wait_for(timeout=90_000)
        self.wait_idle()

    def open(self, lab: Lab, path: str) -> None:
        """Open a notebook, or the same one again, in place of the open one."""
        self.lab, self.path = lab, path
        self.page.evaluate(_CLOSED)
        self.page.evaluate(_OPENED, (lab.root / path).relative_to(lab.base).as_posix())
        self.wait_idle()
        self.drop_canceled_requests()  # of the notebook that was open before

    def reset(self) -> None:
        """Close the notebook and restore the initial state of the page."""
        expect(self.page.locator(".jp-Dialog")).to_have_count(0)
        self.page.remove_listener("pageerror", self._keep)
        self.page.evaluate(_CLOSED)
        self.page.evaluate(_UNDONE)
        self.set_theme("JupyterLab Light")
        self.page.set_viewport_size(SIZE)
        self.page.mouse.move(0, 0)

    def drop_canceled_requests(self) -> None:
        """Remove JupyterLab's errors about requests to a kernel that has ended."""
        self.page_errors[:] = [it for it in self.page_errors if "Canceled future for " not in it]

    def wait_idle(self, seconds: float = 90) -> None:
        """Wait until the kernel is idle."""
        self.page.wait_for_function(
            f"() => {self.KERNEL}?.status === 'idle' && "
            f"{self.KERNEL}?.connectionStatus === 'connected'",
            timeout=seconds * 1000,
        )

    def command(self, name: str) -> None:
        """Run a command of JupyterLab by its id."""
        self.page.evaluate("id => jupyterapp.commands.execute(id).then(() => null)", name)

    def theme(self) -> str:
        """Return the name of the current theme."""
        name: str = self.page.evaluate("document.body.dataset.jpThemeName")
        return name

    def set_theme(self, theme: str) -> None:
        """Set a theme, and wait until it is applied and the splash screen is gone."""
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

    def scroll_to(self, part: str) -> Locator:
        """Scroll to a part of the page, and check that nothing covers it."""
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
        """Save the notebook and return the saved file."""
        self.command("docmanager:save")
        self.page.wait_for_function(_SAVED, polling=1000)
        return json.loads((self.lab.root / self.path).read_text(encoding="utf-8"))

    def output(self, cell: int) -> Locator:
        """Return the output area of a cell."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(cell).locator(".jp-OutputArea").first

    def errors(self) -> list[str]:
        """Return the tracebacks in the notebook's model, which does not depend on rendering."""
        found: list[str] = self.page.evaluate(_ERRORS)
        return found
