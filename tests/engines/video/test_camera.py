from itertools import pairwise

import pytest

from kit.engines.film.camera import CAMERAS, REACH, nearness, view

MOMENTS = [number / 40 for number in range(41)]


@pytest.mark.parametrize("camera", CAMERAS)
@pytest.mark.parametrize("loop", [False, True])
def test_a_camera_stays_within_its_reach_and_never_shows_what_is_not_there(
    camera: str, loop: bool
) -> None:
    for moment in MOMENTS:
        seen = view(camera, moment, motion=1.0, loop=loop)

        assert abs(seen.x) <= REACH[0]
        assert abs(seen.y) <= REACH[1]
        assert seen.zoom >= 0


@pytest.mark.parametrize("camera", CAMERAS)
def test_a_loop_ends_where_it_began(camera: str) -> None:
    start, end = (view(camera, moment, motion=0.7, loop=True) for moment in (0, 1))

    assert (start.x, start.y, start.zoom) == pytest.approx((end.x, end.y, end.zoom), abs=1e-9)


def test_without_motion_every_camera_stands_still() -> None:
    for camera in CAMERAS:
        views = {view(camera, moment, motion=0.0, loop=False) for moment in MOMENTS}
        assert len({(abs(v.x), abs(v.y), abs(v.zoom)) for v in views}) == 1


def test_pans_go_their_way_and_start_gently() -> None:
    xs = [view("pan_left", moment, motion=1.0, loop=False).x for moment in MOMENTS]
    steps = [b - a for a, b in pairwise(xs)]

    assert min(steps) > 0
    assert steps[0] < max(steps) / 2
    assert view("pan_right", 0.9, motion=1.0, loop=False).x < 0 < xs[-1]


def test_nearer_planes_move_more() -> None:
    shares = [nearness(depth / 10) for depth in range(11)]

    assert shares == sorted(shares)
    assert shares[0] < 0.05 < 0.95 < shares[-1]
