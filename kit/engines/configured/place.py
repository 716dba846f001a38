"""Where configured models come from, and what is found there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kit.engines.base import Engine


@dataclass(frozen=True, slots=True)
class ModelSource:
    """The file that names them, and what goes with it.

    Parameters
    ----------
    file : Path
        TOML; it need not exist. `example.toml` beside this module shows what it may hold.
    copies : Path
        Folder for what other services offer, as last seen, and for notes of what they are making.
    """

    file: Path
    copies: Path


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An engine that is not served.

    Parameters
    ----------
    what : str
        How it is called and where it comes from.
    why : str
        The reason, for whoever runs the service.
    remedy : str
        What to do about it.
    """

    what: str
    why: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.what} is left out: {self.why}"


@dataclass(frozen=True, slots=True)
class Listing:
    """What the file holds, or what all that is installed and configured comes to.

    Parameters
    ----------
    engines : mapping of str to Engine
        By model id.
    left_out : sequence of LeftOut
        What cannot be served.
    remarks : sequence of str
        Sentences on what is served and will not work as it is.
    remedy : str
        What to do about any of the file's entries.
    """

    engines: Mapping[str, Engine]
    left_out: tuple[LeftOut, ...] = ()
    remarks: tuple[str, ...] = ()
    remedy: str = ""
