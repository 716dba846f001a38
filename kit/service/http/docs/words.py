"""Words and examples of the API's fields, from ``words.toml`` beside this file."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def words() -> dict[str, Any]:
    """Return notes on fields, values and bodies for examples, and what the groups are called."""
    return tomllib.loads(files(__package__).joinpath("words.toml").read_text("utf-8"))
