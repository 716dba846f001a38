"""Hosts: what a page can do that shows a notebook's outputs.

Everything that is shown is HTML with pictures inside; hosts differ in videos alone. A new one is
a line in `HOSTS`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Host:
    """A kind of page.

    `beside`: whether it plays videos that lie beside the notebook.
    `embed`: bytes up to which a video is put inside the document all the same.
    `codecs`: what it plays, as PyAV calls it; None where that is up to the browser.
    `opens`: whether who looks at it can open a file beside the notebook.
    `instead`: what is said above the code that brings a widget back.
    """

    beside: bool = False
    embed: int = 5_000_000
    codecs: frozenset[str] | None = None
    opens: bool = True
    instead: str = "Not running. This brings it back:"


JUPYTER = Host(beside=True, embed=0)
#: It serves pictures and no videos, and what it shows is saved nowhere.
VOILA = Host(embed=25_000_000, opens=False)
#: Its pages reach no file. Source: VS Code, "Webview API", "Supported media formats".
VSCODE = Host(codecs=frozenset({"h264", "vp8"}))
#: An output is a frame of another origin; a notebook has 20 MB in all.
COLAB = Host(codecs=frozenset({"h264"}))
#: Kaggle and Databricks: their pages reach no file either.
REMOTE = Host()
#: An output has at most 8 MB, a third of which base64 takes, and no ipywidgets run.
MARIMO = Host(instead="marimo runs no ipywidgets. In JupyterLab this shows it:")

#: What the environment and the modules of a kernel tell of its host; the first that fits.
HOSTS: tuple[tuple[Host, Callable[[Mapping[str, str], Mapping[str, Any]], bool]], ...] = (
    (VOILA, lambda environ, _: environ.get("SERVER_SOFTWARE", "").startswith("voila/")),
    (COLAB, lambda _, modules: "google.colab" in modules),
    (REMOTE, lambda environ, _: "KAGGLE_KERNEL_RUN_TYPE" in environ),
    (REMOTE, lambda environ, _: "DATABRICKS_RUNTIME_VERSION" in environ),
    (MARIMO, lambda _, modules: "marimo" in modules and modules["marimo"].running_in_notebook()),
    (VSCODE, lambda environ, _: "VSCODE_PID" in environ and "JPY_PARENT_PID" not in environ),
)


def find_host(
    environ: Mapping[str, str] = os.environ, modules: Mapping[str, Any] = sys.modules
) -> Host:
    """Return the host of this kernel."""
    return next((host for host, fits in HOSTS if fits(environ, modules)), JUPYTER)


def allow_widgets(modules: Mapping[str, Any] = sys.modules) -> None:
    """Have Colab load widgets that are none of its own."""
    if "google.colab" in modules:
        modules["google.colab"].output.enable_custom_widget_manager()
