import cv2
import numpy as np
import pytest

from kit.engines.film.animate.layers import Layers, sheet_of
from kit.engines.film.animate.relief import Blocks
from kit.engines.film.animate.subject import Subject
from kit.engines.film.kenburns.blocks import pairs, quads
from kit.engines.film.sheets import lay
from kit.engines.media.clip import views
from tests.engines.video.showing import textured

SIZE = (160, 100)
STAGE = (180, 112)


def layers(box: tuple[int, int, int, int]) -> Layers:
    """Return a textured rectangle, by its edges, in a layer larger than the frame."""
    alpha = np.zeros((STAGE[1], STAGE[0]), np.uint8)
    left, top, right, bottom = box
    alpha[top:bottom, left:right] = 255
    return Layers(textured(*STAGE), textured(*STAGE, seed=9), cv2.blur(alpha, (3, 3)))


def background() -> np.ndarray:
    frame = np.full((150, 160), 128, np.uint8)
    frame[:100] = np.linspace(30, 120, 160, dtype=np.uint8)
    return frame


def drawn(parts: Layers, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a subject over a frame: block by block, and as a sheet, plane by plane."""
    frames = background(), background()
    luma, one, other = views(frames[0], *SIZE)
    blocks = Blocks(quads(luma)[::2, ::2].copy(), pairs(one, other)[:, ::2].copy())
    Subject(parts, np.random.default_rng(1)).lay(blocks, matrix)
    blocks.spread(views(frames[0], *SIZE))
    sheet = sheet_of(parts, np.random.default_rng(1))
    lay(views(frames[1], *SIZE), sheet, matrix, stop=SIZE[1])
    return frames[0].astype(int), frames[1].astype(int)


@pytest.mark.parametrize("box", [(50, 30, 110, 80), (0, 40, 70, 112), (20, 0, 180, 112)])
@pytest.mark.parametrize(
    ("scale", "x", "y"), [(1.0, -10.0, -6.0), (1.06, -13.3, -8.7), (1.0, 4.5, -11.25)]
)
def test_a_subject_in_blocks_looks_like_one_that_is_laid_plane_by_plane(
    box: tuple[int, int, int, int], scale: float, x: float, y: float
) -> None:
    ours, sheet = drawn(layers(box), np.array([[scale, 0.0, x], [0.0, scale, y]]))

    assert np.abs(ours - sheet).mean() < 0.5
    assert np.abs(ours - sheet).max() < 14
    assert np.abs(sheet - background()).max() > 30


def test_a_subject_that_is_out_of_sight_draws_nothing() -> None:
    away = np.array([[1.0, 0.0, 500.0], [0.0, 1.0, 0.0]])

    ours, _ = drawn(layers((50, 30, 110, 80)), away)

    assert np.array_equal(ours, background())
