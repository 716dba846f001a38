import threading
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image

from kit import parameters, pricing
from kit.engines.base import CanceledError, Order, Progress
from kit.engines.media.footage import Footage
from kit.engines.models.video_edit import Edit
from kit.errors import EngineError
from kit.wire import Model
from tests.engines.films import filmed, picture, turned
from tests.engines.video.edits import DEFAULTS, flashes, render, seen


def test_without_wishes_the_video_stays_what_it_is(tmp_path: Path) -> None:
    source = flashes(tmp_path / "a.mp4")

    asset = render(tmp_path, source)

    assert (asset.width, asset.height, asset.duration_seconds) == (128, 96, 3.0)
    assert asset.content_type == "video/mp4"
    with Footage(source) as footage:
        before = [frame.astype(int) for frame in footage.frames(30)]
    assert np.abs(np.array(seen(asset)) - np.array(before)).mean() < 3


@pytest.mark.parametrize("kind", ["mp4", "mp4-av1", "webm"])
def test_the_same_job_gives_the_same_bytes(tmp_path: Path, kind: str) -> None:
    source = flashes(tmp_path / "a.mp4", seconds=1)
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    wishes = {"captions": "one two three", "aspect_ratio": "1:1", "stabilize": True}

    one, two = (render(tmp_path / name, source, format=kind, **wishes) for name in ("one", "two"))

    assert one.path.read_bytes() == two.path.read_bytes()


