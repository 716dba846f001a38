"""Small records kept on this computer: one JSON object a line, only ever appended.

What several kernels append does not mix, because a line is one write; a line that a crash has cut
short is skipped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kit.private import make_folder


class JsonLines:
    """A file of records, readable by its owner only.

    Examples
    --------
    >>> import tempfile
    >>> lines = JsonLines(Path(tempfile.mkdtemp()) / "notes.jsonl")
    >>> lines.append({"id": "gen_1", "rating": 5})
    >>> list(lines)
    [{'id': 'gen_1', 'rating': 5}]
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __iter__(self) -> Iterator[dict[str, Any]]:
        try:
            text = self.path.read_text("utf-8")
        except FileNotFoundError:
            return
        for line in text.splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict):
                yield record

    def version(self) -> tuple[int, int]:
        """Return what changes whenever something was written, also by another kernel."""
        try:
            facts = self.path.stat()
        except FileNotFoundError:
            return (0, 0)
        return (facts.st_ino, facts.st_size)

    def append(self, record: Mapping[str, Any]) -> None:
        """Write a record down."""
        make_folder(self.path.parent)
        line = json.dumps(record, ensure_ascii=False, default=str) + "\n"
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, line.encode())
        finally:
            os.close(file)
