import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import pytest
from PIL import Image

from kit.engines.base import Asset, CanceledError, Job, Order, Progress
from kit.engines.media import sound
from kit.engines.media.clip import Clip, rgb_frame
from kit.engines.models.lip_sync import LipSync
from kit.errors import EngineError
from tests.engines.drawn import LINE, face, place
from tests.engines.video.lipsync.speaking import pause, saved, vowel

DEFAULTS = {p.name: p.default for p in LipSync.definition.settings if p.default is not None}
AT = {"x": 160.0, "y": 175.0, "size": 115.0}
STILL = face(**AT)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """A portrait, a video of it that sways, and three recordings."""
    folder = tmp_path_factory.mktemp("inputs")
    Image.fromarray(STILL).save(folder / "portrait.png")
    with Clip(folder / "video.mp4", 320, 360, fps=20) as clip:
        for number in range(12):
            matrix = np.array([[1, 0, 6 * np.sin(number / 3)], [0, 1, 0]])
            moved = cv2.warpAffine(STILL, matrix, (320, 360), borderMode=cv2.BORDER_REPLICATE)
            clip.add(rgb_frame(moved))
    parts = pause(0.28), vowel("ah", 0.24, 0.7), pause(0.28)
    saved(folder / "voice.wav", *parts)
    saved(folder / "steps.wav", vowel("ah", 0.4, 0.3), pause(0.2), vowel("ah", 0.4, 0.8))
    saved(folder / "silence.wav", pause(0.4))
    return {path.stem: path for path in folder.iterdir()}


def job(folder: Path, media: Mapping[str, Path], **values: Any) -> Job:
    folder.mkdir(exist_ok=True)
    return Job(
        prompt="",
        parameters={**DEFAULTS, "resolution": "360p", "head_motion": 0, "blink": False, **values},
        folder=folder,
        seed=values.pop("seed", 1),
        media={name: [path] for name, path in media.items()},
    )


def render(folder: Path, media: Mapping[str, Path], **values: Any) -> Asset:
    return LipSync().render(job(folder, media, **values), Progress())


def decoded(path: Path) -> list[np.ndarray]:
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="rgb24").astype(int) for frame in container.decode(video=0)]


def darkness(frame: np.ndarray) -> int:
    """Count the dark pixels where the drawing's mouth opens."""
    scale = frame.shape[0] / STILL.shape[0]
    x, y = (round(value * scale) for value in place(0, LINE + 0.06, **AT))
    reach = round(28 * scale)
    return int((frame[y - reach : y + reach, x - reach : x + reach].max(axis=2) < 75).sum())


