"""The blocking face is what the awaited one makes of itself."""

import re
from pathlib import Path

from tests import sync_face


def test_the_blocking_modules_are_current(tmp_path: Path) -> None:
    copies = {}
    for number, (source, target) in enumerate(sync_face.list_pairs().items()):
        copies[target] = tmp_path / f"{number}.py"
        copies[target].write_text(sync_face.make_blocking(source.read_text("utf-8")), "utf-8")

    sync_face.format_files(list(copies.values()))

    assert copies
    for target, copy in copies.items():
        assert target.read_text("utf-8") == copy.read_text("utf-8"), f"run {sync_face.__file__}"


def test_no_awaited_class_is_written_beside_its_twin() -> None:
    wing = [sync_face.ROOT / "kit" / room for room in ("client", "explore", "widgets", "studio")]
    files = [path for room in wing for path in room.rglob("*.py")]
    written = {
        path for path in files if re.search(r"^class _?Async", path.read_text("utf-8"), re.M)
    }

    assert written
    assert written <= sync_face.list_pairs().keys()
