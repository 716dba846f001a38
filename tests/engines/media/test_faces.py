import hashlib
import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cv2
import numpy as np
import pytest

from kit.engines import samples
from kit.engines.media import networks, stills
from kit.engines.media.faces import find
from tests.engines.drawings import EYES, LINE, MOUTH_HALF, face, locate

AT = {"x": 150.0, "y": 190.0, "size": 110.0}


@pytest.fixture(scope="module")
def portrait(tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    pixels = stills.open_still(
        samples.write_sample("portrait", tmp_path_factory.mktemp("samples"))
    ).pixels
    return np.asarray(cv2.resize(pixels, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA))


@pytest.mark.parametrize("tilt", [0.0, 0.1, -0.42, 0.3])
def test_a_face_is_found_with_its_eyes_and_mouth(tilt: float) -> None:
    found = find(face(**AT, tilt=tilt))

    assert len(found) == 1
    assert found[0].eyes is not None
    for eye, side in zip(found[0].eyes, (-1, 1), strict=True):
        assert math.dist(eye, locate(side * EYES[0], EYES[1], **AT, tilt=tilt)) < 9
    assert math.dist(found[0].center, (AT["x"], AT["y"])) < 25
    assert found[0].mouth is not None
    for corner, side in zip(found[0].mouth, (-1, 1), strict=True):
        assert math.dist(corner, locate(side * MOUTH_HALF, LINE, **AT, tilt=tilt)) < 10


def test_a_face_in_a_large_picture_is_given_in_its_pixels() -> None:
    small = face(**AT)
    large = cv2.resize(small, None, fx=4, fy=4, interpolation=cv2.INTER_CUBIC)

    (one,), (other,) = find(small), find(large)

    assert other.center == pytest.approx((4 * one.center[0], 4 * one.center[1]), rel=0.05)
    assert other.width == pytest.approx(4 * one.width, rel=0.12)


def test_the_larger_face_comes_first() -> None:
    crowd = np.hstack([face(200, 360, size=60), face(320, 360, size=125)])

    found = find(crowd)

    assert len(found) == 2
    assert found[0].width > found[1].width
    assert found[0].x > 200 > found[1].center[0]


@pytest.mark.parametrize("shape", [(360, 480, 3), (1, 1, 3), (4, 900, 3), (900, 3, 3), (60, 60)])
def test_no_face_is_found_in_a_plain_or_noisy_picture(shape: tuple[int, ...]) -> None:
    noise = np.random.default_rng(3).integers(0, 255, shape).astype(np.uint8)

    assert find(np.full(shape, 128, np.uint8)) == []
    assert find(noise) == []


def test_many_threads_find_the_same() -> None:
    pixels = face(**AT)
    first = find(pixels)

    with ThreadPoolExecutor(4) as pool:
        assert all(found == first for found in pool.map(lambda _: find(pixels), range(8)))


@pytest.mark.parametrize(
    ("file", "license_file", "name"),
    [
        (networks.FACES, "MIT-YuNet.txt", "MIT License"),
        (networks.SUBJECTS, "APACHE-MediaPipe.txt", "Apache License"),
    ],
)
def test_networks_have_the_published_hash_and_their_license(
    file: Path, license_file: str, name: str
) -> None:
    digest = hashlib.sha256(file.read_bytes()).hexdigest()

    assert digest in file.with_name("README.md").read_text()
    assert name in file.with_name(license_file).read_text()


@pytest.mark.parametrize("side", [24, 32, 60, 200])
def test_a_closely_cropped_face_is_found_at_any_size(portrait: np.ndarray, side: int) -> None:
    (whole,) = find(portrait)
    (x, y), reach = whole.center, 0.62 * whole.width
    rows, columns = slice(int(y - reach), int(y + reach)), slice(int(x - reach), int(x + reach))
    tight = cv2.resize(portrait[rows, columns], (side, side), interpolation=cv2.INTER_AREA)

    (found,) = find(tight)
    (enlarged,) = find(cv2.resize(tight, (222, 222), interpolation=cv2.INTER_NEAREST))

    assert found.center == pytest.approx((side / 2, side / 2), abs=0.15 * side)
    assert enlarged.center == pytest.approx((111, 111), abs=30)


@pytest.mark.parametrize(
    "shape", [(90, 900), (128, 1280), (200, 4000), (50, 1600), (900, 90), (28, 128)]
)
def test_no_face_is_found_in_long_and_narrow_pictures_without_one(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    even = np.full((*shape, 3), 90, np.uint8)
    noise = cv2.GaussianBlur(rng.integers(0, 256, (*shape, 3)).astype(np.uint8), (0, 0), 3)

    assert find(even) == []
    assert find(noise) == []
