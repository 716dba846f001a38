import numpy as np
import pytest

from kit.engines.media.fonts import FACES
from kit.engines.media.lettering import Block, balanced, mask, sprite, stamp
from kit.engines.media.typesetting import extent
from kit.errors import EngineError

TEXT = "the mountain that swallowed a village"


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("most_lines", [1, 2, 4])
def test_a_text_fits_its_space_and_keeps_its_words(face: str, most_lines: int) -> None:
    block = balanced(TEXT, face, 300, height=120, most_lines=most_lines)

    width, height, _ = extent(block)
    assert width <= 302
    assert height <= 122
    assert len(block.lines) <= most_lines
    assert " ".join(block.lines) == TEXT


def test_lines_are_of_nearly_equal_length() -> None:
    lines = balanced("one two three four five six seven eight", "inter", 200, most_lines=2).lines

    assert abs(len(lines[0]) - len(lines[1])) <= 4


def test_a_narrow_space_takes_more_lines_than_a_wide_one() -> None:
    wide, narrow = (balanced(TEXT, "anton", w, height=200) for w in (900, 200))

    assert len(wide.lines) < len(narrow.lines)


def test_given_line_breaks_are_kept() -> None:
    assert balanced("a\nlong second line", "inter", 300).lines == ("a", "long second line")


def test_one_endless_word_is_broken_rather_than_shrunk_away() -> None:
    block = balanced("a" * 100, "inter", 200, height=200, most_lines=8)

    assert len(block.lines) > 1
    assert all(line.endswith("-") for line in block.lines[:-1])
    assert "".join(block.lines).replace("-", "") == "a" * 100
    assert block.carried == tuple(range(1, len(block.lines)))


def test_a_long_word_is_broken_after_its_own_signs() -> None:
    text = "see self-driving-car-software-update-notification-system now"
    block = balanced(text, "inter", 200, height=200, most_lines=6)

    assert block.carried
    assert all(block.lines[number - 1].endswith("-") for number in block.carried)
    assert "".join(block.lines).replace(" ", "") == text.replace(" ", "")


def test_a_long_word_that_fits_stays_in_one_piece() -> None:
    address = "https://www.example.org/a/long/address"

    assert balanced(f"see {address}", "inter", 900, most_lines=2).lines[-1].endswith(address)


def test_given_lines_that_would_be_tiny_are_set_anew() -> None:
    block = balanced(
        "Morning\n" + "one small habit that changed it all " * 3, "anton", 300, height=300
    )

    assert len(block.lines) == 4
    assert block.lines[0] != "Morning"


def test_an_accent_colors_both_parts_of_a_broken_word() -> None:
    block = balanced("go " + "w" * 30 + " on", "inter", 150, height=300, most_lines=4)
    picture = sprite(block, color=(255, 255, 255), accent=(255, 0, 0), accented=(1,))

    red = (picture[..., 3] > 200) & (picture[..., 1] < 60)
    rows = np.nonzero(red.any(axis=1))[0]
    assert len(block.carried) == 1
    assert np.ptp(rows) > block.size
    white = (picture[..., 3] > 200) & (picture[..., 1] > 200)
    assert 0 < white.sum() < red.sum()


@pytest.mark.parametrize("text", ["word " * 161, "many words " * 40])
def test_a_text_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(EngineError) as caught:
        balanced(text, "inter", 60, height=20, smallest=10)

    assert caught.value.code == "text_too_long"


def test_ink_fills_the_extent_and_stays_inside() -> None:
    block = Block(("HAMBURG",), "inter-bold", 60)
    letters = mask(block, margin=10)

    rows, columns = np.nonzero(letters > 40)
    assert letters.shape == (extent(block)[1] + 20, extent(block)[0] + 20)
    assert rows.min() >= 8
    assert rows.max() < letters.shape[0] - 8
    assert np.ptp(columns) > 0.9 * extent(block)[0]


def test_tracking_widens_a_line() -> None:
    plain, wide = (Block(("SPACED",), "inter", 40, tracking=t) for t in (0.0, 0.2))

    assert extent(wide)[0] == pytest.approx(extent(plain)[0] + 5 * 0.2 * 40, abs=2)
    assert np.nonzero(mask(wide).any(axis=0))[0].max() > extent(plain)[0]


