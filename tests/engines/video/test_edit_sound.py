import tracemalloc
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from kit.engines.base import Job
from kit.engines.editing.video.plan import plan_of
from kit.engines.editing.video.soundtrack import of_edit
from kit.engines.media import sound
from kit.engines.media.clip import Clip, rgb_frame
from kit.engines.media.footage import Footage
from kit.engines.media.loudness import loudness
from kit.engines.media.sound import Sound
from kit.errors import EngineError
from tests.engines.films import onsets
from tests.engines.video.edits import DEFAULTS, flashes, lit, render, strength, tone, written


@pytest.mark.parametrize("speed", [0.5, 1, 2])
@pytest.mark.parametrize("kind", ["mp4", "webm"])
def test_picture_and_sound_stay_together_through_trim_and_speed(
    tmp_path: Path, speed: float, kind: str
) -> None:
    asset = render(
        tmp_path, flashes(tmp_path / "a.mp4"), start=0.25, end=2.75, speed=speed, format=kind
    )

    expected = [(moment - 0.25) / speed for moment in (0.5, 1.5, 2.5)]
    assert asset.duration_seconds == pytest.approx(2.5 / speed, abs=0.05)
    assert lit(asset, 60) == pytest.approx(expected, abs=0.04)
    assert onsets(sound.opened(asset.path).samples) == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize(
    ("wishes", "own", "voice", "music"),
    [
        ({"sound": "keep"}, True, True, True),
        ({"sound": "replace"}, False, True, True),
        ({"sound": "keep", "music_volume": 0}, True, True, False),
    ],
)
def test_what_is_heard_is_what_was_asked_for(
    tmp_path: Path, wishes: dict[str, Any], own: bool, voice: bool, music: bool
) -> None:
    source = tmp_path / "a.mp4"
    with Clip(source, 64, 48, fps=30, sound=Sound(tone(3.0, 300))) as clip:
        for _ in range(90):
            clip.add(rgb_frame(np.full((48, 64, 3), 90, np.uint8)))
    files = {
        "voice": written(tmp_path / "v.wav", tone(3.0, 700)),
        "music": written(tmp_path / "m.wav", tone(1.0, 2500)),
    }

    asset = render(tmp_path, source, media=files, **wishes)

    heard = [strength(asset, pitch) > 0.005 for pitch in (300, 700, 2500)]
    assert heard == [own, voice, music]
    assert strength(asset, 700) > 2 * max(strength(asset, 300), strength(asset, 2500))


def test_a_mute_result_has_no_sound_track(tmp_path: Path) -> None:
    asset = render(tmp_path, flashes(tmp_path / "a.mp4", seconds=1), sound="mute")

    with av.open(str(asset.path)) as container:
        assert not container.streams.audio


def test_sound_is_brought_to_the_usual_loudness(tmp_path: Path) -> None:
    source = tmp_path / "a.mp4"
    with Clip(source, 64, 48, fps=30, sound=Sound(tone(3.0, 500, level=0.06))) as clip:
        for _ in range(90):
            clip.add(rgb_frame(np.full((48, 64, 3), 90, np.uint8)))

    found = []
    for on in (True, False):
        asset = render(tmp_path, source, normalize=on)
        found.append(loudness(sound.opened(asset.path).samples))

    assert found == pytest.approx([-14.0, -24.4], abs=1.0)


def test_music_for_a_mute_result_is_an_error_and_not_ignored(tmp_path: Path) -> None:
    music = written(tmp_path / "m.wav", tone(1.0, 500))

    with pytest.raises(EngineError, match="sound is mute"):
        render(tmp_path, flashes(tmp_path / "a.mp4", 1), media={"music": music}, sound="mute")


def test_the_sound_of_an_edit_is_never_held_whole_and_leaves_no_file(tmp_path: Path) -> None:
    source, folder = tmp_path / "a.mp4", tmp_path / "result"
    folder.mkdir()
    with Clip(source, 64, 48, fps=10, sound=Sound(tone(50.0, 300))) as clip:
        for _ in range(500):
            clip.add(rgb_frame(np.full((48, 64, 3), 90, np.uint8)))
    music = written(tmp_path / "m.wav", tone(2.0, 2500))
    job = Job(
        prompt="",
        parameters={**DEFAULTS, "speed": 1.25},
        folder=folder,
        media={"video": [source], "music": [music]},
    )
    tracemalloc.start()
    try:
        with Footage(source) as footage:
            plan = plan_of(job.parameters, footage)
            whole, _ = of_edit(job, footage, plan, lambda: None)
        assert whole is not None
        loudest = max(float(np.abs(part).max()) for _, part in whole.parts())
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert whole.seconds == 40.0
    assert 0.1 < loudest < 0.9
    assert most < 14e6, "each step of it is 15 to 19 MB"
    assert list(folder.iterdir()) == []


def test_a_part_that_begins_within_a_sound_does_not_click(tmp_path: Path) -> None:
    source = tmp_path / "a.mp4"
    with Clip(source, 64, 48, fps=30, sound=Sound(tone(2.0, 110))) as clip:
        for _ in range(60):
            clip.add(rgb_frame(np.full((48, 64, 3), 90, np.uint8)))

    # A quarter of a wave after one has begun: at its top.
    line = sound.opened(render(tmp_path, source, start=1 + 0.25 / 110).path).samples[0]

    bend = np.abs(np.diff(line, 2))
    assert bend[:480].max() < 0.003
    assert np.abs(line[480:4800]).max() > 0.1
