"""Where configured models come from, and what is found there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kit.engines.base import Engine


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