def test_an_accent_colors_one_word_and_no_other() -> None:
    block = Block(("one two",), "anton", 50)
    picture = sprite(block, color=(255, 255, 255), accent=(255, 0, 0), accented=(1,))

    solid = picture[..., 3] > 200
    red = solid & (picture[..., 1] < 60)
    white = solid & (picture[..., 1] > 200)
    assert np.nonzero(white)[1].max() < np.nonzero(red)[1].min()


def test_the_first_word_of_hebrew_stands_on_the_right() -> None:
    block = Block(("שלום עולם",), "rubik", 50)
    picture = sprite(block, accent=(255, 0, 0), accented=(0,))

    solid = picture[..., 3] > 200
    red = np.nonzero(solid & (picture[..., 1] < 60))[1]
    white = np.nonzero(solid & (picture[..., 1] > 200))[1]
    assert red.min() > white.max()


def test_a_stroke_lies_around_the_letters() -> None:
    block = Block(("O",), "anton", 80)
    plain = sprite(block)
    outlined = sprite(block, stroke=0.1, stroke_color=(0, 0, 255))

    white = (outlined[..., 3] > 250) & (outlined[..., 0] > 250)
    assert white.sum() == pytest.approx((plain[..., 3] > 250).sum(), rel=0.02)
    assert ((outlined[..., 2] > 200) & (outlined[..., 0] < 60)).sum() > 400


def test_a_shadow_falls_below_the_letters() -> None:
    picture = sprite(Block(("A",), "anton", 80), shadow=0.15)

    dark = (picture[..., 3] > 20) & (picture[..., 0] < 30)
    assert dark[picture.shape[0] // 2 :].sum() > dark[: picture.shape[0] // 2].sum()


def test_equal_text_gives_equal_pixels() -> None:
    block = balanced(TEXT, "script", 200)

    assert np.array_equal(sprite(block, shadow=0.1), sprite(block, shadow=0.1))


@pytest.mark.parametrize(("left", "top"), [(-5, -5), (35, 25), (100, 100), (-100, 0)])
def test_a_stamp_that_hangs_over_the_edge_is_cut_off(left: int, top: int) -> None:
    pixels = np.zeros((30, 40, 3), np.uint8)
    picture = np.full((10, 12, 4), 255, np.uint8)

    stamp(pixels, picture, left, top)

    across = max(0, min(40, left + 12) - max(0, left))
    down = max(0, min(30, top + 10) - max(0, top))
    assert (pixels == 255).all(axis=2).sum() == across * down


def test_a_stamp_blends_by_its_alpha() -> None:
    pixels = np.full((4, 4, 3), 100, np.uint8)
    picture = np.full((4, 4, 4), 200, np.uint8)
    picture[..., 3] = 128

    stamp(pixels, picture, 0, 0)

    assert abs(int(pixels[0, 0, 0]) - 150) <= 1


@pytest.mark.parametrize("tracking", [0.0, 0.2])
def test_marks_stay_on_their_letters(tracking: float) -> None:
    # Neither of them exists as one sign.
    plain = mask(Block(("ab",), "inter-bold", 60, tracking=tracking))
    marked = mask(Block(("a\u0327b",), "inter-bold", 60, tracking=tracking))

    assert marked.shape[1] == pytest.approx(plain.shape[1], abs=2)
    assert balanced("q\u0301" * 30, "inter-bold", 300).lines[1].startswith("q")


def test_an_accent_finds_its_word_in_a_line_that_runs_both_ways() -> None:
    block = Block(("we say שלום עולם",), "rubik", 50)
    picture = sprite(block, accent=(255, 0, 0), accented=(2,))

    solid = picture[..., 3] > 200
    red = np.nonzero(solid & (picture[..., 1] < 60))[1]
    white = np.nonzero(solid & (picture[..., 1] > 200))[1]
    # The first Hebrew word is the last one to the right.
    assert red.min() > white.max()
