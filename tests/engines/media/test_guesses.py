import cv2
import numpy as np
import pytest

from kit.engines.media.cutout_marks import BACK, FRONT, MAYBE_BACK, MAYBE_FRONT
from kit.engines.media.guesses import _Guess, _ranked, around, fitted, guessed


def disc(x: int = 150, y: int = 110, radius: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """A red disc on gray with a little noise, and where it is."""
    pixels = np.random.default_rng(1).normal(128, 6, (220, 300, 3)).clip(0, 255).astype(np.uint8)
    mask = np.zeros((220, 300), np.uint8)
    cv2.circle(mask, (x, y), radius, 1, -1)
    pixels[mask > 0] = (200, 60, 40)
    return pixels, mask


def test_a_guess_is_sure_inside_and_far_outside_and_open_along_its_outline() -> None:
    _, mask = disc()

    marks = around(mask)

    assert (marks[110, 150], marks[5, 5]) == (FRONT, BACK)
    assert (marks[110, 207], marks[110, 213]) == (MAYBE_FRONT, MAYBE_BACK)


@pytest.mark.parametrize(("x", "y"), [(150, 110), (20, 130), (285, 120), (150, 200)])
def test_the_first_guess_is_the_thing_wherever_it_is(x: int, y: int) -> None:
    pixels, mask = disc(x, y)

    marks = next(guessed(pixels, lambda: None))

    found = fitted(pixels, marks, 2)
    assert (found & mask).sum() / (found | mask).sum() > 0.95


def test_a_plain_picture_has_no_guess_worth_a_try() -> None:
    plain = np.full((60, 80, 3), 90, np.uint8)

    for marks in guessed(plain, lambda: None):
        assert not fitted(plain, marks, 1).any() or (marks == BACK).any()
    assert not fitted(plain, np.full((60, 80), BACK, np.uint8), 1).any()


def test_guessing_can_be_stopped() -> None:
    def stop() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        next(guessed(disc()[0], stop))


def rivals(alike: float, rank: float, lower: float) -> tuple[np.ndarray, _Guess, _Guess]:
    """A picture, a guess at its disc with much of the ground, and one at the disc alone."""
    pixels, mask = disc()
    wide = np.zeros_like(mask)
    wide[40:190, 70:230] = 1
    # Of what is measured only how full they are, which says their rank, and how alike the colors.
    mixed = _Guess(wide, [0, 0, (rank + 0.38 * alike) / 0.6, 0, 0, 0, alike], False)
    pure = _Guess(mask, [0, 0, (rank - lower + 0.38 * 0.2) / 0.6, 0, 0, 0, 0.2], True)
    return pixels, mixed, pure


@pytest.mark.parametrize(
    ("alike", "rank", "lower", "first"),
    [
        (0.8, 0.45, 0.2, "pure"),
        (0.4, 0.45, 0.2, "mixed"),
        (0.8, 0.75, 0.2, "mixed"),
        (0.8, 0.45, 0.4, "mixed"),
    ],
    ids=["with ground", "unlike its ground", "a good guess", "a poor rival"],
)
def test_a_thing_alone_goes_before_the_thing_with_its_ground(
    alike: float, rank: float, lower: float, first: str
) -> None:
    pixels, mixed, pure = rivals(alike, rank, lower)

    ranked = _ranked(pixels, [pure, mixed])

    assert ranked[0] is {"pure": pure, "mixed": mixed}[first]
    assert len(ranked) == 2


def test_a_rival_somewhere_else_does_not_go_first() -> None:
    pixels, mixed, _ = rivals(0.8, 0.45, 0.2)
    other = _Guess(np.roll(disc()[1], 120, axis=1), [0, 0, 0.5, 0, 0, 0, 0.2], True)

    assert _ranked(pixels, [mixed, other])[0] is mixed
