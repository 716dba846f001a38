import numpy as np
import pytest

from kit.engines.media.color import Floats
from kit.engines.painting.poster.compose import Look, compose, flat, painted
from kit.engines.painting.poster.plane import Plane, Stage, Touch, over, solid
from kit.engines.painting.poster.strips import gathered, printed, strips
from kit.engines.prompt.landscape import read

STAGE = Stage(96, 400)


def gray(canvas: Floats, first: int) -> None:
    canvas[:] = 0.5


def ridge(top: int, red: float, *, soft: int = 20) -> Plane:
    alpha = np.full((STAGE.rows - top, STAGE.columns), 255, np.uint8)
    alpha[:soft] = 100
    return Plane("ridge", 0.5, top, solid(np.array([red, 0.2, 0.1], np.float32)), alpha)


def test_strips_look_like_planes_laid_over_a_whole_canvas() -> None:
    planes = [ridge(90, 0.9), ridge(170, 0.3), ridge(300, 0.6)]
    whole = np.full((3, STAGE.rows, STAGE.columns), 0.5, np.float32)
    for plane in planes:
        over(whole, plane)

    assert gathered(STAGE, strips(STAGE, gray, planes)) == pytest.approx(whole, abs=1e-6)


def test_what_a_plane_hides_is_not_painted() -> None:
    asked: list[slice] = []
    hidden = Touch(solid(np.ones(3, np.float32)), lambda rows, columns: asked.append(rows))
    back = ridge(0, 0.9)
    back = Plane(back.name, back.depth, back.top, back.ground, back.alpha, (hidden,))

    list(strips(STAGE, gray, [back, ridge(0, 0.3, soft=0)]))

    assert asked == []


def test_touches_lie_upon_each_other_in_order() -> None:
    white, black = (solid(np.full(3, value, np.float32)) for value in (1.0, 0.0))
    half = np.full((1, STAGE.columns), 0.5, np.float32)
    touches = (Touch(white, lambda *_: half), Touch(black, lambda *_: half))
    plain = ridge(0, 0.6, soft=0)
    plane = Plane("ridge", 0.5, 0, plain.ground, plain.alpha, touches)

    assert plane.color[0] == pytest.approx(np.full((400, 96), (0.6 + 1.0) / 2 / 2), abs=1e-6)


def test_a_print_is_the_canvas_within_the_step_of_its_dither() -> None:
    picture = compose(read("a lake at night", seed=3), Look(), STAGE)
    printed_ = printed(STAGE, painted(picture)).transpose(2, 0, 1)

    assert np.abs(printed_ - np.clip(255 * flat(picture), 0, 255)).max() <= 1.51


def test_the_mirror_in_the_water_ends_at_the_shore() -> None:
    picture = compose(read("a lake at dusk", seed=3), Look(), STAGE)
    dry = gathered(STAGE, strips(STAGE, picture.heaven.fill, picture.back))
    shore = picture.water.shore if picture.water else 0

    assert np.array_equal(flat(picture)[:, : shore - 120], dry[:, : shore - 120])
    assert not np.array_equal(flat(picture)[:, shore + 5 :], dry[:, shore + 5 :])


def test_strips_painted_into_a_canvas_stay_there() -> None:
    planes = [ridge(90, 0.9), ridge(170, 0.3)]
    whole = gathered(STAGE, strips(STAGE, gray, planes))
    canvas = np.empty_like(whole)

    shapes = [strip.shape for _, strip in strips(STAGE, gray, planes, into=canvas)]

    assert len(shapes) > 1
    assert canvas == pytest.approx(whole, abs=1e-6)
