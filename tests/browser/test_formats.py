"""Videos in every format of the models: Chromium plays them to the end, in the right colors."""

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser

from kit.engines.media.clip import FORMATS
from tests.engines.rendering import record, render, save, tone

pytestmark = pytest.mark.browser

COLOR = (200, 60, 40)
PLAYED = """address => new Promise((done) => {
    const video = document.createElement("video");
    const seen = { heard: null, size: null, color: null };
    video.onerror = () => done({ ...seen, error: video.error.code });
    video.onended = () => {
        const canvas = document.createElement("canvas");
        canvas.width = video.videoWidth;
        canvas.height = video.videoHeight;
        const drawn = canvas.getContext("2d");
        drawn.drawImage(video, 0, 0);
        const middle = drawn.getImageData(canvas.width / 2, canvas.height / 2, 1, 1).data;
        done({
            error: null,
            size: [video.videoWidth, video.videoHeight],
            seconds: video.duration,
            color: [...middle].slice(0, 3),
            heard: video.webkitAudioDecodedByteCount > 0,
            frames: video.getVideoPlaybackQuality().totalVideoFrames,
        });
    };
    video.muted = true;
    video.src = address;
    document.body.append(video);
    video.play().catch(() => {});
})"""
Play = Callable[[bytes, str], Any]


@pytest.fixture
def play(browser: Browser) -> Iterator[Play]:
    """Return a function that plays a video in an empty page and reports what was shown."""
    context = browser.new_context()
    shown = context.new_page()
    shown.set_default_timeout(120_000)

    def play_video(content: bytes, content_type: str) -> Any:
        encoded = base64.b64encode(content).decode()
        return shown.evaluate(PLAYED, f"data:{content_type};base64,{encoded}")

    yield play_video
    context.close()


def make_video(folder: Path, kind: str) -> tuple[bytes, str]:
    image = save(np.full((180, 320, 3), COLOR, np.uint8), folder / "picture.png")
    media = {"image": image, "soundtrack": record(tone(0.5), folder / "tone.wav")}
    asset = render("ken-burns", folder / "job", media=media, format=kind, duration=1)
    return asset.path.read_bytes(), asset.content_type


@pytest.mark.parametrize("kind", list(FORMATS))
def test_a_video_plays_to_its_end_with_sound_and_right_colors(
    play: Play, tmp_path: Path, kind: str
) -> None:
    report = play(*make_video(tmp_path, kind))

    assert report["error"] is None
    assert report["size"] == [640, 360]
    assert report["seconds"] == pytest.approx(1.0, abs=0.06)
    assert np.abs(np.subtract(report["color"], COLOR)).max() <= 6
    assert report["heard"]
    assert report["frames"] > 0


def test_a_video_with_a_truncated_header_does_not_play(play: Play, tmp_path: Path) -> None:
    content, content_type = make_video(tmp_path, "mp4")

    assert play(content[:400], content_type)["error"] is not None
