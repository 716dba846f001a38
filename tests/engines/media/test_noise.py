import numpy as np
import pytest

from kit.engines.media import noise


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("sharp", [False, True])
def test_a_line_depends_on_its_seed_alone(sharp: bool) -> None:
    at = np.arange(300.0)

    one, again, other = (noise.line(rng(s), at, 40.0, sharp=sharp) for s in (1, 1, 2))

    assert np.array_equal(one, again)
    assert not np.allclose(one, other)


def test_a_smooth_line_has_no_steps() -> None:
    values = noise.line(rng(), np.arange(2000.0), 100.0, octaves=1)

    assert np.abs(np.diff(values)).max() < 0.06


def test_more_octaves_make_a_rougher_line() -> None:
    at = np.arange(1000.0)

    calm, rough = (noise.line(rng(), at, 100.0, octaves=n) for n in (1, 6))

    assert np.abs(np.diff(rough)).mean() > 1.5 * np.abs(np.diff(calm)).mean()


@pytest.mark.parametrize("shape", [(64, 64), (30, 200), (5, 3)])
def test_a_field_has_mean_0_and_deviation_1_in_any_shape(shape: tuple[int, int]) -> None:
    field = noise.field(rng(), *shape)

    assert field.shape == shape
    assert field.mean() == pytest.approx(0, abs=1e-3)
    assert field.std() == pytest.approx(1, abs=1e-2)


def test_stretched_cells_vary_less_along_them() -> None:
    field = noise.field(rng(), 128, 128, cells=(16, 2), octaves=1)

    assert np.abs(np.diff(field, axis=0)).mean() > 3 * np.abs(np.diff(field, axis=1)).mean()


def test_smooth_step_runs_either_way() -> None:
    at = np.array([0.0, 5.0, 10.0])

    assert noise.smooth_step(0, 10, at).tolist() == [0.0, 0.5, 1.0]
    assert noise.smooth_step(10, 0, at).tolist() == [1.0, 0.5, 0.0]
