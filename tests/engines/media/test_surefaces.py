from pathlib import Path

import cv2
import numpy as np
import pytest

from kit.engines import samples
from kit.engines.media import faces, stills
from kit.engines.media.surefaces import find_sure
from tests.engines.media.drawn import face

AT = {"x": 160.0, "y": 175.0, "size": 115.0}


@pytest.fixture(scope="module")
def portrait(tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    pixels = stills.opened(samples.portrait(tmp_path_factory.mktemp("samples"))).pixels
    return np.asarray(cv2.resize(pixels, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA))


def test_the_balloon_over_the_lake_is_no_face_to_a_second_look(tmp_path: Path) -> None:
    pixels = stills.opened(samples.picture(tmp_path)).pixels

    assert faces.find(pixels, tilted=True)
    assert find_sure(pixels, tilted=True) == []


@pytest.mark.parametrize("change", ["as it is", "gray", "dark", "noisy", "small", "mirrored"])
def test_a_face_is_found_however_it_was_taken(portrait: np.ndarray, change: str) -> None:
    noise = np.random.default_rng(1).normal(0, 16, portrait.shape)
    pixels = {
        "as it is": portrait,
        "gray": cv2.cvtColor(portrait, cv2.COLOR_RGB2GRAY),
        "dark": (255 * (portrait / 255) ** 2 * (0.9, 0.8, 0.75)).astype(np.uint8),
        "noisy": np.clip(portrait + noise, 0, 255).astype(np.uint8),
        "small": cv2.resize(portrait, (96, 120), interpolation=cv2.INTER_AREA),
        "mirrored": np.ascontiguousarray(portrait[:, ::-1]),
    }[change]

    assert find_sure(pixels) == faces.find(pixels)
    assert len(find_sure(pixels)) == 1


@pytest.mark.parametrize("tilt", [-0.38, 0.42])
def test_a_tilted_face_is_found_when_asked_for(tilt: float) -> None:
    (found,) = find_sure(face(**AT, tilt=tilt), tilted=True)[:1]

    assert found.center == pytest.approx((AT["x"], AT["y"]), abs=30)


def test_both_of_two_faces_are_found(portrait: np.ndarray) -> None:
    assert len(find_sure(np.hstack([portrait, portrait]))) == 2


@pytest.mark.parametrize("shape", [(1, 1, 3), (4, 900, 3), (60, 60)])
def test_pictures_too_small_for_a_face_have_none(shape: tuple[int, ...]) -> None:
    assert find_sure(np.full(shape, 128, np.uint8), tilted=True) == []