@pytest.mark.parametrize("fit", ["smart_crop", "blurred_fill"])
@pytest.mark.parametrize(
    ("aspect", "size"), [("9:16", (480, 854)), ("1:1", (480, 480)), ("4:5", (480, 600))]
)
def test_a_frame_of_another_shape_is_filled_to_its_edges(
    tmp_path: Path, aspect: str, size: tuple[int, int], fit: str
) -> None:
    source = filmed(tmp_path / "a.mp4", [np.full((96, 128, 3), (60, 160, 90), np.uint8)] * 4)

    asset = render(tmp_path, source, aspect_ratio=aspect, fit=fit, resolution="480p")

    assert (asset.width, asset.height) == size
    frame = seen(asset)[1]
    assert frame.shape == (size[1], size[0], 3)
    middle = frame[size[1] // 2, size[0] // 2]
    assert np.abs(middle - (60, 160, 90)).max() < 8
    for corner in (frame[2, 2], frame[-3, -3]):
        assert corner[1] > 60, "no black bar"


def test_a_phone_video_stands_upright(tmp_path: Path) -> None:
    source = turned(filmed(tmp_path / "a.mp4", [picture(128, 96, (200, 40, 30))] * 4), 90)

    asset = render(tmp_path, source)

    assert (asset.width, asset.height) == (96, 128)
    assert seen(asset)[0][20, 80].min() > 200, "white is in the upper right quarter now"


def test_odd_sizes_and_silent_videos_are_edited_too(tmp_path: Path) -> None:
    source = filmed(tmp_path / "a.webm", [picture(127, 95, (200, 40, 30))] * 8, codec="libvpx-vp9")

    asset = render(tmp_path, source, captions="few")

    assert asset.width % 2 == asset.height % 2 == 0
    with av.open(str(asset.path)) as container:
        assert not container.streams.audio


def test_fades_begin_and_end_in_black_and_silence(tmp_path: Path) -> None:
    source = filmed(tmp_path / "a.mp4", [np.full((96, 128, 3), 200, np.uint8)] * 60)

    light = [frame.mean() for frame in seen(render(tmp_path, source, fade_in=0.5, fade_out=0.5))]

    assert light[0] < 4
    assert light[-1] < 4
    assert light[:15] == sorted(light[:15])
    assert light[30] == pytest.approx(200, abs=3)


def test_fades_that_are_longer_than_the_clip_leave_its_middle_bright(tmp_path: Path) -> None:
    source = filmed(tmp_path / "a.mp4", [np.full((96, 128, 3), 200, np.uint8)] * 60)

    light = [frame.mean() for frame in seen(render(tmp_path, source, fade_in=5, fade_out=5))]

    assert max(light[0], light[-1]) < 4
    assert max(light[25:35]) > 190
    assert light[:28] == sorted(light[:28])


def test_captions_and_looks_reach_the_picture(tmp_path: Path) -> None:
    source = filmed(tmp_path / "a.mp4", [np.full((180, 320, 3), (120, 90, 60), np.uint8)] * 30)

    plain, bold, noir = (
        seen(render(tmp_path, source, **wishes))[10]
        for wishes in ({}, {"captions": "read me"}, {"look": "noir"})
    )

    assert np.abs(bold - plain)[:90].max() < 12
    assert (np.abs(bold - plain)[100:].max(axis=2) > 80).mean() > 0.01
    assert np.ptp(noir, axis=2).mean() < 4


@pytest.mark.parametrize(
    ("wishes", "code"),
    [
        ({"sound": "replace"}, "bad_sound"),
        ({"start": 9}, "bad_range"),
        ({"end": 0.0}, "bad_range"),
        ({"captions": "word " * 200}, "captions_too_long"),
        ({"captions": "x" * 13_000}, "captions_too_long"),
        ({"captions": "a 日 b"}, "no_letters"),
    ],
)
def test_what_cannot_be_done_is_told_in_a_sentence(
    tmp_path: Path, wishes: dict[str, Any], code: str
) -> None:
    with pytest.raises(EngineError) as told:
        render(tmp_path, flashes(tmp_path / "a.mp4", seconds=1), **wishes)

    assert told.value.code == code
    assert str(tmp_path) not in str(told.value)


def test_the_preview_shows_the_asked_moment(tmp_path: Path) -> None:
    source = flashes(tmp_path / "a.mp4")

    for moment, bright in ((0.6, True), (1.0, False), (99, False), (0, False)):
        asset = render(tmp_path, source, poster_time=moment)
        assert asset.thumbnail is not None
        with Image.open(asset.thumbnail) as preview:
            assert preview.format == "JPEG"
            assert (np.asarray(preview).mean() > 128) == bright


def test_progress_rises_with_the_frames(tmp_path: Path) -> None:
    told: list[float] = []
    render(tmp_path, flashes(tmp_path / "a.mp4", 1), Progress(told.append), stabilize=True)

    assert told == sorted(told)
    assert told[0] == 0.0
    assert told[-1] > 0.97
    assert len(set(told)) > 50


@pytest.mark.parametrize("at", [0.0, 0.05, 0.3, 0.8])
def test_a_canceled_edit_leaves_no_thread_and_no_open_file(tmp_path: Path, at: float) -> None:
    progress = Progress(lambda done: progress.cancel() if done >= at else None)

    with pytest.raises(CanceledError):
        render(tmp_path, flashes(tmp_path / "a.mp4", 1), progress, stabilize=True)

    assert [t.name for t in threading.enumerate() if t.name == "clip-encoder"] == []
    opened = Path("/proc/self/fd")
    if opened.exists():
        targets = [fd.readlink() for fd in opened.iterdir() if fd.is_symlink()]
        assert not [target for target in targets if str(tmp_path) in str(target)]


def test_the_definition_is_valid_and_more_work_costs_more() -> None:
    told = Edit.definition
    model = Model(
        id=told.id,
        asset_type=told.asset_type,
        setting_parameters=list(told.settings),
        media_parameters=list(told.media),
        pricing=told.pricing,
    )
    pricing.check_rule(model)

    def price(seconds: int, **values: Any) -> float:
        media = {"video": [pricing.Medium("video", seconds)]}  # type: ignore[arg-type]
        return float(pricing.price(told.pricing, {**DEFAULTS, **values}, media).total)

    assert price(10, resolution="480p") < price(10) < price(20) < price(20, stabilize=True)
    assert 0 < pricing.least(model) <= pricing.at_defaults(model)
    for parameter in told.settings:
        if parameter.default is not None:
            assert parameters.problem_with(parameter, parameter.default) is None


def test_emoji_in_captions_are_left_out_and_told(tmp_path: Path) -> None:
    source = flashes(tmp_path / "a.mp4", seconds=1)
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()

    plain = render(tmp_path / "one", source, captions="a b")
    asset = render(tmp_path / "two", source, captions="a 🦑 b")

    assert asset.metadata["left_out"] == ["🦑"]
    assert "left_out" not in plain.metadata
    assert asset.path.read_bytes() == plain.path.read_bytes()


@pytest.mark.parametrize("text", ["今日は", "🦑 🦑"])
@pytest.mark.parametrize("style", ["bold", "clean", "karaoke"])
def test_captions_that_cannot_be_set_are_refused_before_the_charge(text: str, style: str) -> None:
    values = {**DEFAULTS, "captions": text, "caption_style": style}

    problems = Edit().check(Order(prompt="", parameters=values, media={"video": 1}))

    assert [name for name, _ in problems] == ["captions"]
