"""``kit docs``: the reference as static pages, from docstrings, tables and `kit/manual`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from kit.errors import ApiError, require_extra
from kit.version import __version__

#: The public modules, for users of the kit and authors of engines.
MODULES = (
    "kit",
    *(
        f"kit.studio.{face}{name}"
        for face in ("sync", "aio")
        for name in ("", ".generation", ".history", ".costs", ".sweeps")
    ),
    "kit.errors",
    "kit.parameters",
    "kit.engines.base",
)
#: A parameter in a NumPy docstring: its names and description.
_FIELDS = r"^(\w+(?:, \w+)*) : .*\n((?:    .*\n?)+)"
#: Settings whose default depends on the machine.
_MACHINE_SETTINGS = ("data", "workers")
Table = list[tuple[str, ...]]


def command(
    folder: Annotated[Path, typer.Argument(help="Folder for the pages; created if missing.")],
) -> None:
    """Write the reference as static pages.

    Python from the docstrings, HTTP operations, commands, errors, settings, limits and the manual.
    """
    with require_extra("docs", "`kit docs`"):
        import pdoc

    manual = files("kit") / "manual"
    pdoc.render.configure(
        docformat="numpy",
        show_source=False,
        footer_text=f"creative-studio-kit {__version__}",
        template_directory=Path(str(manual)),
    )
    # Modules inside a listed package are included with it; so is kit.errors, a public name of kit.
    faces = ("kit.errors", "kit.studio.sync.", "kit.studio.aio.")
    pdoc.pdoc(*(name for name in MODULES if not name.startswith(faces)), output_directory=folder)
    page = pdoc.render.env.from_string((manual / "page.html").read_text("utf-8"))
    pages = write_pages()
    for name, text in pages.items():
        html = page.render(
            body=pdoc.render_helpers.to_html(text), name=name, pages=[*pages], modules=MODULES
        )
        (folder / f"{name}.html").write_text(html, encoding="utf-8")
    typer.echo(folder / "index.html")


def write_pages() -> dict[str, str]:
    """Return the Markdown of each page other than those of modules, by name."""
    manual, deploy = files("kit") / "manual", files("kit") / "deploy"
    return {
        "index": (manual / "index.md").read_text("utf-8"),
        "http": _format_table("HTTP operations", list_operations()),
        "errors": _format_table("Errors", list_errors()),
        "commands": "\n\n".join(["# Commands", *_describe_commands()]),
        "settings": _format_table("Settings of the service", list_settings()),
        "limits": _format_table("Limits", list_limits()),
        "security": (manual / "security.md").read_text("utf-8"),
        # In the repository, its link points to the source of the next page.
        "operation": (manual / "operation.md")
        .read_text("utf-8")
        .replace("../deploy/CAPACITY.md", "capacity.html"),
        "capacity": (deploy / "CAPACITY.md").read_text("utf-8"),
    }


def list_errors() -> Table:
    """Return each error code with its status, meaning, remedy and class."""
    rows: Table = [("code", "status", "meaning", "what to do", "class")]
    for code, kind in sorted(ApiError.by_code.items(), key=lambda item: item[1].status):
        meaning, _, remedy = (inspect.getdoc(kind) or "").partition("\n\n")
        remedy = " ".join(remedy.partition("\n\n")[0].split())
        rows.append((f"`{code}`", str(kind.status), meaning, remedy, f"`{kind.__name__}`"))
    return rows


def list_operations() -> Table:
    """Return each operation of the service with the scope that it requires."""
    from kit.service import settings
    from kit.service.app import create_app

    app = create_app(settings.load({}, data=Path("reference")), engines={})
    rows: Table = [("operation", "scope", "what it does")]
    for path, methods in app.openapi["paths"].items():
        for method, operation in methods.items():
            text, _, rest = operation.get("description", "").partition("\n\nScope: ")
            scope = rest.partition(".")[0] or "none"
            rows.append((f"`{method.upper()} {path}`", scope, " ".join(text.split())))
    return rows


def list_settings() -> Table:
    """Return each environment variable of the service with its default and meaning."""
    from kit.service.settings import ServiceSettings, describe_settings, load

    # Field -> its description in the docstring.
    found = re.findall(_FIELDS, inspect.getdoc(ServiceSettings) or "", re.MULTILINE)
    meanings = {n: " ".join(text.split()) for names, text in found for n in names.split(", ")}
    rows: Table = [("variable", "default", "meaning")]
    defaults = load({}, data=Path("DATA"), workers=1)
    for line in describe_settings(defaults):
        variable, _, default = line.partition("=")
        name = variable.removeprefix("KIT_").lower()
        default = "" if name in _MACHINE_SETTINGS else default
        rows.append((f"`{variable}`", f"`{default}`" if default else "", meanings.get(name, "")))
    return rows


def list_limits() -> Table:
    """Return the limits of requests, accounts and addresses."""
    from kit.service import connections
    from kit.service.domain import idempotency, keys, uploads
    from kit.service.http import bodies, events, serializers
    from kit.wire import bounds

    hour = 3600
    return [
        ("of", "limit"),
        (
            "the request line and headers",
            f"{connections.MAX_HEAD_BYTES:,} bytes, {connections.MAX_HEADERS} headers",
        ),
        ("the body of a request", f"{bodies.BODY_LIMIT:,} bytes"),
        ("a prompt, or any other text", f"{bounds.TEXT:,} characters"),
        ("the parameters of a generation", f"{bounds.PARAMETERS:,} bytes as JSON"),
        ("active keys of an account", f"{keys.MAX_ACTIVE_KEYS}"),
        ("unused upload tickets of an account", f"{uploads.MAX_OPEN_TICKETS}"),
        ("validity of an upload ticket", f"{uploads.TICKET_MS // 60_000} minutes"),
        ("validity of a signed address", f"{serializers.ADDRESS_SECONDS // hour} hours"),
        ("validity of an idempotency key", f"{idempotency.RETENTION_MS // hour // 1000} hours"),
        ("`Prefer: wait`", f"{events.MAX_WAIT} seconds"),
    ]


def _describe_commands() -> Iterator[str]:
    """Yield the help text of each command."""
    from typer.main import get_command

    from kit.commands import command_line

    todo = [("kit", get_command(command_line()))]
    while todo:
        name, command = todo.pop(0)
        text = command.get_help(command.context_class(command, info_name=name))
        yield f"## {name}\n\n```text\n{text}\n```"
        children = getattr(command, "commands", {})
        todo = [*((f"{name} {child}", children[child]) for child in children), *todo]


def _format_table(title: str, rows: Table) -> str:
    head, *body = [f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in rows]
    return "\n".join([f"# {title}", "", head, f"|{'---|' * len(rows[0])}", *body])
