import numpy as np
import pytest

from kit.engines.painting.city.directing import Hour
from kit.engines.painting.city.facades import SHOP, Face, Walls, laid
from kit.engines.painting.city.hours import hour_of
from kit.engines.painting.city.names import names
from kit.engines.painting.city.view import Block
from kit.engines.prompt.brief import read


def _block(style: str = "grid") -> Block:
    return Block(
        side=1, near=10.0, far=40.0, wall=8.0, tall=30.0, style=style,
        floor=3.2, bay=2.8, tone=0.5, number=7,
    )  # fmt: skip


def _hour(time: str) -> Hour:
    settings = {"aspect_ratio": "1:1", "size": 64, "family": "city"}
    return hour_of(np.random.default_rng(1), read(f"clear {time} street", settings, 1))


def _face(step: float = 0.05, sunlit: float = 0.0) -> Face:
    up = (SHOP + 0.2 + np.arange(200, 0, -1, dtype=np.float32) * step)[:, None]
    along = np.arange(160, dtype=np.float32)[None] * step + 20.0
    return Face(
        along=along, up=up, step_along=step, step_up=step, z=20.0, sunlit=sunlit, backward=False
    )


def _painted(
    time: str, *, style: str = "grid", step: float = 0.05, sunlit: float = 0.0
) -> np.ndarray:
    walls = Walls(np.random.default_rng(1), _hour(time))
    return walls.painted(_face(step, sunlit), _block(style))


@pytest.mark.parametrize("style", ["grid", "brick", "glass", "bands"])
def test_every_style_has_windows_that_differ_from_its_wall(style: str) -> None:
    pixels = _painted("day", style=style, sunlit=1.0)

    assert pixels.shape == (3, 200, 160)
    assert pixels.std() > 0.03
    assert pixels.min() >= 0.0


def test_sunlit_walls_are_brighter_than_shaded_ones() -> None:
    assert _painted("day", sunlit=1.0).mean() > 1.5 * _painted("day").mean()


def test_windows_shine_by_night_before_dark_walls() -> None:
    pixels = _painted("night").mean(axis=0)

    assert np.percentile(pixels, 99) > 6 * np.median(pixels)


def test_far_windows_run_together_instead_of_flickering() -> None:
    near, far = _painted("night"), _painted("night", step=4.0)

    assert far.std() < 0.5 * near.std()


def test_a_sheet_on_a_wall_repeats_without_a_seam() -> None:
    sheet = np.random.default_rng(1).random((16, 16), np.float32)
    place = np.arange(-40, 40, 0.25, dtype=np.float32)

    found = laid(sheet, place, np.full_like(place, 3.0)).ravel()

    assert np.abs(np.diff(found)).max() <= 0.26


def test_shops_have_readable_names() -> None:
    sheets = names()

    assert len(sheets) > 10
    assert all(0.02 < sheet.mean() < 0.6 for sheet in sheets)
