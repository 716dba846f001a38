import numpy as np
import pytest

from kit.engines.film.kenburns.blocks import pairs
from kit.engines.film.kenburns.scaling import scale, scale_pairs

#: A plane whose brightness says where it was looked up: along x, or along y.
ALONG = np.broadcast_to(np.linspace(0, 250, 400, dtype=np.float32), (300, 400))
DOWN = np.broadcast_to(np.linspace(0, 250, 300, dtype=np.float32)[:, None], (300, 400))
STEPS = [0.71, 0.833, 0.97, 1.0, 1.0734, 1.118, 1.25, 1.41]


def scaled(plane: np.ndarray, step: float, corner: tuple[float, float], error: float) -> np.ndarray:
    out = np.zeros((120, 160), np.uint8)
    scale(np.rint(plane).astype(np.uint8), out, step, corner, error=error)
    return out.astype(float)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("corner", [(40.0, 30.0), (41.37, 33.81), (77.5, 50.25)])
def test_every_pixel_comes_from_its_place(step: float, corner: tuple[float, float]) -> None:
    x = corner[0] + (np.arange(160) + 0.5) * step - 0.5
    y = corner[1] + (np.arange(120) + 0.5) * step - 0.5

    across, down = (scaled(plane, step, corner, 0.06) for plane in (ALONG, DOWN))

    assert across[60] == pytest.approx(x * 250 / 399, abs=1.2)
    assert down[:, 80] == pytest.approx(y * 250 / 299, abs=1.2)


@pytest.mark.parametrize("step", STEPS)
def test_the_fast_way_shows_what_the_exact_one_shows(step: float) -> None:
    rng = np.random.default_rng(1)
    noise = np.kron(rng.integers(0, 255, (30, 40)), np.ones((10, 10)))

    fast, exact = (scaled(noise, step, (31.3, 17.9), error) for error in (0.06, -1.0))

    assert np.abs(fast - exact).mean() < 1.0


@pytest.mark.parametrize("corner", [(0.0, 0.0), (400 - 160 * 1.1, 300 - 120 * 1.1), (0.4, 150.0)])
def test_at_the_edges_of_the_source_nothing_is_missing(corner: tuple[float, float]) -> None:
    out = scaled(np.full((300, 400), 90), 1.1, corner, 0.06)

    assert (out == 90).all()


@pytest.mark.parametrize("step", [0.833, 1.0734, 1.25])
@pytest.mark.parametrize("width", [160, 161])
@pytest.mark.parametrize("corner", [(41.37, 33.81), (0.4, 150.0)])
def test_pairs_come_from_their_places_too(
    step: float, width: int, corner: tuple[float, float]
) -> None:
    planes = [np.rint(plane).astype(np.uint8) for plane in (ALONG, DOWN)]
    across, down = (np.zeros((120, width), np.uint8) for _ in range(2))

    scale_pairs(pairs(*planes), (across, down), step, corner, error=0.12)

    x = corner[0] + (np.arange(width) + 0.5) * step - 0.5
    y = corner[1] + (np.arange(120) + 0.5) * step - 0.5
    inside = x >= 0
    assert across[60][inside].astype(float) == pytest.approx(x[inside] * 250 / 399, abs=1.2)
    assert down[:, 80].astype(float) == pytest.approx(np.minimum(y, 299) * 250 / 299, abs=1.2)


@pytest.mark.parametrize("corner", [40.0, 40.25, 40.5, 40.9, 41.0])
def test_what_keeps_its_size_is_shifted_by_parts_of_pixels(corner: float) -> None:
    steep = np.broadcast_to(np.clip(10.0 * (np.arange(400) - 30), 0, 250), (300, 400))

    row = scaled(steep, 1.0, (corner, 30.5), 0.06)[60]

    assert row[:12] == pytest.approx(10 * (corner - 30 + np.arange(12)), abs=0.6)
