"""The subject of a picture is kept, and its background is removed, replaced or blurred."""

from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from kit.errors import EngineError
from tests.engines.drawings import ball, ball_mask
from tests.engines.rendering import edit, pixels_of

RED = (210, 60, 40)


def near(pixel: np.ndarray, color: tuple[int, ...], slack: int = 14) -> bool:
    return bool((np.abs(pixel[:3] - color) <= slack).all())


def overlap(alpha: np.ndarray, drawn: np.ndarray) -> float:
    """Return the intersection of two shapes over their union."""
    one, other = alpha > 127, drawn > 0
    return float((one & other).sum() / (one | other).sum())


def stripes() -> np.ndarray:
    """Return the ball in front of stripes."""
    pixels = ball()
    pixels[::6] //= 2
    pixels[60:120, 90:150] = ball()[60:120, 90:150]
    return pixels


def roughness(pixels: np.ndarray) -> float:
    return float(pixels[20:60, 10, 0].std())


def test_the_background_is_removed_and_the_subject_unchanged(tmp_path: Path) -> None:
    asset = edit("background", tmp_path, ball())
    out = pixels_of(asset)

    assert overlap(out[..., 3], cv2.erode(ball_mask(), np.ones((7, 7)))) > 0.95
    assert near(out[90, 120], RED)
    assert asset.metadata["subjectShare"] == pytest.approx(np.pi * 45**2 / (180 * 240), rel=0.06)
    assert near(pixels_of(edit("background", tmp_path, ball(), format="jpeg"))[5, 5], (255,) * 3)


@pytest.mark.parametrize(
    ("prompt", "values", "corner"),
    [
        ("", {"color": "teal"}, (0, 128, 128)),
        ("", {"color": "#f80"}, (255, 136, 0)),
        ("white to black", {}, (255, 255, 255)),
        ("Navy", {}, (16, 29, 72)),
    ],
)
def test_a_named_color_replaces_the_background(
    tmp_path: Path, prompt: str, values: dict[str, str], corner: tuple[int, int, int]
) -> None:
    out = pixels_of(edit("background", tmp_path, ball(), prompt, operation="replace", **values))

    assert near(out[2, 2], corner, 16)
    assert near(out[90, 120], RED)


def test_a_backdrop_picture_takes_precedence_over_the_prompt(tmp_path: Path) -> None:
    green = np.full((50, 90, 4), (10, 200, 30, 255), np.uint8)
    hidden = green.copy()
    hidden[..., 3] = 0

    for backdrop, corner in ((green, (10, 200, 30)), (hidden, (255, 255, 255))):
        how = {"operation": "replace", "others": {"backdrop": backdrop}}
        out = pixels_of(edit("background", tmp_path, ball(), "red", **how))  # type: ignore[arg-type]
        assert near(out[3, 3], corner, 3)
        assert near(out[90, 120], RED)


def test_a_picture_with_alpha_keeps_its_own_outline(tmp_path: Path) -> None:
    pixels = np.dstack([ball(), np.zeros((180, 240), np.uint8)])
    pixels[:, :120, 3] = 255

    out = pixels_of(edit("background", tmp_path, pixels, operation="replace", color="black"))

    assert (out[:, 130:] == 0).all()
    assert np.array_equal(out[:, :110], ball()[:, :110])


def test_transparent_parts_stay_transparent_when_the_rest_is_blurred(tmp_path: Path) -> None:
    cover = np.full((180, 240), 255, np.uint8)
    cover[:12, :12] = 0
    out = pixels_of(edit("background", tmp_path, np.dstack([stripes(), cover]), operation="blur"))
    cover[:] = 0
    cover[20:160, 40:200] = 255

    assert np.array_equal(out[:12, :12, 3], np.zeros((12, 12)))
    assert roughness(out) < roughness(stripes())
    with pytest.raises(EngineError, match="no background to blur") as caught:
        edit("background", tmp_path, np.dstack([ball(), cover]), operation="blur")
    assert caught.value.code == "no_background"


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("way", ["box", "mask"])
def test_a_box_or_a_rough_mask_selects_one_of_two_subjects(
    tmp_path: Path, side: int, way: str
) -> None:
    pixels = np.hstack([ball(), ball()[:, :, [2, 0, 1]]])
    expected = np.hstack([cv2.erode(ball_mask(), np.ones((7, 7))), np.zeros((180, 240), np.uint8)])
    rough = np.zeros((90, 240, 3), np.uint8)
    rough[26:66, 38:80] = (255, 0, 0)
    if side:
        expected, rough = expected[:, ::-1], rough[:, ::-1]
    box = {"subject_x": 0.25 + side / 2, "subject_y": 0.5}
    box |= {"subject_width": 0.22, "subject_height": 0.55}

    if way == "box":
        asset = edit("background", tmp_path, pixels, **box)
    else:
        asset = edit("background", tmp_path, pixels, others={"mask": rough})

    assert overlap(pixels_of(asset)[..., 3], expected) > 0.93


@pytest.mark.parametrize("size", [(0.4, 0.55), (0.7, 0.9), (0.9, 0.9)])
def test_a_box_larger_than_its_subject_includes_no_background(
    tmp_path: Path, size: tuple[float, float]
) -> None:
    box = {"subject_x": 0.5, "subject_y": 0.5, "subject_width": size[0], "subject_height": size[1]}
    alpha = pixels_of(edit("background", tmp_path, ball(), **box))[..., 3]

    assert overlap(alpha, cv2.erode(ball_mask(), np.ones((7, 7)))) > 0.9


def make_unclear_subject() -> np.ndarray:
    """Return a spot without an edge, whose color is close to that of the patches around it."""
    rng = np.random.default_rng(0)
    patches = cv2.GaussianBlur(rng.normal(0, 1, (180, 240, 3)), (0, 0), 9)
    spot = np.zeros((180, 240), np.float32)
    cv2.ellipse(spot, (120, 95), (60, 55), 0, 0, 360, 1, -1)
    spot = cv2.GaussianBlur(spot, (0, 0), 12)[..., None] * np.array([18, 7, -11])
    return np.asarray((125 + 25 * patches / patches.std() + spot).clip(0, 255), np.uint8)


def test_an_unclear_subject_is_refused_unless_it_has_a_box(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"clearly enough.*a mask or with subject_x") as unsure:
        edit("background", tmp_path, make_unclear_subject())
    with pytest.raises(EngineError, match=r"no subject.*subject_x") as none:
        edit("background", tmp_path, np.full((60, 80, 3), 120, np.uint8))
    box = {"subject_x": 0.5, "subject_y": 0.53, "subject_width": 0.5, "subject_height": 0.6}

    assert "certainty" not in edit("background", tmp_path, make_unclear_subject(), **box).metadata
    assert (unsure.value.code, none.value.code) == ("unsure_subject", "no_subject")
    assert edit("background", tmp_path, ball()).metadata["certainty"] > 0.9


def test_the_preview_shows_checkers_for_transparency(tmp_path: Path) -> None:
    asset = edit("background", tmp_path, ball())

    assert asset.thumbnail is not None
    with Image.open(asset.thumbnail) as preview:
        corner = np.asarray(preview)[:40, :40].astype(int)
    assert corner.min() > 190
    assert np.ptp(corner) > 20
