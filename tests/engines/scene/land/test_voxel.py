import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Floats
from kit.engines.painting.land.voxel import FAR, Camera, seen, softened

CAMERA = Camera(columns=40, rows=60, focal=50.0, horizon=24.0, height=5.0)


def flat(x: Floats, z: Floats) -> Floats:
    return np.zeros(x.shape, np.float32)


def wall(x: Floats, z: Floats) -> Floats:
    return np.where((z > 40) & (z < 60) & (x > 0), 12.0, 0.0).astype(np.float32)


def test_flat_ground_is_seen_at_its_true_distance() -> None:
    view = seen(flat, CAMERA, Progress(), far=400.0)
    rows = np.arange(30, 60)
    distance = CAMERA.height * CAMERA.focal / (rows - CAMERA.horizon)

    assert np.allclose(view.z[30:], distance[:, None], rtol=0.03)
    assert np.abs(view.height[30:]).max() < 0.2


def test_above_the_horizon_is_sky() -> None:
    view = seen(flat, CAMERA, Progress(), far=400.0)

    assert view.sky[:23].all()
    assert (view.z[:23] == FAR).all()
    assert not view.sky[27:].any()


def test_a_wall_hides_what_is_behind_it_and_nothing_beside_it() -> None:
    view = seen(wall, CAMERA, Progress(), far=400.0)
    row = int(CAMERA.row(8.0, 40.0))

    assert not view.sky[row, 25:].any()
    assert np.allclose(view.z[row, 25:], 40.0, atol=2.0)
    assert view.sky[row, :15].all()


def test_the_lowest_row_is_never_the_first_slice() -> None:
    view = seen(flat, CAMERA, Progress(), far=400.0)

    assert abs(float(view.z[-1, 0]) - CAMERA.nearest) < 0.1 * CAMERA.nearest


def test_more_slices_find_the_same_ridge() -> None:
    def ridge(x: Floats, z: Floats) -> Floats:
        return np.asarray(20.0 * np.exp(-(((z - 170.0) / 9.0) ** 2)), np.float32)

    def top(slices: int) -> float:
        return float(seen(ridge, CAMERA, Progress(), far=400.0, slices=slices).sky[:, 20].sum())

    assert abs(top(300) - top(1500)) <= 1


def test_an_edge_is_blended_with_what_covers_it() -> None:
    edge = np.zeros((8, 1), np.float32)
    edge[2] = 0.25
    planes = np.zeros((3, 8, 1), np.float32)
    planes[:, 3:] = 4.0

    softened(planes, edge)

    assert np.allclose(planes[:, 2], 1.0)
    assert np.allclose(planes[:, 1], 0.0)
