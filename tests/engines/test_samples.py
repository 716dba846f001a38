from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from kit.engines import samples
from kit.engines.media import faces, soundfile, stills
from kit.engines.media.footage import Footage
from kit.engines.samples import views

Sample = Callable[[str], Path]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """Write samples, each only once."""
    folder = tmp_path_factory.mktemp("samples")
    return cache(lambda name: samples.write_sample(name, folder))


def test_the_portrait_has_a_face_with_both_eyes_in_the_middle(sample: Sample) -> None:
    pixels = stills.open_still(sample("portrait")).pixels
    found = faces.find(pixels)

    assert len(found) == 1
    assert found[0].eyes is not None
    (left, right), (height, width) = found[0].eyes, pixels.shape[:2]
    assert left[0] < width / 2 < right[0]
    assert abs(left[1] - right[1]) < 0.02 * height
    assert abs(found[0].center[0] - width / 2) < 0.05 * width


def test_the_mask_covers_only_the_balloon(sample: Sample) -> None:
    mask = stills.open_still(sample("mask")).pixels[..., 0]
    picture = stills.open_still(sample("picture")).pixels
    changed = np.abs(views.draw_lake().astype(int) - views.paint_lake()).max(axis=2) > 8

    assert mask.shape == picture.shape[:2]
    assert set(np.unique(mask)) == {0, 255}
    assert changed.any()
    assert not changed[mask == 0].any()
    assert 0.02 < (mask > 0).mean() < 0.12


def test_a_clip_moves_and_has_sound(sample: Sample) -> None:
    path = sample("clip")
    with Footage(path) as footage:
        assert (footage.width, footage.height) == (640, 360)
        assert footage.seconds == pytest.approx(3.0, abs=0.05)
        frames = [frame.astype(int) for frame in footage.frames(2.0)]

    assert np.abs(frames[0] - frames[-1]).mean() > 5
    assert np.abs(soundfile.open_sound(path).samples).max() > 0.2


def test_the_speaker_is_the_portrait_in_motion_without_sound(sample: Sample) -> None:
    with Footage(sample("speaker")) as footage:
        assert not footage.has_sound
        assert footage.seconds == pytest.approx(3.0, abs=0.05)
        frames = list(footage.frames(4.0))

    assert all(len(faces.find(frame)) == 1 for frame in frames)
    assert any(np.abs(frames[0].astype(int) - frame).mean() > 1 for frame in frames[1:])


@pytest.mark.parametrize("name", ["portrait", "mask", "small", "voice"])
def test_the_same_sample_is_the_same_file(name: str, sample: Sample, tmp_path: Path) -> None:
    one, other = sample(name), samples.write_sample(name, tmp_path)

    assert other.parent == tmp_path
    assert one.name == other.name
    assert one.read_bytes() == other.read_bytes()
