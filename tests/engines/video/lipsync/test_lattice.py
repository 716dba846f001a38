import numpy as np
import pytest

from kit.engines.editing.lipsync.lattice import filled, step_for
from kit.engines.media.color import Floats


def bumps(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    return np.sin(x / 20) * np.cos(y / 30), x * 0.1


@pytest.mark.parametrize("step", [1, 3, 5, 9])
@pytest.mark.parametrize("shape", [(60, 90), (61, 88), (2, 3), (1, 1), (0, 5)])
def test_fields_are_filled_in_between_whatever_the_size(step: int, shape: tuple[int, int]) -> None:
    y, x = (axis.astype(np.float32) for axis in np.mgrid[0 : shape[0], 0 : shape[1]])

    found = filled(bumps, x, y, step)

    for field, exact in zip(found, bumps(x, y), strict=True):
        assert field.shape == shape
        assert field.dtype == np.float32
        # Half a step past the outermost place there is nothing to fill in from.
        assert np.abs(field - exact).max(initial=0) < 0.06 * step


def test_fewer_places_are_enough_for_larger_faces() -> None:
    steps = [step_for(unit) for unit in (0.1, 0.4, 1.0, 1.5, 3.0, 50.0)]

    assert steps == sorted(steps)
    assert steps[0] == 1
    assert steps[-1] == 9
    assert all(step % 2 for step in steps)
