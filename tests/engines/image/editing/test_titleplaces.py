import cv2
import numpy as np
import pytest

from kit.engines.editing.title.places import View, laid_out
from kit.engines.editing.title.setting import Title, stacked
from kit.engines.editing.title.styles import STYLES
from kit.engines.media.faces import find
from kit.errors import EngineError
from tests.engines.drawn import face

TITLE = Title(headline="Above the lake", subtitle="A story")


def with_ball(x: int, y: int, width: int = 480, height: int = 320) -> np.ndarray:
    pixels = np.full((height, width, 3), (70, 120, 150), np.uint8)
    cv2.circle(pixels, (x, y), 60, (230, 60, 30), -1, cv2.LINE_AA)
    return pixels


def covered(box: tuple[int, int, int, int], pixels: np.ndarray) -> float:
    left, top, right, bottom = box
    red = pixels[..., 0] > 180
    return float(red[top:bottom, left:right].sum() / red.sum())


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("at", [(240, 85), (240, 235), (100, 160), (380, 160)])
def test_a_title_stays_off_the_subject(style: str, at: tuple[int, int]) -> None:
    pixels = with_ball(*at)
    title = Title(headline="Above the lake", style=style)

    assert covered(laid_out(pixels, title, people=False).box, pixels) < 0.08


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("position", ["top", "center", "bottom"])
def test_a_position_that_was_asked_for_is_kept(style: str, position: str) -> None:
    title = Title(headline="Above the lake", style=style, position=position)

    layout = laid_out(with_ball(240, 160), title, people=False)

    assert layout.place == position
    left, top, right, bottom = layout.box
    assert 0 < left < right < 480
    assert 0 < top < bottom < 320


@pytest.mark.parametrize("style", ["clean", "editorial"])
def test_lines_that_run_from_right_to_left_are_flush_right(style: str) -> None:
    title = Title(headline="הדרך הארוכה הביתה", style=style)

    layout = laid_out(with_ball(100, 160), title, people=False)

    assert (layout.side, layout.align) == ("right", "right")


def test_of_a_wide_painting_the_part_is_shown_that_leaves_the_sun_free() -> None:
    pixels = with_ball(200, 120, width=576)
    title = Title(headline="Above the lake", style="clean")

    layout = laid_out(pixels, title, spare=96, people=False)

    shown = layout.view.of(pixels, 480)
    assert shown.shape == (320, 480, 3)
    assert shown.flags["C_CONTIGUOUS"]
    assert covered(layout.box, shown) < 0.05


def test_a_view_can_be_mirrored() -> None:
    pixels = np.arange(24, dtype=np.uint8).reshape(1, 8, 3)

    assert View(2, mirrored=True).of(pixels, 4)[0, :, 0].tolist() == [15, 12, 9, 6]


def test_a_narrow_room_makes_a_narrow_title_and_a_rule_no_wider_than_it() -> None:
    title = Title(headline="Above the quiet lake", subtitle="A story", style="editorial")
    wide, narrow = (stacked((360, 640, 3), title, width) for width in (1.0, 0.48))

    assert narrow.width < wide.width
    assert narrow.rule <= narrow.width
    assert wide.headline.size >= narrow.headline.size


def test_what_does_not_fit_is_refused_even_if_a_column_would_be_tried() -> None:
    with pytest.raises(EngineError):
        laid_out(with_ball(240, 160), Title(headline="word " * 170), people=False)


@pytest.mark.parametrize("style", ["bold", "elegant", "neon"])
@pytest.mark.parametrize("shape", [(360, 640), (480, 480)])
def test_a_single_short_word_stands_large_and_in_the_middle(
    style: str, shape: tuple[int, int]
) -> None:
    noise = np.random.default_rng(3).integers(60, 190, (*shape, 1), np.uint8).repeat(3, 2)
    word, words = (
        laid_out(noise, Title(headline=text, style=style)) for text in ("Up", "Up and up")
    )

    assert word.side == "center"
    assert word.stack.headline.size > 1.1 * 0.34 * min(shape)
    assert words.stack.headline.size <= 0.34 * min(shape)


def test_a_subtitle_is_no_larger_below_a_single_word() -> None:
    title = Title(headline="Up", subtitle="And away")

    usual, large = (stacked((360, 640), title, large=large) for large in (False, True))

    small = [[p.block.size for p in s.pieces if p.block][1] for s in (usual, large)]
    assert small[0] == small[1]
    assert large.headline.size > usual.headline.size


@pytest.mark.parametrize("style", ["bold", "clean", "neon"])
def test_a_single_large_word_leaves_a_near_face_free(style: str) -> None:
    pixels = np.full((405, 720, 3), (150, 150, 160), np.uint8)
    pixels[:, 220:500] = face(width=280, height=405, x=140.0, y=230.0, size=150.0)
    found = find(pixels)[0]

    left, top, right, bottom = laid_out(pixels, Title(headline="Confidence", style=style)).box

    wide = min(right, found.x + found.width) - max(left, found.x)
    tall = min(bottom, found.y + found.height) - max(top, found.y)
    assert max(0.0, wide) * max(0.0, tall) < 0.15 * found.width * found.height
