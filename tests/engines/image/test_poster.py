from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image

from kit.engines.base import Asset, CanceledError, Job, Progress
from kit.engines.media.color import lab_of
from kit.engines.models.poster import Poster
from kit.engines.painting.poster.palettes import NAMED
from kit.engines.sizes import ASPECTS

DEFAULTS = {p.name: p.default for p in Poster.definition.settings if p.default is not None}


def render(
    folder: Path, prompt: str = "mountains at sunset", seed: int = 1, **values: Any
) -> Asset:
    parameters = {**DEFAULTS, "size": 256, "format": "png", **values}
    folder.mkdir(exist_ok=True)
    job = Job(prompt=prompt, parameters=parameters, folder=folder, seed=seed)
    return Poster().render(job, Progress())


def lab(folder: Path, prompt: str, **values: Any) -> np.ndarray:
    with Image.open(render(folder, prompt, **values).path) as picture:
        return lab_of(np.asarray(picture) / 255)


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(tmp_path: Path) -> None:
    one, again, other = (
        render(tmp_path / name, seed=seed).path.read_bytes()
        for name, seed in (("a", 7), ("b", 7), ("c", 8))
    )

    assert one == again
    assert one != other


@pytest.mark.parametrize("kind", ["jpeg", "webp"])
def test_quality_makes_a_smaller_file(tmp_path: Path, kind: str) -> None:
    fine, coarse = (
        render(tmp_path / str(q), format=kind, quality=q).path.stat().st_size for q in (95, 20)
    )

    assert coarse < 0.5 * fine


@pytest.mark.parametrize("aspect", ASPECTS)
def test_every_aspect_has_the_exact_size(tmp_path: Path, aspect: str) -> None:
    asset = render(tmp_path, aspect_ratio=aspect, size=320)

    with Image.open(asset.path) as picture:
        assert picture.size == (asset.width, asset.height)
    across, down = ASPECTS[aspect]
    assert max(asset.width, asset.height) == 320
    assert abs(asset.width * down - asset.height * across) <= max(across, down)


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
        assert (preview.format, max(preview.size)) == ("JPEG", 256)


@pytest.mark.parametrize("palette", NAMED)
def test_every_palette_colors_the_picture(tmp_path: Path, palette: str) -> None:
    own, plain = (lab(tmp_path, "mountains", palette=name) for name in (palette, "auto"))

    assert np.abs(own - plain).mean() > 0.01


@pytest.mark.parametrize("subject", ["mountains", "hills", "desert", "sea", "forest", "lake"])
@pytest.mark.parametrize("weather", ["clear", "foggy", "rainy", "snowfall"])
def test_every_place_in_every_weather_renders(tmp_path: Path, subject: str, weather: str) -> None:
    asset = render(tmp_path, f"{weather} {subject}")

    scene = asset.metadata["scene"]
    assert scene["subject"] == subject
    with Image.open(asset.path) as picture:
        assert np.asarray(picture).std() > 8


@pytest.mark.parametrize("layers", range(4, 10))
def test_every_number_of_layers_renders(tmp_path: Path, layers: int) -> None:
    assert render(tmp_path, layers=layers).width == 256


def test_night_is_dark_and_has_stars(tmp_path: Path) -> None:
    night, bare, day = (
        lab(tmp_path, f"mountains at {time}", stars=stars)[..., 0]
        for time, stars in (("night", True), ("night", False), ("noon", True))
    )
    corner = (slice(0, 60), slice(0, 70))

    assert night.mean() < 0.36 < 0.6 < day.mean()
    assert night[corner].max() > bare[corner].max() + 0.1


def test_teal_and_crimson_pull_the_hue_their_way(tmp_path: Path) -> None:
    teal, crimson = (lab(tmp_path, f"{word} mountains at dusk") for word in ("teal", "crimson"))

    assert teal[..., 1].mean() < 0 < crimson[..., 1].mean()


def test_mist_lightens_the_feet_of_the_ridges(tmp_path: Path) -> None:
    clear, misty = (lab(tmp_path, "clear mountains at dusk", mist=m)[..., 0] for m in (0, 1))

    assert misty[150:200].mean() > clear[150:200].mean() + 0.03


def test_grain_roughens_a_smooth_sky(tmp_path: Path) -> None:
    smooth, rough = (
        np.abs(np.diff(lab(tmp_path, "cloudless day", grain=grain)[:20, :, 0])).mean()
        for grain in (False, True)
    )

    assert rough > 1.5 * smooth


def test_a_sky_has_no_bands(tmp_path: Path) -> None:
    with Image.open(render(tmp_path, "clear night", size=512, stars=False).path) as picture:
        rows = np.asarray(picture)[:120, :60].astype(int)

    # A band is a run of equal rows; dither leaves no two rows alike.
    assert (np.abs(np.diff(rows, axis=0)).sum(axis=(1, 2)) > 0).all()


def test_progress_rises_to_1(tmp_path: Path) -> None:
    seen: list[float] = []
    job = Job(prompt="a lake", parameters={**DEFAULTS, "size": 256}, folder=tmp_path)
    Poster().render(job, Progress(seen.append))

    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0.0, 1.0)


def test_a_canceled_poster_is_given_up(tmp_path: Path) -> None:
    progress = Progress()
    progress.cancel()

    with pytest.raises(CanceledError):
        Poster().render(Job(prompt="a lake", parameters=DEFAULTS, folder=tmp_path), progress)

    assert list(tmp_path.iterdir()) == []


def test_it_is_painted_in_one_thread_and_opencv_has_its_others_back(tmp_path: Path) -> None:
    before = cv2.getNumThreads()
    cv2.setNumThreads(3)
    seen: list[int] = []
    try:
        job = Job(prompt="hills", parameters={**DEFAULTS, "size": 256}, folder=tmp_path, seed=1)
        Poster().render(job, Progress(lambda _: seen.append(cv2.getNumThreads())))
        assert set(seen) == {1}
        assert cv2.getNumThreads() == 3
    finally:
        cv2.setNumThreads(before)
