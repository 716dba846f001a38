import numpy as np
import pytest

from kit.engines.editing.video.framing import frame_of, framed, shifted, turned
from kit.engines.media.clip import rgb_frame, rgb_of

STILL = np.zeros(4)


def pattern(width: int, height: int) -> np.ndarray:
    """Return a picture with a smooth slope across and one down."""
    across = np.linspace(30, 220, width)[None, :].repeat(height, 0)
    down = np.linspace(30, 220, height)[:, None].repeat(width, 1)
    return np.dstack([across, down, np.full_like(across, 90)]).astype(np.uint8)


def test_equal_shapes_are_read_at_their_size_and_left_alone() -> None:
    frame = frame_of((1280, 720), (854, 480), "smart_crop")

    assert (frame.whole, frame.window, frame.size, frame.read) == ((854, 480),) * 4
    planes = rgb_frame(pattern(854, 480))
    assert framed(planes, frame, None) is planes


@pytest.mark.parametrize(
    ("source", "size"),
    [((1280, 720), (180, 320)), ((720, 1280), (320, 180)), ((64, 64), (320, 180))],
)
def test_a_crop_covers_and_a_fill_shows_everything(
    source: tuple[int, int], size: tuple[int, int]
) -> None:
    crop, fill = (frame_of(source, size, fit) for fit in ("smart_crop", "blurred_fill"))

    assert crop.window == size
    assert min(crop.room) == 0 < max(crop.room)
    assert fill.room == (0, 0)
    assert fill.read[0] <= size[0]
    assert fill.read[1] <= size[1]
    assert all(side % 2 == 0 for frame in (crop, fill) for side in (*frame.read, *frame.window))


@pytest.mark.parametrize("left", [0.0, 40.0, 40.5, 41.0, 43.3])
def test_a_crop_shows_the_place_that_it_stands_on(left: float) -> None:
    frame = frame_of((320, 180), (100, 180), "smart_crop")
    planes = rgb_frame(pattern(*frame.read))

    out = rgb_of(framed(planes, frame, shifted(left, 0))).astype(int)

    expected = np.interp(np.arange(100) + left, np.arange(320), np.linspace(30, 220, 320))
    assert np.abs(out[90, 4:-4, 0] - expected[4:-4]).max() < 3
    assert np.abs(out[4:-4, 50, 1] - pattern(320, 180)[4:-4, 50, 1]).max() < 4


def test_a_crop_that_is_enlarged_is_read_small_and_shows_the_same_place() -> None:
    frame = frame_of((160, 90), (100, 180), "smart_crop")
    assert (frame.read, frame.whole) == ((160, 90), (320, 180))

    out = rgb_of(framed(rgb_frame(pattern(160, 90)), frame, shifted(41.0, 0))).astype(int)

    expected = np.interp(np.arange(100) + 41, np.arange(320), np.linspace(30, 220, 320))
    assert np.abs(out[90, 4:-4, 0] - expected[4:-4]).max() < 3
    assert np.abs(out[4:-4, 50, 1] - pattern(320, 180)[4:-4, 50, 1]).max() < 4


def test_a_fill_has_the_whole_picture_sharp_and_a_dim_blurred_copy_around_it() -> None:
    rng = np.random.default_rng(1)
    frame = frame_of((320, 180), (180, 320), "blurred_fill")
    noise = rng.integers(0, 255, (frame.read[1], frame.read[0], 1), np.uint8).repeat(3, 2)

    out = rgb_of(framed(rgb_frame(noise), frame, None)).astype(int)

    top = (320 - frame.read[1]) // 4 * 2
    inside = out[top : top + frame.read[1]]
    gray = noise.mean(axis=2)
    assert np.corrcoef(inside.mean(axis=2).ravel(), gray.ravel())[0, 1] > 0.9
    around = np.vstack([out[: top - 2], out[top + frame.read[1] + 2 :]]).mean(axis=2)
    assert around.std() < 0.15 * gray.std()
    assert around.mean() < 0.75 * gray.mean()


def test_a_steadied_picture_moves_against_the_shake_and_shows_no_edge() -> None:
    frame = frame_of((320, 180), (320, 180), "smart_crop")
    white = rgb_frame(np.full((180, 320, 3), 255, np.uint8))
    planes = rgb_frame(pattern(320, 180))
    correction = np.array([0.02, 0.0, 0.0, 0.0])

    still = rgb_of(framed(planes, frame, turned(frame, STILL, 1.1, 0, 0))).astype(int)
    moved = rgb_of(framed(planes, frame, turned(frame, correction, 1.1, 0, 0))).astype(int)

    slope = (220 - 30) / 320 / 1.1
    drop = (still - moved)[90, 40:-40, 0].mean()
    assert drop == pytest.approx(0.02 * 320 * 1.1 * slope, rel=0.15)
    far = np.array([0.5, -0.5, 0.0, 0.0])
    matrix = turned(frame, far, 1.1, 0, 0)
    corners = np.array([[0, 0, 1], [320, 180, 1]]) @ np.vstack([matrix, [0, 0, 1]]).T
    assert corners[0, 0] <= 0
    assert corners[0, 1] <= 0
    assert corners[1, 0] >= 320
    assert corners[1, 1] >= 180
    assert rgb_of(framed(white, frame, matrix)).min() > 250


def test_chroma_stays_under_its_luma_when_moved() -> None:
    frame = frame_of((320, 180), (100, 180), "smart_crop")
    pixels = np.full((180, 320, 3), (30, 60, 200), np.uint8)
    pixels[:, 160:] = (220, 60, 30)

    out = rgb_of(framed(rgb_frame(pixels), frame, shifted(110.5, 0))).astype(int)

    red = np.argmax(out[90, :, 0] > 125)
    blue = np.argmax(out[90, :, 2] < 115)
    assert abs(int(red) - 49.5) <= 2
    assert abs(int(red) - int(blue)) <= 2
