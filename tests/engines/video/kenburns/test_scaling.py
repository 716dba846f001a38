import numpy as np
import pytest

from kit.engines.video.kenburns.scaling import scale

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
