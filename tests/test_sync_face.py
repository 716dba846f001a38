"""The blocking face is what the awaited one makes of itself."""

from pathlib import Path

from tests import sync_face


def test_the_blocking_modules_are_current(tmp_path: Path) -> None:
    copies = {}
    for number, (source, target) in enumerate(sync_face.pairs().items()):
        copies[target] = tmp_path / f"{number}.py"
        copies[target].write_text(sync_face.made(source.read_text("utf-8")), "utf-8")

    sync_face.tidy(list(copies.values()))

    assert copies
    for target, copy in copies.items():
        assert target.read_text("utf-8") == copy.read_text("utf-8"), f"run {sync_face.__file__}"
