"""The blocking modules are generated from the awaited ones."""

import re
from pathlib import Path

from tests import sync_face


def test_the_blocking_modules_are_up_to_date(tmp_path: Path) -> None:
    copies = {}
    for number, (source, target) in enumerate(sync_face.list_pairs().items()):
        copies[target] = tmp_path / f"{number}.py"
        copies[target].write_text(sync_face.make_blocking(source.read_text("utf-8")), "utf-8")

    sync_face.format_files(list(copies.values()))

    assert copies
    for target, copy in copies.items():
        assert target.read_text("utf-8") == copy.read_text("utf-8"), f"run {sync_face.__file__}"


def test_async_classes_are_only_in_the_awaited_modules() -> None:
    folders = [
        sync_face.ROOT / "kit" / folder for folder in ("client", "explore", "widgets", "studio")
    ]
    files = [path for folder in folders for path in folder.rglob("*.py")]
    written = {
        path for path in files if re.search(r"^class _?Async", path.read_text("utf-8"), re.M)
    }

    assert written
    assert written <= sync_face.list_pairs().keys()
