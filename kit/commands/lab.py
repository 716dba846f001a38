"""``kit lab``: JupyterLab on the tutorials, with the embedded service running."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from kit.client import settings as client_settings
from kit.commands.options import Data
from kit.errors import require_extra
from kit.local import start_embedded, stop
from kit.service import settings as service_settings

_FIRST_TUTORIAL = "01_quickstart.ipynb"
_CONFIG_VARIABLE = "JUPYTER_CONFIG_PATH"


def command(
    browser: Annotated[bool, typer.Option(help="Open a browser.")] = True,
    port: Annotated[int, typer.Option(help="Port of JupyterLab.", min=0, max=65535)] = 8888,
    data: Data = None,
) -> None:
    """Open JupyterLab on the first tutorial."""
    with require_extra("lab", "`kit lab`"):
        version("jupyterlab")
    folder = tutorials()
    settings = service_settings.load(data=data)
    service = client_settings.resolve(data=data)  # that notebooks use, and may be charged by
    url = service.base_url if service else start_embedded(settings.data)[0]
    typer.echo(f"Creative Studio at {url}, data in {settings.data}")
    # The notebooks find the service through the data folder, so that no variable contains a key.
    # Lab does not ask about news or check PyPI at the start; callbacks run on the main thread (see
    # "Subshells" in the decisions).
    config = str(Path(__file__).with_name("jupyter_config"))
    config = os.pathsep.join(filter(None, (config, os.environ.get(_CONFIG_VARIABLE))))
    environment = os.environ | {"KIT_DATA": str(settings.data), _CONFIG_VARIABLE: config}
    arguments = [
        sys.executable,
        "-m",
        "jupyterlab",
        f"--ServerApp.root_dir={folder.parent}",
        f"--LabApp.default_url=/lab/tree/{folder.name}/{_FIRST_TUTORIAL}",
        f"--ServerApp.port={port}",
        *([] if browser else ["--no-browser"]),
        *(["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []),
    ]
    process = subprocess.Popen(arguments, env=environment)  # noqa: S603 - our own arguments
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        while process.poll() is None:
            with suppress(KeyboardInterrupt):  # JupyterLab handles Ctrl-C itself
                process.wait()
    finally:
        stop()
    raise typer.Exit(process.returncode)


def tutorials() -> Path:
    """Return the folder of the tutorials: the checkout's, or one here, adding missing ones."""
    checkout = Path(__file__).parents[2] / "notebooks"
    if (checkout / _FIRST_TUTORIAL).is_file():
        return checkout
    folder = Path.cwd() / "notebooks"
    folder.mkdir(exist_ok=True)
    for packaged in (Path(__file__).parents[1] / "notebooks").glob("*.ipynb"):
        if not (folder / packaged.name).exists():
            shutil.copy(packaged, folder)
    return folder
