from pathlib import Path

import cv2
import numpy as np
import pytest

from kit.engines import samples
from kit.engines.base import Progress
from kit.engines.media import faces, stills
from kit.engines.media.fill import erasing
from tests.engines.drawn import face


def test_what_only_looks_like_a_face_is_copied_like_anything_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pixels = stills.opened(samples.picture(tmp_path), most=480).pixels
    mask = np.zeros(pixels.shape[:2], np.uint8)
    height, width = mask.shape
    mask[height // 3 : height // 2, width // 3 : width // 2] = 255
    filled = erasing.erased(pixels, mask, 1, Progress())

    monkeypatch.setattr(faces, "find", lambda _: [])

    assert np.array_equal(filled, erasing.erased(pixels, mask, 1, Progress()))


def test_no_face_is_copied_into_a_hole() -> None:
    person = face(160, 180, size=57)
    wall = np.full((180, 160, 3), (150, 165, 180), np.uint8)
    pixels = np.hstack([wall, person])
    mask = np.zeros(pixels.shape[:2], np.uint8)
    cv2.circle(mask, (80, 90), 40, 255, -1)

    filled = erasing.erased(pixels, mask, 1, Progress())

    assert np.abs(filled[50:130, 40:120].astype(int) - (150, 165, 180)).max() < 40


def beside_a_tower() -> tuple[np.ndarray, np.ndarray]:
    """A cloudy wall, a brown tower on it, and a hole that does not reach the tower."""
    rng = np.random.default_rng(8)
    clouds = cv2.GaussianBlur(rng.normal(0, 40, (240, 320)).astype(np.float32), (0, 0), 6)
    wall = np.clip(np.float32([205, 195, 190]) + 3 * clouds[..., None], 0, 255)
    wall[30:220, 225:255] = (100, 60, 15)
    hole = np.zeros((240, 320), np.uint8)
    cv2.ellipse(hole, (130, 150), (60, 90), 0, 0, 360, 255, -1)
    return wall.astype(np.uint8), hole


@pytest.mark.parametrize("seed", range(4))
def test_what_is_filled_from_nearby_shows_no_second_tower(seed: int) -> None:
    pixels, hole = beside_a_tower()

    filled = erasing.erased(pixels, hole, seed, Progress(), near=True)

    assert (filled[hole > 0][:, 2] < 120).mean() < 0.002


def test_filling_from_nearby_twice_gives_equal_bytes() -> None:
    pixels, hole = beside_a_tower()
    one, other = (erasing.erased(pixels, hole, 3, Progress(), near=True) for _ in range(2))

    assert np.array_equal(one, other)


def test_each_side_of_a_hole_is_filled_from_its_own_side() -> None:
    rng = np.random.default_rng(9)
    pixels = rng.normal(0, 6, (200, 300, 3)) + np.where(np.arange(300) < 150, 60, 190)[:, None]
    pixels = np.clip(pixels, 0, 255).astype(np.uint8)
    hole = np.zeros((200, 300), np.uint8)
    hole[60:140, 80:220] = 255

    filled = erasing.erased(pixels, hole, 1, Progress(), near=True)

    assert filled[70:130, 80:100].max() < 125 < filled[70:130, 200:220].min()


def beside_others() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A wooden table, three checked cups in a row on it, and a hole around the middle one."""
    rng = np.random.default_rng(4)
    grain = cv2.GaussianBlur(rng.normal(0, 90, (200, 320)).astype(np.float32), (0, 0), 7, 1.2)
    table = np.float32([170, 120, 70]) + grain[..., None]
    whole = table.copy()
    for x in (60, 160, 260):
        cv2.circle(whole, (x, 100), 26, (40, 60, 160), -1)
        for step in range(-24, 25, 12):
            cv2.line(whole, (x + step, 84), (x + step, 116), (230, 235, 240), 4)
    hole = np.zeros((200, 320), np.uint8)
    hole[60:140, 112:208] = 255
    table, whole = (np.rint(p).clip(0, 255).astype(np.uint8) for p in (table, whole))
    return table, whole, hole


@pytest.mark.parametrize("seed", range(3))
def test_a_neighbor_is_not_copied_into_a_calm_hole(seed: int) -> None:
    _, whole, hole = beside_others()

    filled = erasing.erased(whole, hole, seed, Progress())

    cup = filled[..., 2].astype(int) > filled[..., 0]
    assert cup[hole > 0].mean() < 0.01


def test_a_wall_in_changing_light_is_filled_without_a_step() -> None:
    wall = np.repeat(np.linspace(200, 170, 320)[None, :, None], 240, 0).repeat(3, 2)
    wall[180:] *= 0.7
    noise = np.random.default_rng(2).normal(0, 2, wall.shape)
    pixels = np.rint(wall + noise).clip(0, 255).astype(np.uint8)
    hole = np.zeros((240, 320), np.uint8)
    hole[50:210, 130:270] = 255

    filled = erasing.erased(pixels, hole, 1, Progress())

    off = cv2.GaussianBlur(filled.astype(np.float32) - wall.astype(np.float32), (0, 0), 2)
    calm = np.zeros_like(hole, bool)
    calm[60:168, 140:260] = True
    assert np.abs(off[calm]).max() < 7
    assert np.abs(np.diff(off.mean(axis=2), axis=1))[calm[:, 1:]].max() < 0.9
