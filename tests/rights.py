"""Permissions of files and folders; Windows has access control lists instead."""

import os
import stat
from pathlib import Path


def is_private(path: Path) -> bool:
    """Return whether only the owner may read a file or folder."""
    return os.name == "nt" or not stat.S_IMODE(path.stat().st_mode) & 0o077
