from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from kit.engines.base import Asset, CanceledError, Job, Progress
from kit.engines.models.scene import Scene
from kit.engines.models.scene_fast import SceneFast
from kit.engines.painting.picture import enlarged
from kit.pricing import price

DEFAULTS = {p.name: p.default for p in SceneFast.definition.settings if p.default is not None}
FULL = {p.name: p.default for p in Scene.definition.settings if p.default is not None}


def render(folder: Path, prompt: str = "sea at sunset", seed: int = 1, **values: Any) -> Asset:
    folder.mkdir(exist_ok=True)
    parameters = {**DEFAULTS, "size": 320, "format": "png", **values}
    job = Job(prompt=prompt, parameters=parameters, folder=folder, seed=seed)
    return SceneFast().render(job, Progress())


def pixels(path: Path) -> np.ndarray:
    with Image.open(path) as picture:
        return np.asarray(picture).astype(float)


def test_the_same_job_gives_the_same_bytes(tmp_path: Path) -> None:
    one, again = (render(tmp_path / name).path.read_bytes() for name in ("a", "b"))

    assert one == again


@pytest.mark.parametrize(("aspect", "size"), [("1:1", (320, 320)), ("16:9", (320, 180))])
def test_the_picture_has_the_size_that_was_asked_for(
    tmp_path: Path, aspect: str, size: tuple[int, int]
) -> None:
    asset = render(tmp_path, aspect_ratio=aspect)

    assert (asset.width, asset.height) == size
    assert asset.thumbnail is not None


def test_it_is_the_same_scene_as_the_full_model_paints(tmp_path: Path) -> None:
    quick = pixels(render(tmp_path / "quick", "clear mountain lake at noon").path)
    (tmp_path / "full").mkdir()
    values = {**FULL, "size": 320, "detail": "low", "format": "png"}
    job = Job(
        prompt="clear mountain lake at noon", parameters=values, folder=tmp_path / "full", seed=1
    )
    full = pixels(Scene().render(job, Progress()).path)
    rows = [part.reshape(10, 32, 320, 3).mean(axis=(1, 2)) for part in (quick, full)]

    assert np.abs(rows[0] - rows[1]).mean() < 20


def test_enlarging_keeps_the_mean_and_sharpens() -> None:
    small = np.random.default_rng(1).integers(60, 200, (40, 60, 3)).astype(np.uint8)
    large = enlarged(small, 120, 80)

    assert large.shape == (80, 120, 3)
    assert abs(float(large.mean()) - float(small.mean())) < 2
    assert enlarged(small, 60, 40) is small


def test_it_costs_less_than_half_of_the_full_model() -> None:
    quick = price(SceneFast.definition.pricing, DEFAULTS).total

    assert quick < price(Scene.definition.pricing, FULL).total / 2


def test_a_canceled_scene_is_given_up(tmp_path: Path) -> None:
    progress = Progress()
    progress.cancel()

    with pytest.raises(CanceledError):
        SceneFast().render(Job(prompt="sea", parameters=DEFAULTS, folder=tmp_path), progress)
