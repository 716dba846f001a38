"""Hosts: the capabilities of applications that display a notebook's outputs.

All output is HTML with embedded pictures; hosts differ only in videos. A new host is an entry in
`HOSTS`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kit.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Host:
    """A kind of application.

    `beside`: whether it plays videos in files beside the notebook.
    `embed`: maximum bytes of a video that is embedded in the document nevertheless.
    `codecs`: the video codecs it plays, with PyAV's names; None if the browser decides.
    `opens`: whether its users can open a file beside the notebook.
    `rerun_text`: the text above the code that shows a widget again.
    """

    beside: bool = False
    embed: int = 5_000_000
    codecs: frozenset[str] | None = None
    opens: bool = True
    rerun_text: str = "Not running. This brings it back:"


JUPYTER = Host(beside=True, embed=0)
#: It serves pictures but no videos, and its output is not saved.
VOILA = Host(embed=25_000_000, opens=False)
#: Its pages cannot access files. Source: VS Code, "Webview API", "Supported media formats".
VSCODE = Host(codecs=frozenset({"h264", "vp8"}))
#: An output is a frame of another origin; a notebook has at most 20 MB.
COLAB = Host(codecs=frozenset({"h264"}))
#: Kaggle and Databricks: their pages cannot access files either.
REMOTE = Host()
#: An output has at most 8 MB, of which base64 takes a third, and ipywidgets do not run.
MARIMO = Host(rerun_text="marimo runs no ipywidgets. In JupyterLab this shows it:")

#: Conditions on the environment and modules of a kernel for each host; the first match applies.
HOSTS: tuple[tuple[Host, Callable[[Mapping[str, str], Mapping[str, Any]], bool]], ...] = (
    (VOILA, lambda environ, _: environ.get("SERVER_SOFTWARE", "").startswith("voila/")),
    (COLAB, lambda _, modules: "google.colab" in modules),
    (REMOTE, lambda at, _: "KAGGLE_KERNEL_RUN_TYPE" in at or "DATABRICKS_RUNTIME_VERSION" in at),
    (MARIMO, lambda _, modules: "marimo" in modules and modules["marimo"].running_in_notebook()),
    (VSCODE, lambda environ, _: "VSCODE_PID" in environ and "JPY_PARENT_PID" not in environ),
)


def find_host(
    environ: Mapping[str, str] = os.environ, modules: Mapping[str, Any] = sys.modules
) -> Host:
    """Return the host of this kernel."""
    return next((host for host, matches in HOSTS if matches(environ, modules)), JUPYTER)


def find_shell() -> Any:
    """Return the IPython shell of this process, or None; IPython is not loaded for it."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def find_run() -> tuple[str, str]:
    """Return the id of the notebook's cell that is running, and of its run; empty if unknown."""
    kernel = getattr(find_shell(), "kernel", None)
    request = kernel.get_parent() if kernel else {}
    cell = request.get("metadata", {}).get("cellId", "")
    return cell, request.get("header", {}).get("msg_id", "")


def check_page(modules: Mapping[str, Any] = sys.modules) -> None:
    """Raise `ConfigError` on a page of Panel, which loses what is changed on other threads."""
    if "ipywidgets_bokeh" in modules and find_shell() is None:  # in a notebook it has a shell
        raise ConfigError("Panel would not show its results: use JupyterLab, Voilà or Solara")


def allow_widgets(modules: Mapping[str, Any] = sys.modules) -> None:
    """Make Colab load custom widgets."""
    if "google.colab" in modules:
        modules["google.colab"].output.enable_custom_widget_manager()
