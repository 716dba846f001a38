"""``kit tour``: tutorials and gallery as plain pages, for a browser without a kernel."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import warnings
from asyncio import CancelledError
from pathlib import Path
from typing import Annotated, Any

import typer
from jinja2 import Template

from kit.commands.lab import tutorials
from kit.commands.models import show_gallery
from kit.errors import require_extra


def command(
    folder: Annotated[Path, typer.Argument(help="Folder for the pages; created if missing.")],
    gallery: Annotated[bool, typer.Option(help="Include the gallery of the models.")] = True,
) -> None:
    """Write the tutorials and the gallery as static pages.

    Both are generated with temporary data, without the user's accounts and history.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pages = []
    for path in sorted(tutorials().glob("*.ipynb")):
        typer.echo(path.stem, err=True)
        pages.append((f"{path.stem}.html", write_page(path, folder)))
    if gallery:
        show_gallery(folder / "gallery.html", ())
        pages.append(("gallery.html", "What each model makes"))
    _write(
        folder / "index.html",
        title="A tour of creative-studio-kit",
        pages=pages,
        repository=os.environ.get("GITHUB_REPOSITORY"),
    )
    typer.echo(folder / "index.html")


def write_page(path: Path, folder: Path) -> str:
    """Run a notebook with temporary data, write it as a page, and return its title.

    Its output files are written beside the page, in ``outputs``.
    """
    with require_extra("lab", "`kit tour`"):
        import nbformat
        from nbclient import NotebookClient
        from nbclient.exceptions import DeadKernelError
        from nbconvert import HTMLExporter
        from pygments.formatters import HtmlFormatter

    # A warning about the event loop on Windows, which works anyway.
    warnings.filterwarnings("ignore", "Proactor", RuntimeWarning)
    notebook: Any = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory(prefix="kit-tour-", ignore_cleanup_errors=True) as scratch:
        run = Path(scratch, "run")
        run.mkdir()
        client = NotebookClient(notebook, timeout=600, store_widget_state=False)
        client.resources = {"metadata": {"path": str(run)}}
        # The user's own services are neither called nor configured.
        settings = {"XDG_CONFIG_HOME": f"{scratch}/config", "KIT_PROFILE": "embedded"}
        others = {name: value for name, value in os.environ.items() if not name.startswith("KIT_")}
        environment = others | settings | {"KIT_DATA": f"{scratch}/data"}
        handler = signal.getsignal(signal.SIGINT)
        try:
            client.execute(env=environment, stderr=subprocess.DEVNULL)
        except (AssertionError, AttributeError, CancelledError, DeadKernelError):
            stop = KeyboardInterrupt()  # the client turns it into one of these
            stop.add_note(f"the kernel of {path.stem} has ended")
            raise stop from None
        finally:
            signal.signal(signal.SIGINT, handler)  # the client leaves one that ignores Ctrl-C
        if (run / "outputs").is_dir():
            shutil.copytree(run / "outputs", folder / "outputs", dirs_exist_ok=True)
    body, _ = HTMLExporter(template_name="basic").from_notebook_node(notebook)
    heading = next(c.source for c in notebook.cells if c.cell_type == "markdown").splitlines()[0]
    title = str(heading).lstrip("# ")
    light, dark = (
        HtmlFormatter(style=of).get_style_defs(".highlight") for of in ("default", "github-dark")
    )
    _write(folder / f"{path.stem}.html", title=title, body=body, light=light, dark=dark)
    return title


def _write(target: Path, **values: Any) -> None:
    template = Template(Path(__file__).with_name("tour.html").read_text("utf-8"), autoescape=True)
    target.write_text(template.render(values), encoding="utf-8")
