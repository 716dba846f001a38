import numpy as np
import pytest

from kit.engines.editing.video.transitions import BLENDS
from kit.engines.media.clip import rgb_frame, rgb_of

SIZE = (96, 50)
RED, BLUE = (200, 40, 40), (40, 60, 200)


def between(name: str, share: float) -> np.ndarray:
    one, other = (rgb_frame(np.full((50, 96, 3), color, np.uint8)) for color in (RED, BLUE))
    return rgb_of(BLENDS[name](one, other, SIZE, share)).astype(int)


@pytest.mark.parametrize("name", BLENDS)
def test_a_transition_begins_with_one_clip_and_ends_with_the_other(name: str) -> None:
    assert np.abs(between(name, 0.0) - RED).mean() < 4
    assert np.abs(between(name, 1.0) - BLUE).mean() < 4


@pytest.mark.parametrize("name", BLENDS)
def test_half_way_both_have_their_share_everywhere_in_between(name: str) -> None:
    blue = [between(name, share)[..., 2].mean() for share in (0.2, 0.4, 0.6, 0.8)]

    assert blue == sorted(blue)
    assert between(name, 0.5)[..., 2].mean() == pytest.approx(120, abs=12)


def test_a_slide_and_a_wipe_have_the_new_clip_on_their_own_side() -> None:
    assert np.abs(between("slide", 0.5)[:, :40] - RED).mean() < 4
    assert np.abs(between("slide", 0.5)[:, 56:] - BLUE).mean() < 4
    assert np.abs(between("wipe", 0.5)[:, :30] - BLUE).mean() < 4
    assert np.abs(between("wipe", 0.5)[:, 66:] - RED).mean() < 4


@pytest.mark.parametrize("name", BLENDS)
def test_the_given_frames_are_not_written_to(name: str) -> None:
    one, other = (rgb_frame(np.full((50, 96, 3), color, np.uint8)) for color in (RED, BLUE))
    before = one.copy(), other.copy()

    BLENDS[name](one, other, SIZE, 0.4)

    assert np.array_equal(one, before[0])
    assert np.array_equal(other, before[1])
