from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from kit.engines.base import Asset, CanceledError, Job, Progress
from kit.engines.models.scene import Scene
from kit.engines.sizes import ASPECTS
from kit.pricing import check_rule, price
from kit.wire import CATEGORIES, Model

DEFAULTS = {p.name: p.default for p in Scene.definition.settings if p.default is not None}


def render(folder: Path, prompt: str = "sea at sunset", seed: int = 1, **values: Any) -> Asset:
    parameters = {**DEFAULTS, "size": 160, "detail": "low", "format": "png", **values}
    folder.mkdir(exist_ok=True)
    job = Job(prompt=prompt, parameters=parameters, folder=folder, seed=seed)
    return Scene().render(job, Progress())


def test_the_same_job_gives_the_same_bytes(tmp_path: Path) -> None:
    one, again, other = (
        render(tmp_path / name, seed=seed).path.read_bytes()
        for name, seed in (("a", 7), ("b", 7), ("c", 8))
    )

    assert one == again
    assert one != other


@pytest.mark.parametrize("aspect", ASPECTS)
def test_every_aspect_has_the_exact_size(tmp_path: Path, aspect: str) -> None:
    asset = render(tmp_path, aspect_ratio=aspect)

    with Image.open(asset.path) as picture:
        assert picture.size == (asset.width, asset.height)
    assert max(asset.width, asset.height) == 160


@pytest.mark.parametrize(
    ("kind", "content_type"),
    [("png", "image/png"), ("jpeg", "image/jpeg"), ("webp", "image/webp")],
)
def test_every_format_is_what_it_says(tmp_path: Path, kind: str, content_type: str) -> None:
    asset = render(tmp_path, format=kind)

    assert asset.content_type == content_type
    with Image.open(asset.path) as picture:
        assert (picture.format or "").lower() == kind
    assert asset.thumbnail is not None
    with Image.open(asset.thumbnail) as preview:
        assert preview.format == "JPEG"


def test_quality_makes_a_smaller_file(tmp_path: Path) -> None:
    fine, coarse = (
        render(tmp_path / str(q), format="jpeg", quality=q).path.stat().st_size for q in (95, 20)
    )

    assert coarse < 0.5 * fine


def test_the_scene_stands_in_the_metadata(tmp_path: Path) -> None:
    scene = render(tmp_path, "a teal winter lake at dusk, wide").metadata["scene"]

    assert (scene["family"], scene["time_of_day"], scene["season"]) == ("lake", "dusk", "winter")
    assert (scene["colors"], scene["composition"]) == (["teal"], ["wide"])


def test_the_family_can_be_set(tmp_path: Path) -> None:
    one, other = (
        np.asarray(Image.open(render(tmp_path / f, "at noon", family=f).path))
        for f in ("sea", "desert")
    )

    assert np.abs(one.astype(int) - other).mean() > 10


def test_progress_rises_to_1(tmp_path: Path) -> None:
    seen: list[float] = []
    values = {**DEFAULTS, "size": 128, "detail": "low"}
    Scene().render(Job(prompt="a lake", parameters=values, folder=tmp_path), Progress(seen.append))

    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0.0, 1.0)


def test_a_canceled_scene_is_given_up(tmp_path: Path) -> None:
    progress = Progress()
    progress.cancel()

    with pytest.raises(CanceledError):
        Scene().render(Job(prompt="a lake", parameters=DEFAULTS, folder=tmp_path), progress)

    assert list(tmp_path.iterdir()) == []


def test_more_pixels_and_detail_cost_more() -> None:
    rule = Scene.definition.pricing
    totals = [
        price(rule, {**DEFAULTS, **more}).total
        for more in ({"detail": "low"}, {}, {"size": 2048}, {"size": 2048, "detail": "high"})
    ]

    assert totals == sorted(totals)
    assert len(set(totals)) == 4


def test_the_definition_is_valid() -> None:
    definition = Scene.definition
    model = Model(
        id=definition.id,
        title=definition.title,
        asset_type=definition.asset_type,
        category=definition.category,
        setting_parameters=list(definition.settings),
        pricing=definition.pricing,
    )

    check_rule(model)
    assert definition.category in CATEGORIES["image"]


def heard_until_canceled(job: Job, last: int) -> list[float]:
    """Return what a job reports that is canceled at one of its reports."""
    seen: list[float] = []

    def heard(done: float) -> None:
        seen.append(done)
        if len(seen) == last:
            progress.cancel()

    progress = Progress(heard)
    with pytest.raises(CanceledError):
        Scene().render(job, progress)
    return seen


@pytest.mark.parametrize("kind", ["png", "jpeg", "webp"])
def test_a_scene_that_is_canceled_at_any_report_leaves_no_file(tmp_path: Path, kind: str) -> None:
    values = {**DEFAULTS, "size": 128, "detail": "low", "family": "flow", "format": kind}
    job = Job(prompt="waves", parameters=values, folder=tmp_path)
    seen: list[float] = []
    Scene().render(job, Progress(seen.append))
    for path in tmp_path.iterdir():
        path.unlink()

    for last in range(1, len(seen)):  # the last report comes when all is done
        assert heard_until_canceled(job, last) == seen[:last]
        assert list(tmp_path.iterdir()) == []
