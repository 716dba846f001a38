from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from kit.engines.base import CanceledError, Progress
from kit.engines.film.filming import Take
from kit.engines.film.kenburns.moves import Window
from kit.engines.film.kenburns.rostrum import Rostrum, flattened
from kit.engines.media.clip import rgb_of
from kit.engines.media.stills import Still
from kit.engines.models.ken_burns import KenBurns
from kit.errors import EngineError
from tests.engines.video.showing import decoded, distance, job_for, rendered, saved, textured


def take(frames: int = 5) -> Take:
    return Take(width=160, height=90, fps=24, frames=frames)


def test_a_window_shows_just_its_part_of_the_picture() -> None:
    pixels = textured(320, 180)
    part = Window(0.25, 0.75, 0.5)

    frame = rgb_of(Rostrum(pixels, (part, part), take()).frame(0))

    assert distance(frame, pixels[90:, :160]) < 4


def test_luma_and_color_stay_together_wherever_the_camera_is() -> None:
    pixels = np.full((180, 320, 3), (20, 30, 40), np.uint8)
    pixels[:, 160:] = (220, 60, 50)
    for x in (0.40, 0.47, 0.56):
        window = Window(x, 0.5, 0.6)
        frame = rgb_of(Rostrum(pixels, (window, window), take()).frame(0)).astype(int)
        edge = round((0.5 - (x - 0.3)) / 0.6 * 160)
        red = frame[45, :, 0] - frame[45, :, 2]
        assert np.abs(np.flatnonzero(red > 80)[0] - edge) <= 2


def test_a_picture_that_has_holes_is_laid_on_white() -> None:
    pixels = np.full((4, 4, 3), 100, np.uint8)
    alpha = np.array([[0, 255, 128, 255]] * 4, np.uint8)

    flat = flattened(Still(pixels, alpha))

    assert flat[0, :, 0].tolist() == pytest.approx([255, 100, 177, 100], abs=1)
    assert flattened(Still(pixels)) is pixels


@pytest.mark.parametrize(
    ("size", "aspect", "shown"),
    [
        ((300, 200), "keep", (540, 360)),
        ((301, 203), "9:16", (360, 640)),
        ((64, 64), "1:1", (360, 360)),
        ((1, 1), "keep", (360, 360)),
        ((900, 3), "keep", (1080, 360)),
        ((2, 900), "16:9", (640, 360)),
    ],
)
def test_a_clip_has_the_shape_that_was_asked_for(
    tmp_path: Path, size: tuple[int, int], aspect: str, shown: tuple[int, int]
) -> None:
    image = saved(textured(*size), tmp_path)

    asset = rendered(KenBurns(), tmp_path / "job", media={"image": image}, aspect_ratio=aspect)

    assert (asset.width, asset.height) == shown == decoded(asset)[0].shape[1::-1]
    assert asset.thumbnail is not None
    with Image.open(asset.thumbnail) as preview:
        assert preview.format == "JPEG"


def test_a_zoom_leads_to_the_focus(tmp_path: Path) -> None:
    pixels = textured(480, 360)
    cv2.circle(pixels, (440, 320), 14, (255, 255, 0), -1)
    image = saved(pixels, tmp_path)

    asset = rendered(
        KenBurns(),
        tmp_path / "job",
        media={"image": image},
        camera="zoom_in",
        motion=1.0,
        focus_x=0.92,
        focus_y=0.89,
    )
    first, last = decoded(asset)[0], decoded(asset)[-1]

    def yellow(frame: np.ndarray) -> int:
        return int(((frame[..., 0] > 220) & (frame[..., 1] > 220) & (frame[..., 2] < 60)).sum())

    assert yellow(last) > 1.8 * yellow(first) > 0
    assert asset.metadata["focus"] == [0.92, 0.89]


def test_the_same_job_gives_the_same_bytes(tmp_path: Path) -> None:
    image = saved(textured(200, 160), tmp_path)
    one, other = (
        rendered(KenBurns(), tmp_path / name, media={"image": image}) for name in ("a", "b")
    )

    assert one.path.read_bytes() == other.path.read_bytes()


def test_a_loop_ends_where_it_began(tmp_path: Path) -> None:
    image = saved(textured(480, 360), tmp_path)
    shown = decoded(
        rendered(KenBurns(), tmp_path / "job", media={"image": image}, loop=True, motion=1.0)
    )

    assert distance(shown[0], shown[-1]) < 0.35 * distance(shown[0], shown[12])


def test_what_is_no_picture_is_said_to_be_none(tmp_path: Path) -> None:
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))

    with pytest.raises(EngineError):
        rendered(KenBurns(), tmp_path / "job", media={"image": broken})


def test_a_slow_zoom_does_not_tremble() -> None:
    """A bright line is followed at a hundredth of a pixel: it must move evenly."""
    pixels = np.full((360, 640, 3), 20, np.uint8)
    pixels[:, 500:504] = 230
    path = (Window(0.5, 0.5, 1.0), Window(0.5, 0.5, 0.94))
    slow = Take(width=320, height=180, fps=24, frames=240)
    rostrum = Rostrum(pixels, path, slow, easing="linear")

    def place(number: int) -> float:
        row = rostrum.frame(number)[90].astype(float) - 33
        row[row < 4] = 0
        return float((row * np.arange(320)).sum() / row.sum())

    steps = np.diff([place(number) for number in range(60, 180)])
    assert steps.mean() > 0.01
    assert np.abs(steps - steps.mean()).max() < 0.05


def test_a_canceled_clip_ends_at_once(tmp_path: Path) -> None:
    image = saved(textured(200, 160), tmp_path)
    progress = Progress(lambda done: progress.cancel() if done > 0.5 else None)

    with pytest.raises(CanceledError):
        KenBurns().render(job_for(KenBurns(), tmp_path / "job", media={"image": image}), progress)
