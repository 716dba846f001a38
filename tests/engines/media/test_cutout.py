import cv2
import numpy as np
import pytest

from kit.engines.media import faces
from kit.engines.media.cutout import cleaned, subject
from kit.engines.samples.face import portrait


def scene(width: int = 320, height: int = 240) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    pixels = np.full((height, width, 3), (70, 120, 180), np.float32)
    pixels += rng.normal(0, 4, pixels.shape)
    pixels = pixels.clip(0, 255).astype(np.uint8)
    truth = np.zeros((height, width), np.uint8)
    cv2.ellipse(truth, (width // 2, height // 2), (width // 6, height // 4), 20, 0, 360, 255, -1)
    pixels[truth > 0] = (220, 140, 40)
    return pixels, truth


@pytest.mark.parametrize("size", [(320, 240), (180, 320), (700, 500)])
def test_a_thing_on_a_plain_ground_is_cut_out_exactly(size: tuple[int, int]) -> None:
    pixels, truth = scene(*size)

    alpha = subject(pixels)

    assert alpha.shape == truth.shape
    both = ((alpha > 127) & (truth > 0)).sum()
    either = ((alpha > 127) | (truth > 0)).sum()
    assert both / either > 0.95


def test_the_same_picture_gives_the_same_cutout() -> None:
    pixels, _ = scene()
    cv2.setRNGSeed(5)
    one = subject(pixels)
    cv2.setRNGSeed(6)

    assert np.array_equal(one, subject(pixels))


@pytest.mark.parametrize("size", [(40, 60), (1, 1), (3, 200)])
def test_a_plain_picture_has_no_subject(size: tuple[int, int]) -> None:
    alpha = subject(np.full((*size, 3), 90, np.uint8))

    assert alpha.shape == size
    assert not alpha.any()


def test_the_work_is_reported_and_can_be_stopped() -> None:
    seen: list[float] = []
    subject(scene()[0], seen.append)

    def stop(_: float) -> None:
        raise InterruptedError

    assert seen == sorted(seen)
    assert len(seen) >= 3
    with pytest.raises(InterruptedError):
        subject(scene()[0], stop)


def test_a_cleaned_edge_has_lost_the_color_of_the_old_background() -> None:
    pixels = np.full((60, 60, 3), (0, 0, 255), np.uint8)
    pixels[:, :30] = (255, 0, 0)
    pixels[:, 30] = (128, 0, 128)
    alpha = np.zeros((60, 60), np.uint8)
    alpha[:, :30], alpha[:, 30] = 255, 128

    clean = cleaned(pixels, alpha)

    assert clean[30, 30, 2] < 60 < 200 < clean[30, 30, 0]
    assert np.array_equal(clean[:, :29], pixels[:, :29])


def test_an_empty_cutout_is_left_as_it_is() -> None:
    pixels, _ = scene()

    assert np.array_equal(cleaned(pixels, np.zeros(pixels.shape[:2], np.uint8)), pixels)


def test_a_thing_over_a_landscape_is_found_and_the_landscape_alone_has_no_subject() -> None:
    rows = np.linspace(0.0, 1.0, 200, dtype=np.float32)[:, None, None]
    view = np.array([150, 190, 235]) * (1 - rows) + np.array([90, 130, 80]) * rows
    view = np.repeat(view, 300, axis=1).round().astype(np.uint8)
    thing = np.zeros((200, 300), np.uint8)
    cv2.circle(thing, (120, 80), 34, 255, -1, cv2.LINE_AA)
    pixels = view.copy()
    pixels[thing > 127] = (215, 60, 40)

    alpha = subject(pixels)

    both = ((alpha > 127) & (thing > 127)).sum()
    assert both / ((alpha > 127) | (thing > 127)).sum() > 0.95
    assert not subject(view).any()


def test_a_small_part_near_the_thing_belongs_to_it() -> None:
    pixels, _ = scene()
    pixels[186:198, 150:164] = (120, 60, 30)

    assert subject(pixels)[192, 157] > 200


@pytest.mark.parametrize("seed", [5, 40])
def test_a_pattern_that_looks_like_a_face_is_no_person(seed: int) -> None:
    rough = cv2.GaussianBlur(np.random.default_rng(seed).normal(0, 1, (300, 450)), (0, 0), 6)
    rough = (rough / rough.std() * 30 + 120).clip(0, 255).astype(np.uint8)
    pixels = np.repeat(rough[..., None], 3, axis=2)
    thing = np.zeros((300, 450), np.uint8)
    cv2.circle(thing, (120, 130), 55, 255, -1, cv2.LINE_AA)
    pixels[thing > 127] = (230, 40, 30)

    alpha = subject(pixels)

    both = ((alpha > 127) & (thing > 127)).sum()
    assert both / ((alpha > 127) | (thing > 127)).sum() > 0.9


def test_a_person_whose_eyes_are_covered_is_still_one() -> None:
    pixels = portrait().copy()
    whole = subject(pixels) > 127
    for x, y in faces.find(pixels)[0].sight():
        cv2.ellipse(pixels, (round(x), round(y)), (50, 32), 0, 0, 360, (15, 15, 18), -1)

    covered = subject(pixels) > 127

    assert (whole & covered).sum() / (whole | covered).sum() > 0.95


def overlap(one: np.ndarray, other: np.ndarray) -> float:
    return float(((one > 127) & (other > 127)).sum() / ((one > 127) | (other > 127)).sum())


def rough(seed: int = 3, width: int = 360, height: int = 270) -> np.ndarray:
    """A ground with a soft pattern in greens and grays."""
    rng = np.random.default_rng(seed)
    planes = [cv2.GaussianBlur(rng.normal(0, 1, (height, width)), (0, 0), 9) for _ in range(3)]
    pixels = np.dstack([30 * p / p.std() for p in planes]) * 0.5 + (110, 130, 100)
    return np.asarray(pixels.clip(0, 255), np.uint8)


@pytest.mark.parametrize("x", [20, 345])
def test_a_thing_that_leaves_the_picture_at_a_side_is_whole(x: int) -> None:
    pixels = rough()
    thing = np.zeros(pixels.shape[:2], np.uint8)
    cv2.ellipse(thing, (x, 160), (95, 75), 0, 0, 360, 255, -1, cv2.LINE_AA)
    pixels[thing > 127] = (205, 70, 50)

    assert overlap(subject(pixels), thing) > 0.95


def test_what_is_in_focus_is_found_before_a_blurred_ground_of_the_same_colors() -> None:
    rng = np.random.default_rng(8)
    noise = rng.normal(0, 1, (270, 360, 3))
    ground = cv2.GaussianBlur(noise, (0, 0), 14)
    thing = np.zeros((270, 360), np.uint8)
    cv2.ellipse(thing, (180, 140), (70, 90), 0, 0, 360, 255, -1)
    near = cv2.GaussianBlur(noise, (0, 0), 1.2)
    pixels = np.where(thing[..., None] > 0, near / near.std() * 45, ground / ground.std() * 30)
    pixels = (pixels + 125).clip(0, 255).astype(np.uint8)

    assert overlap(subject(pixels), thing) > 0.8


def test_the_subject_is_looked_for_where_it_is_said_to_be() -> None:
    pixels = rough()
    things = [np.zeros(pixels.shape[:2], np.uint8) for _ in range(2)]
    for thing, x, color in zip(things, (110, 265), ((210, 60, 40), (40, 60, 200)), strict=True):
        cv2.circle(thing, (x, 140), 50, 255, -1, cv2.LINE_AA)
        pixels[thing > 127] = color

    for thing, x in zip(things, (114, 260), strict=True):
        near = np.zeros_like(thing)
        cv2.circle(near, (x, 136), 44, 255, -1)
        assert overlap(subject(pixels, near=near), thing) > 0.95


# Left, top, right and bottom of a crop, in shares of the portrait.
CROPS = [(0.16, 0.08, 0.86, 0.9), (0.1, 0.25, 0.9, 1.0), (0.15, 0.05, 0.95, 1.0)]


@pytest.mark.parametrize("crop", CROPS)
def test_a_person_whom_the_frame_cuts_off_is_whole(crop: tuple[float, ...]) -> None:
    pixels = portrait()
    height, width = pixels.shape[:2]
    left, top, right, bottom = (
        round(share * side) for share, side in zip(crop, (width, height) * 2, strict=True)
    )
    place = (slice(top, bottom), slice(left, right))
    person = subject(pixels)[place] > 127

    found = subject(np.ascontiguousarray(pixels[place])) > 127

    assert (found & person).sum() / (found | person).sum() > 0.97
    # Hair at the very rim is not cut off.
    for rim in (np.s_[:, 0], np.s_[:, -1]):
        assert (person[rim] & ~found[rim]).sum() < 0.05 * len(found[rim])


def test_cleaning_an_edge_reports_band_by_band_and_can_be_stopped() -> None:
    pixels = np.full((1200, 60, 3), 90, np.uint8)
    alpha = np.zeros((1200, 60), np.uint8)
    alpha[:, 20:40], alpha[:, 18:20] = 255, 120
    seen: list[float] = []

    cleaned(pixels, alpha, seen.append)

    assert seen == sorted(seen)
    assert len(seen) >= 6
    assert seen[-1] == 1.0

    def stop(share: float) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        cleaned(pixels, alpha, stop)


def studio(width: int = 480, height: int = 360) -> np.ndarray:
    """A wall that grows a little darker, with some grain."""
    rows = np.linspace(0.0, 1.0, height)[:, None, None]
    wall = np.array([205, 195, 180]) * (1 - rows) + np.array([165, 155, 145]) * rows
    grain = np.random.default_rng(4).normal(0, 3, (height, width, 3))
    return np.asarray((wall + grain).clip(0, 255), np.uint8)


def test_the_wall_is_seen_through_the_handle_of_a_mug() -> None:
    pixels = studio()
    thing, hole = np.zeros((2, *pixels.shape[:2]), np.uint8)
    cv2.rectangle(thing, (140, 110), (270, 290), 255, -1)
    cv2.ellipse(thing, (270, 200), (70, 62), 0, 0, 360, 255, -1, cv2.LINE_AA)
    cv2.ellipse(hole, (272, 200), (48, 42), 0, -90, 90, 255, -1, cv2.LINE_AA)
    share = ((thing > 127) & (hole < 128))[..., None]
    pixels = np.where(share, np.array([45, 75, 140], np.uint8), pixels)

    alpha = subject(pixels)

    assert overlap(alpha, share[..., 0] * np.uint8(255)) > 0.97
    assert alpha[185:215, 285:310].max() < 10


def test_a_light_shirt_before_a_light_wall_has_no_hole() -> None:
    pixels = studio()
    thing = np.zeros(pixels.shape[:2], np.uint8)
    cv2.rectangle(thing, (160, 80), (320, 359), 255, -1)
    pixels[thing > 0] = (60, 50, 70)
    pixels[130:300, 185:295] = (studio()[130:300, 185:295] + 14.0).clip(0, 255)

    alpha = subject(pixels)

    assert alpha[140:290, 195:285].min() > 240


def test_two_things_are_found_though_one_of_them_leaves_the_picture() -> None:
    pixels = studio()
    things = np.zeros(pixels.shape[:2], np.uint8)
    cv2.ellipse(things, (170, 200), (60, 90), 0, 0, 360, 255, -1, cv2.LINE_AA)
    both = things.copy()
    cv2.rectangle(both, (390, 150), (479, 300), 255, -1)
    pixels[both > 127] = (180, 60, 40)
    pixels[things > 127] = (40, 110, 70)

    assert overlap(subject(pixels), both) > 0.95
    # Where it is said which one is meant, the other one is not taken along.
    assert overlap(subject(pixels, near=things), things) > 0.95
