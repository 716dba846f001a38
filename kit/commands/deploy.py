"""``kit deploy``: example files for running the service on other machines."""

from __future__ import annotations

from enum import StrEnum
from importlib.resources import files
from typing import Annotated

import typer

#: File in `kit/deploy` by kind.
_FILES = {
    "compose": "compose.yaml",
    "dockerfile": "Dockerfile",
    "kubernetes": "kubernetes.yaml",
    "systemd": "kit.service",
    "nginx": "nginx.conf",
    "capacity": "CAPACITY.md",
}
Deployment = StrEnum("Deployment", [*_FILES])  # type: ignore[misc]


def command(
    what: Annotated[Deployment, typer.Argument(help="Kind of file.", show_default=False)],
) -> None:
    """Print a deployment file: compose, Kubernetes, nginx, systemd, Dockerfile.

    Its first lines say how to use it; replace what says CHANGE. `capacity` is a capacity guide.
    """
    typer.echo((files("kit") / "deploy" / _FILES[what]).read_text(encoding="utf-8"), nl=False)
