"""Where configured models come from, what they may be called, and what is found there."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic_core import ValidationError

from kit.engines.base import Engine
from kit.errors import KitError

#: What the id of a model may be: it is part of addresses and of file names.
ID = "[a-z0-9][a-z0-9.-]{0,99}"
ID_WORDS = "small letters, digits, dots and dashes, at most 100, a letter or digit first"


@dataclass(frozen=True, slots=True)
class ModelSource:
    """The file that names models, which need not exist, and what goes with it.

    `example.toml` beside this module shows what it may hold. In the folder `copies` lies what other
    services offer, as last seen, and notes of what they are making.
    """

    file: Path
    copies: Path


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An engine that is not served: which one, why, and what to do about it."""

    what: str
    why: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.what} is left out: {self.why}"


@dataclass(frozen=True, slots=True)
class Listing:
    """Engines by model id, those left out, and remarks on what will not work as it is."""

    engines: Mapping[str, Engine]
    left_out: tuple[LeftOut, ...] = ()
    remarks: tuple[str, ...] = ()


def describe_error(error: BaseException) -> str:
    """Return an error in one line, even one whose own text cannot be had."""
    if isinstance(error, KitError):
        return str(getattr(error, "detail", "")) or str(error)
    if isinstance(error, ValidationError):
        return "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
    return " ".join(traceback.format_exception_only(error)[-1].split())
