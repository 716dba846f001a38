"""``kit tour``: tutorials and gallery as plain pages, for a browser without a kernel."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from kit.commands.lab import tutorials
from kit.errors import require_extra

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --line: #8884; --jp-border-color2: var(--line);
  --jp-layout-color0: Canvas; --jp-layout-color1: Canvas; --jp-layout-color2: #8882;
  --jp-ui-font-color0: CanvasText; --jp-ui-font-color1: CanvasText; --jp-ui-font-color2: GrayText;
  --jp-content-font-color1: CanvasText; --jp-ui-font-family: system-ui, sans-serif }}
body {{ font: 16px/1.55 system-ui, sans-serif; max-width: 52rem; margin: auto; padding: 1rem }}
pre {{ overflow-x: auto; margin: .6rem 0; font-size: .85rem }}
.highlight, :not(pre) > code {{ background: #8882; border-radius: 4px; padding: .1rem .6rem }}
:not(pre) > code {{ padding: .1rem .3rem }}
.highlight pre {{ line-height: 1.45 }}
.output_area, .jp-OutputArea-child {{ overflow-x: auto }}
.prompt, .anchor-link {{ display: none }}
img, video, svg {{ max-width: 100%; height: auto }}
table {{ border-collapse: collapse; border: 0; font-size: .85rem }}
td, th {{ padding: .2rem .6rem; text-align: right; border: 0;
  border-bottom: 1px solid var(--line) }}
{css}
@media (prefers-color-scheme: dark) {{ {dark} }}
</style>
<nav><a href="index.html">Tour</a></nav>
<main>{body}</main></html>
"""


def command(
    folder: Annotated[Path, typer.Argument(help="Folder for the pages; made if need be.")],
    gallery: Annotated[bool, typer.Option(help="Make the gallery of the models, too.")] = True,
) -> None:
    """Write the tutorials and the gallery as static pages.

    Both are made anew, on data that are thrown away.
    """
    folder.mkdir(parents=True, exist_ok=True)
    items = []
    for path in sorted(tutorials().glob("*.ipynb")):
        typer.echo(path.stem, err=True)
        items.append(f'<li><a href="{path.stem}.html">{write_page(path, folder)}</a></li>')
    if gallery:
        from kit.commands.models import show

        show(folder / "gallery.html", ())
        items.append('<li><a href="gallery.html">What each model makes</a></li>')
    items = ["<h1>A tour of creative-studio-kit</h1><ul>", *items, "</ul>"]
    if repository := os.environ.get("GITHUB_REPOSITORY"):
        place = f"https://mybinder.org/v2/gh/{repository}/main?urlpath=lab/tree/notebooks"
        items.append(f'<p><a href="{place}">Try it in JupyterLab, on Binder</a></p>')
    index = _PAGE.format(
        title="A tour of creative-studio-kit", css="", dark="", body="\n".join(items)
    )
    (folder / "index.html").write_text(index, encoding="utf-8")
    typer.echo(folder / "index.html")


def write_page(path: Path, folder: Path) -> str:
    """Run a notebook on data that are thrown away, write it as a page, and return its title.

    Parameters
    ----------
    path : Path
        The notebook.
    folder : Path
        Where the page comes to stand, with what the notebook made in ``outputs``.
    """
    with require_extra("lab", "`kit tour`"):
        import nbformat
        from nbclient import NotebookClient
        from nbconvert import HTMLExporter
        from pygments.formatters import HtmlFormatter

    notebook: Any = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory(prefix="kit-tour-", ignore_cleanup_errors=True) as scratch:
        run = Path(scratch, "run")
        run.mkdir()
        client = NotebookClient(notebook, timeout=600, store_widget_state=False)
        client.resources = {"metadata": {"path": str(run)}}
        client.execute(env={**os.environ, "KIT_DATA": str(Path(scratch, "data"))})
        if (run / "outputs").is_dir():
            shutil.copytree(run / "outputs", folder / "outputs", dirs_exist_ok=True)
    body, _ = HTMLExporter(template_name="basic").from_notebook_node(notebook)
    title = next(c.source for c in notebook.cells if c.cell_type == "markdown").splitlines()[0]
    title = str(title).lstrip("# ")
    light, dark = (HtmlFormatter(style=name) for name in ("default", "github-dark"))
    page = _PAGE.format(
        title=title,
        css=light.get_style_defs(".highlight"),
        dark=dark.get_style_defs(".highlight"),
        body=body,
    )
    (folder / f"{path.stem}.html").write_text(page, encoding="utf-8")
    return title
