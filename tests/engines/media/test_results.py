"""Pictures as results: a file, a preview, and nothing of them when they are canceled."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from kit.engines.base import CanceledError, Job, Progress
from kit.engines.media.results import still


def job(folder: Path, **values: object) -> Job:
    return Job(prompt="", parameters=values, folder=folder)


@pytest.mark.parametrize(
    ("values", "ending", "kind"),
    [({}, "png", "image/png"), ({"format": "jpeg", "quality": 30}, "jpg", "image/jpeg")],
)
def test_a_picture_is_written_as_the_job_asks(
    tmp_path: Path, values: dict[str, object], ending: str, kind: str
) -> None:
    pixels = np.random.default_rng(1).integers(0, 255, (600, 800, 3), np.uint8)
    seen: list[float] = []

    made = still(pixels, job(tmp_path, **values), "hills", Progress(seen.append), facts={"a": 1})

    assert (made.path, made.content_type) == (tmp_path / f"hills.{ending}", kind)
    assert (made.width, made.height, made.metadata) == (800, 600, {"a": 1})
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert made.thumbnail
    with Image.open(made.path) as file, Image.open(made.thumbnail) as small:
        assert (file.size, small.size) == ((800, 600), (512, 384))


def test_quality_and_the_preview_are_chosen(tmp_path: Path) -> None:
    pixels = np.random.default_rng(1).integers(0, 255, (64, 64, 3), np.uint8)
    sizes = []
    for quality in (20, 95):
        order = job(tmp_path, format="jpeg", quality=quality)
        made = still(pixels, order, "a", Progress(), facts={}, preview=lambda: pixels[:8, :16])
        sizes.append(made.path.stat().st_size)

    assert sizes[0] < sizes[1] / 2
    assert made.thumbnail
    with Image.open(made.thumbnail) as small:
        assert small.size == (16, 8)


@pytest.mark.parametrize("at", [0, 1])
def test_whoever_leaves_while_it_is_encoded_finds_no_file(tmp_path: Path, at: int) -> None:
    pixels = np.random.default_rng(1).integers(0, 255, (900, 900, 3), np.uint8)
    count = iter(range(1000))
    progress = Progress(lambda _: progress.cancel() if next(count) == at else None)

    with pytest.raises(CanceledError):
        still(pixels, job(tmp_path), "a", progress, facts={})
    assert list(tmp_path.iterdir()) == []
