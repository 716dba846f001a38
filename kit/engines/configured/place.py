"""Where configured models come from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Place:
    """The file that names them, and what goes with it.

    Parameters
    ----------
    file : Path
        TOML; it need not exist. `example.toml` beside this module shows what it may hold.
    copies : Path
        Folder for what other services offer, as last seen.
    """

    file: Path
    copies: Path
