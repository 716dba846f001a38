"""A real JupyterLab, driven in a real browser.

Everything of Jupyter's (configuration, data, settings, workspaces) lies in one temporary folder, so
runs see neither each other nor the user. Commands are run by their id instead of through menus, and
waiting is for promises and the kernel's own state.
"""

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Locator, Page, Route, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome") or ""
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--autoplay-policy=no-user-gesture-required",
]
_FOLDERS = (
    "JUPYTER_CONFIG_DIR",
    "JUPYTER_DATA_DIR",
    "JUPYTER_RUNTIME_DIR",
    "JUPYTERLAB_SETTINGS_DIR",
    "JUPYTERLAB_WORKSPACES_DIR",
    "IPYTHONDIR",
)
_SETTINGS: dict[str, dict[str, Any]] = {
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
}
_ERRORS = """() => jupyterapp.shell.currentWidget.content.model.toJSON().cells
    .flatMap(cell => cell.outputs ?? [])
    .filter(output => output.output_type === "error")
    .map(output => output.traceback.join("\\n"))"""
_LOCAL = ("http://127.0.0.1", "http://localhost", "data:", "blob:", "about:")


@dataclass(frozen=True)
class Lab:
    """A server and the folder that it shows."""

    url: str
    token: str
    root: Path

    def api(self, path: str, method: str = "GET") -> Any:
        request = urllib.request.Request(
            f"{self.url}/api/{path}",
            method=method,
            headers={"Authorization": f"token {self.token}"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read() or "null")


@contextmanager
def serving(
    root: Path, folder: Path, environment: dict[str, str], *, theme: str = "JupyterLab Light"
) -> Iterator[Lab]:
    """Serve a folder of notebooks on a free port; kernels see `environment`."""
    variables = {**os.environ, **environment}
    for name in _FOLDERS:
        variables[name] = str(folder / name.lower())
        Path(variables[name]).mkdir(parents=True)
    settings = {**_SETTINGS, "@jupyterlab/apputils-extension:themes": {"theme": theme}}
    for plugin, values in settings.items():
        package, name = plugin.split(":")
        place = folder / "jupyterlab_settings_dir" / package
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{name}.jupyterlab-settings").write_text(json.dumps(values))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    lab = Lab(f"http://127.0.0.1:{port}", secrets.token_hex(16), root)
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        *("--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
        *(f"--ServerApp.root_dir={root}", f"--IdentityProvider.token={lab.token}"),
        "--LabApp.expose_app_in_browser=True",
    ]
    with (folder / "lab.log").open("wb") as log:
        process = subprocess.Popen(command, env=variables, stdout=log, stderr=log)
    try:
        _await_answer(lab, process, folder / "lab.log")
        yield lab
    finally:
        process.terminate()
        process.wait(30)


def _await_answer(lab: Lab, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline, pause = time.monotonic() + 90, threading.Event()
    while True:
        try:
            lab.api("status")
            return
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(log.read_text()) from None
            pause.wait(0.1)


@contextmanager
def browsing(profile: Path) -> Iterator[tuple[BrowserContext, list[str]]]:
    """Open a browser that reaches this machine only, and the list of what else it asked for."""
    refused: list[str] = []

    def refuse(route: Route) -> None:
        refused.append(route.request.url)
        route.abort()

    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            str(profile),
            executable_path=CHROMIUM,
            args=_ARGUMENTS,
            viewport={"width": 1400, "height": 1000},
        )
        context.route(lambda url: not url.startswith(_LOCAL), refuse)
        try:
            yield context, refused
        finally:
            context.close()


class Notebook:
    """One notebook, open in JupyterLab."""

    _KERNEL = "jupyterapp.shell.currentWidget?.context?.sessionContext?.session?.kernel"

    def __init__(self, context: BrowserContext, lab: Lab, path: str) -> None:
        self.lab = lab
        self.path = path
        self.page: Page = context.new_page()
        self.console: list[str] = []
        self.page.on("pageerror", lambda error: self.console.append(str(error)))
        self.page.goto(f"{lab.url}/doc/tree/{path}?token={lab.token}&reset", timeout=90_000)
        self.page.wait_for_function("() => window.jupyterapp && jupyterapp.started")
        self.page.evaluate("async () => { await jupyterapp.started; await jupyterapp.restored; }")
        self.page.locator(".jp-NotebookPanel .jp-Notebook").wait_for(timeout=90_000)
        self.wait_idle()

    def wait_idle(self, seconds: float = 90) -> None:
        """Wait until the kernel has nothing to do."""
        self.page.wait_for_function(
            f"() => {self._KERNEL}?.status === 'idle' && "
            f"{self._KERNEL}?.connectionStatus === 'connected'",
            timeout=seconds * 1000,
        )

    def command(self, name: str) -> None:
        """Run a command of JupyterLab's by its id."""
        self.page.evaluate("id => jupyterapp.commands.execute(id).then(() => null)", name)

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
        self.page.wait_for_function("() => !jupyterapp.shell.currentWidget.context.model.dirty")
        return json.loads((self.lab.root / self.path).read_text(encoding="utf-8"))

    def output(self, cell: int) -> Locator:
        """Return what a cell shows."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(cell).locator(".jp-OutputArea").first

    def errors(self) -> list[str]:
        """Return the tracebacks in the notebook, from its model: how they are drawn changes."""
        found: list[str] = self.page.evaluate(_ERRORS)
        return found
