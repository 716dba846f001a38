from pathlib import Path

import numpy as np
import pytest

from kit.engines.models.retouch import Retouch
from kit.errors import EngineError
from tests.engines.image.editing.pictures import BALL, ball, pixels_of, render, saved

HIGH, WIDE = 90, 120
MARK = np.zeros((HIGH, WIDE), np.uint8)
MARK[15:75, 30:90] = 255
NONE = np.zeros_like(MARK)

#: Masks as people draw them: the ball is meant in each.
MEANT = {
    "white": MARK,
    "red": np.dstack([MARK, NONE, NONE]),
    "blue": np.dstack([NONE, NONE, MARK]),
    "white on nothing": np.dstack([NONE + 255] * 3 + [MARK]),
    "light gray": MARK // 4 * 3,
    "three times as large": np.kron(MARK, np.ones((3, 3), np.uint8)),
}
#: Masks that mean nothing or all, and what they are told.
REFUSED = {
    "nothing": (NONE, "covers 0%"),
    "all": (NONE + 255, "covers 100%"),
    "black for white": (255 - MARK // 4 * 3, "turn black and white around"),
    "a hole": (np.dstack([NONE + 90] * 3 + [255 - MARK]), "see-through counts as black"),
    "another shape": (MARK[:, :60], "another shape"),
    "one pixel": (MARK[:1, :1], "another shape"),
}


def erased(folder: Path, mask: np.ndarray) -> np.ndarray:
    media = {
        "image": saved(ball(WIDE, HIGH), folder / "in.png"),
        "mask": saved(mask, folder / "mask.png"),
    }
    return pixels_of(render(Retouch(), folder / "out", media=media, operation="erase"))


@pytest.mark.parametrize("mask", MEANT)
def test_a_mask_is_understood_however_it_is_drawn(tmp_path: Path, mask: str) -> None:
    out = erased(tmp_path, MEANT[mask])

    assert np.abs(out[HIGH // 2, WIDE // 2].astype(int) - BALL).max() > 60


@pytest.mark.parametrize("mask", REFUSED)
def test_a_mask_that_cannot_be_meant_is_told_why(tmp_path: Path, mask: str) -> None:
    pixels, sentence = REFUSED[mask]

    with pytest.raises(EngineError, match=sentence):
        erased(tmp_path, pixels)
