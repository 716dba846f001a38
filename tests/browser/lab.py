"""A real JupyterLab for tests in a browser.

One server serves all tests of a process, because it is slow to start. Its URLs have a path prefix,
as with JupyterHub or Binder. Each test has its own folder of notebooks, its own kernels with their
own variables, and default settings. All files of Jupyter are in one temporary folder, so runs
affect neither each other nor the user.
"""

import json
import os
import secrets
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ipykernel.kernelspec import get_kernel_dict

from tests.ports import free_port

_FOLDERS = (
    "JUPYTER_CONFIG_DIR",
    "JUPYTER_DATA_DIR",
    "JUPYTER_RUNTIME_DIR",
    "JUPYTERLAB_SETTINGS_DIR",
    "JUPYTERLAB_WORKSPACES_DIR",
    "IPYTHONDIR",
)
#: The path prefix of a server's URLs.
PREFIX = "/user/someone"
_SETTINGS: dict[str, dict[str, Any]] = {
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    "@jupyterlab/apputils-extension:themes": {"theme": "JupyterLab Light"},
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
}
#: Starts a server without a module that takes a second to import: see `tests.isolation`.
START = "import sys; sys.modules['rfc3987_syntax'] = None; from {} import main; main()"
#: Extensions that no test uses, and each page would load.
_DISABLED = (
    "@voila-dashboards/jupyterlab-preview",
    "@jupyterlab/apputils-extension:announcements",
    "@jupyterlab/notebook-extension:export",
    *(
        f"@jupyterlab/{name}-extension"
        for name in (
            *("celltags", "console", "csvviewer", "debugger", "documentsearch", "extensionmanager"),
            *("help", "htmlviewer", "hub", "imageviewer", "inspector", "javascript", "json"),
            *("launcher", "logconsole", "lsp", "markdownviewer", "mermaid", "metadataform", "pdf"),
            *("running", "settingeditor", "terminal", "toc", "tooltip", "vega5", "workspaces"),
        )
    ),
)


@dataclass(frozen=True)
class Lab:
    """A server, and the folder of one test on it.

    Parameters
    ----------
    base : Path
        The folder that the server serves.
    root : Path
        The folder in it with the test's notebooks.
    own : Path
        The folder with all files of Jupyter.
    """

    url: str
    token: str
    base: Path
    root: Path
    own: Path

    def url_of(self, notebook: str) -> str:
        """Return the URL that opens a notebook in an empty workspace."""
        path = (self.root / notebook).relative_to(self.base).as_posix()
        return f"{self.url}/doc/tree/{path}?token={self.token}&reset"

    def set(self, plugin: str, values: Mapping[str, Any]) -> None:
        """Change the settings of a plug-in for pages that are loaded afterwards."""
        package, name = plugin.split(":")
        place = self.own / "jupyterlab_settings_dir" / package
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{name}.jupyterlab-settings").write_text(json.dumps(values))

    def api(self, path: str, method: str = "GET") -> Any:
        """Send a request to the server's API and return the response."""
        request = urllib.request.Request(
            f"{self.url}/api/{path}",
            method=method,
            headers={"Authorization": f"token {self.token}"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read() or "null")


@contextmanager
def run_server(base: Path, own: Path) -> Iterator[Lab]:
    """Serve a folder on a free port."""
    variables = {**os.environ}
    variables.pop("PYTHONPATH", None)  # `lab_for_test` sets it for kernels
    for name in _FOLDERS:
        variables[name] = str(own / name.lower())
        Path(variables[name]).mkdir(parents=True)
    config = own / "jupyter_config_dir" / "labconfig"
    config.mkdir()
    disabled = {"disabledExtensions": dict.fromkeys(_DISABLED, True)}
    (config / "page_config.json").write_text(json.dumps(disabled))
    variables["JUPYTER_PREFER_ENV_PATH"] = "0"  # else the kernels of the environment come first
    port = free_port()
    lab = Lab(f"http://127.0.0.1:{port}{PREFIX}", secrets.token_hex(16), base, base, own)
    command = [
        *(sys.executable, "-c", START.format("jupyterlab.labapp"), "--no-browser", "--allow-root"),
        *("--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
        f"--ServerApp.base_url={PREFIX}/",
        *(f"--ServerApp.root_dir={base}", f"--IdentityProvider.token={lab.token}"),
        "--LabApp.expose_app_in_browser=True",
    ]
    with (own / "lab.log").open("wb") as log:
        process = subprocess.Popen(command, env=variables, stdout=log, stderr=log)
    try:
        _await_answer(lab, process, own / "lab.log")
        yield lab
    finally:
        process.terminate()
        process.wait(30)


@contextmanager
def lab_for_test(lab: Lab, root: Path, environment: Mapping[str, str]) -> Iterator[Lab]:
    """Reset the server for one test, whose kernels have the variables in `environment`."""
    shutil.rmtree(lab.own / "jupyterlab_settings_dir")
    for plugin, values in _SETTINGS.items():
        lab.set(plugin, values)
    kernel = lab.own / "jupyter_data_dir" / "kernels" / "python3"
    kernel.mkdir(parents=True, exist_ok=True)
    (kernel / "kernel.json").write_text(json.dumps({**get_kernel_dict(), "env": {**environment}}))
    try:
        yield Lab(lab.url, lab.token, lab.base, root, lab.own)
    finally:
        for session in lab.api("sessions"):
            lab.api(f"sessions/{session['id']}", "DELETE")


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
