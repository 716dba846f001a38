"""The source of configured models, the rule for their ids, and the result of reading them."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic_core import ValidationError

from kit.engines.base import Engine
from kit.errors import KitError

#: Pattern of a model's id: it is part of URLs and file names.
ID = "[a-z0-9][a-z0-9.-]{0,99}"
ID_WORDS = "small letters, digits, dots and dashes, at most 100, a letter or digit first"


@dataclass(frozen=True, slots=True)
class ModelSource:
    """The file of models, which may not exist, and its folder of copies.

    `example.toml` beside this module shows the format of the file. The folder `copies` caches the
    models of other services, and has notes about their running jobs.
    """

    file: Path
    copies: Path


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An engine that is not offered: its name, the reason, and the remedy."""

    subject: str
    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.subject} is left out: {self.reason}; {self.remedy}"


@dataclass(frozen=True, slots=True)
class EngineList:
    """Engines by model id, those left out, and remarks about expected failures."""

    engines: Mapping[str, Engine]
    left_out: tuple[LeftOut, ...] = ()
    notices: tuple[str, ...] = ()


def describe_error(error: BaseException) -> str:
    """Return an error in one line, even if its own text cannot be read."""
    if isinstance(error, KitError):
        return str(getattr(error, "detail", "")) or str(error)
    if isinstance(error, ValidationError):
        places = [(".".join(map(str, (error.title, *e["loc"]))), e["msg"]) for e in error.errors()]
        return "; ".join(f"{place}: {message}" for place, message in places)
    *place, sentence = traceback.format_exception_only(error)
    where = f" ({place[0].strip()})" if isinstance(error, SyntaxError) and place else ""
    return " ".join(sentence.split()) + where
