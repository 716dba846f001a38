"""Style sheets: they stand in files of their own, and go out in one line."""

from __future__ import annotations

from importlib import resources


def load_style(package: str, file: str) -> str:
    """Return a style sheet of a package without line breaks."""
    return " ".join(resources.files(package).joinpath(file).read_text("utf-8").split())
