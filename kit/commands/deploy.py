"""``kit deploy``: how the service is run on other machines, as files to begin with."""

from __future__ import annotations

from enum import StrEnum
from importlib.resources import files
from typing import Annotated

import typer


class Deployment(StrEnum):
    """What a file is for, and its name in `kit/deploy`."""

    COMPOSE = "compose"
    DOCKERFILE = "dockerfile"
    KUBERNETES = "kubernetes"
    SYSTEMD = "systemd"
    NGINX = "nginx"
    CAPACITY = "capacity"


_FILES = {
    Deployment.COMPOSE: "compose.yaml",
    Deployment.DOCKERFILE: "Dockerfile",
    Deployment.KUBERNETES: "kubernetes.yaml",
    Deployment.SYSTEMD: "kit.service",
    Deployment.NGINX: "nginx.conf",
    Deployment.CAPACITY: "CAPACITY.md",
}


def command(
    what: Annotated[Deployment, typer.Argument(help="What the file is for.", show_default=False)],
) -> None:
    """Print a file that runs the service elsewhere: compose, Kubernetes, systemd, nginx.

    Its first lines say how it is used; change what says CHANGE. `capacity` is what machines carry.
    """
    typer.echo((files("kit") / "deploy" / _FILES[what]).read_text(encoding="utf-8"), nl=False)