@pytest.mark.parametrize(
    ("fps", "kind", "content_type", "codecs"),
    [
        (24, "mp4", "video/mp4", ("h264", "aac")),
        (30, "mp4-av1", "video/mp4", ("av1", "aac")),
        (25, "webm", "video/webm", ("vp9", "opus")),
    ],
)
def test_a_clip_is_as_long_as_its_audio_and_shaped_like_its_picture(
    tmp_path: Path,
    inputs: Mapping[str, Path],
    fps: int,
    kind: str,
    content_type: str,
    codecs: tuple[str, str],
) -> None:
    media = {"portrait": inputs["portrait"], "audio": inputs["silence"]}
    asset = render(tmp_path, media, fps=fps, format=kind)

    frames = -(-fps * 4 // 10)
    assert (asset.content_type, asset.width, asset.height) == (content_type, 360, 404)
    assert asset.duration_seconds == pytest.approx(frames / fps)
    with av.open(str(asset.path)) as container:
        video, audio = container.streams.video[0], container.streams.audio[0]
        found = tuple(s.codec_context.name.removeprefix("lib") for s in (video, audio))
        assert (video.width, video.height) == (360, 404)
        assert len(list(container.decode(video=0))) == frames
    assert [name[:4] for name in found] == [name[:4] for name in map(_decoder, codecs)]
    assert asset.thumbnail is not None
    with Image.open(asset.thumbnail) as preview:
        assert (preview.format, preview.size) == ("JPEG", (360, 404))


_FILES = {"portrait": ("portrait.png", "picture"), "video": ("video.mp4", "video")}


def _decoder(codec: str) -> str:
    return {"av1": "dav1d"}.get(codec, codec)


def test_the_mouth_opens_while_the_voice_sounds_and_both_are_together(
    tmp_path: Path, inputs: Mapping[str, Path]
) -> None:
    media = {"portrait": inputs["portrait"], "audio": inputs["voice"]}
    asset = render(tmp_path, media)

    dark = np.array([darkness(frame) for frame in decoded(asset.path)])
    opened = np.flatnonzero(dark > dark[0] + 0.4 * (dark.max() - dark[0])) / 25
    assert dark.max() > dark[0] + 150
    assert opened[0] == pytest.approx(0.28, abs=0.07)
    assert opened[-1] == pytest.approx(0.50, abs=0.09)
    heard = np.abs(sound.opened(asset.path).samples.mean(axis=0))
    loud = np.flatnonzero(heard > 0.2 * heard.max()) / sound.RATE
    assert (loud[0], loud[-1]) == (pytest.approx(0.28, abs=0.02), pytest.approx(0.52, abs=0.02))


def test_louder_vowels_open_the_mouth_more(tmp_path: Path, inputs: Mapping[str, Path]) -> None:
    media = {"portrait": inputs["portrait"], "audio": inputs["steps"]}
    dark = [darkness(frame) for frame in decoded(render(tmp_path, media).path)]

    soft, loud = max(dark[2:10]), max(dark[17:24])
    assert loud - min(dark) > 1.4 * (soft - min(dark))
    assert soft > min(dark) + 20


def test_silence_keeps_the_picture_still(tmp_path: Path, inputs: Mapping[str, Path]) -> None:
    media = {"portrait": inputs["portrait"], "audio": inputs["silence"]}
    shown = decoded(render(tmp_path, media).path)

    assert max(np.abs(frame - shown[0]).mean() for frame in shown) < 1.0
    assert len({darkness(frame) for frame in (shown[0], shown[-1])}) <= 2


def test_intensity_0_keeps_the_mouth_closed(tmp_path: Path, inputs: Mapping[str, Path]) -> None:
    media = {"portrait": inputs["portrait"], "audio": inputs["voice"]}
    dark = [darkness(frame) for frame in decoded(render(tmp_path, media, intensity=0).path)]

    assert max(dark) - min(dark) < 30


def test_the_same_seed_gives_the_same_bytes_and_another_moves_the_head_elsewhere(
    tmp_path: Path, inputs: Mapping[str, Path]
) -> None:
    media = {"portrait": inputs["portrait"], "audio": inputs["steps"]}
    one, again, other = (
        render(tmp_path / name, media, head_motion=1, blink=True, seed=seed).path.read_bytes()
        for name, seed in (("a", 5), ("b", 5), ("c", 6))
    )

    assert one == again
    assert one != other


def test_a_video_speaks_and_starts_over_where_it_is_short(
    tmp_path: Path, inputs: Mapping[str, Path]
) -> None:
    media = {"video": inputs["video"], "audio": inputs["steps"]}
    asset = render(tmp_path, media)

    shown = decoded(asset.path)
    assert len(shown) == 25
    assert asset.metadata["video_frames"] == 15
    assert asset.metadata["face_in_sight"] == 1.0
    top = [frame[: frame.shape[0] // 2] for frame in shown]
    assert np.abs(top[15] - top[0]).mean() < 0.35 * np.abs(top[9] - top[0]).mean()
    assert darkness(shown[20]) > darkness(shown[13]) + 100
    assert render(tmp_path / "b", media).path.read_bytes() == asset.path.read_bytes()


def test_a_transparent_turned_portrait_is_seen_as_it_is_meant(
    tmp_path: Path, inputs: Mapping[str, Path]
) -> None:
    turned = Image.fromarray(STILL).transpose(Image.Transpose.ROTATE_90)
    exif = Image.Exif()
    exif[0x0112] = 6
    turned.save(tmp_path / "phone.jpg", exif=exif, quality=95)
    clear = np.dstack([STILL, np.full(STILL.shape[:2], 255, np.uint8)])
    clear[:40, :, 3] = 0
    Image.fromarray(clear).save(tmp_path / "clear.png")

    for name in ("phone.jpg", "clear.png"):
        media = {"portrait": tmp_path / name, "audio": inputs["silence"]}
        asset = render(tmp_path / name[:5], media)
        assert (asset.width, asset.height) == (360, 404)
        assert asset.metadata["mouth_x"] == pytest.approx(0.5, abs=0.02)
    assert decoded(asset.path)[0][5, 180].tolist() == pytest.approx([232] * 3, abs=4)


@pytest.mark.parametrize(
    ("names", "code", "sentence"),
    [
        (("audio",), "wrong_media", "either a portrait or a video; neither was given"),
        (("portrait", "video", "audio"), "wrong_media", "both were given"),
        (("portrait",), "wrong_media", "audio that is to be spoken is missing"),
    ],
)
def test_media_that_do_not_go_together_are_refused(
    tmp_path: Path, inputs: Mapping[str, Path], names: tuple[str, ...], code: str, sentence: str
) -> None:
    media = {name: inputs["silence" if name == "audio" else name] for name in names}

    with pytest.raises(EngineError, match=sentence) as caught:
        render(tmp_path, media)

    assert caught.value.code == code


def test_audio_that_is_too_long_is_refused_before_any_work(
    tmp_path: Path, inputs: Mapping[str, Path]
) -> None:
    long = saved(tmp_path / "long.flac", pause(121))
    seen: list[float] = []

    with pytest.raises(EngineError, match="more than 120 s; cut it") as caught:
        LipSync().render(
            job(tmp_path / "a", {"portrait": inputs["portrait"], "audio": long}),
            Progress(seen.append),
        )

    assert caught.value.code == "too_long"
    assert max(seen) < 0.03


def test_audio_that_is_too_long_is_refused_before_the_charge() -> None:
    def said(seconds: float) -> list[tuple[str, str]]:
        media, known = {"portrait": 1, "audio": 1}, {"audio": [seconds]}
        order = Order(prompt="", parameters=DEFAULTS, media=media, seconds=known)
        return [*LipSync().check(order)]

    assert said(120.0) == []
    assert said(700.4) == [("audio", "lasts 700 s; cut it to 120 s or less")]


def test_a_video_in_which_nobody_faces_the_camera_for_long_is_refused(
    tmp_path: Path, inputs: Mapping[str, Path]
) -> None:
    blank = np.full_like(STILL, 180)
    with Clip(tmp_path / "video.mp4", 320, 360, fps=25) as clip:
        for number in range(40):
            clip.add(rgb_frame(STILL if number < 4 else blank))
    audio = saved(tmp_path / "long.wav", vowel("ah", 1.6, 0.7))
    media = {"video": tmp_path / "video.mp4", "audio": audio}

    with pytest.raises(EngineError, match=r"only 1\d% of the video; trim it") as caught:
        render(tmp_path / "a", media)
    assert caught.value.code == "no_face"


@pytest.mark.parametrize("kind", ["portrait", "video"])
def test_without_a_face_there_is_a_clear_error_and_a_told_mouth_helps(
    tmp_path: Path, inputs: Mapping[str, Path], kind: str
) -> None:
    blank = np.full((120, 160, 3), 180, np.uint8)
    blank[70:73, 60:100] = 40
    Image.fromarray(blank).save(tmp_path / "portrait.png")
    with Clip(tmp_path / "video.mp4", 160, 120, fps=25) as clip:
        for _ in range(5):
            clip.add(rgb_frame(blank))
    name, seen = _FILES[kind]
    media = {kind: tmp_path / name, "audio": inputs["voice"]}

    with pytest.raises(EngineError, match=f"no face was found in the {seen}") as caught:
        render(tmp_path / "a", media)
    told = {"mouth_x": 0.5, "mouth_y": 0.6, "mouth_width": 0.25}
    shown = decoded(render(tmp_path / "b", media, **told).path)

    assert caught.value.code == "no_face"
    changes = [np.abs(frame - shown[0]).mean() for frame in shown]
    assert max(changes) > 1.5
    assert changes[-1] < 0.4 * max(changes)


@pytest.mark.parametrize("kind", ["portrait", "video"])
def test_progress_rises_to_1_with_every_frame(
    tmp_path: Path, inputs: Mapping[str, Path], kind: str
) -> None:
    seen: list[float] = []
    LipSync().render(
        job(tmp_path, {kind: inputs[kind], "audio": inputs["steps"]}), Progress(seen.append)
    )

    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0.0, 1.0)
    assert len(set(seen)) >= 25


@pytest.mark.parametrize(("kind", "at"), [("portrait", 0.5), ("video", 0.2), ("video", 0.7)])
def test_a_canceled_clip_leaves_no_thread_and_no_open_file(
    tmp_path: Path, inputs: Mapping[str, Path], kind: str, at: float
) -> None:
    def report(done: float) -> None:
        if done >= at:
            progress.cancel()

    progress = Progress(report)
    with pytest.raises(CanceledError):
        LipSync().render(job(tmp_path, {kind: inputs[kind], "audio": inputs["steps"]}), progress)

    assert [t.name for t in threading.enumerate() if t.name == "clip-encoder"] == []
    opened = Path("/proc/self/fd")
    if opened.exists():
        targets = {str(fd.readlink()) for fd in opened.iterdir() if fd.is_symlink()}
        assert not [
            target
            for target in targets
            if str(tmp_path) in target or str(inputs["video"].parent) in target
        ]
