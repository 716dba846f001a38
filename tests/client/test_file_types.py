"""A file's type comes from its content; its URL and its headers come second."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from kit.client import downloads, file_types
from kit.client.calls import DownloadFile, NoReply, Reply, Sleep
from kit.client.downloads import Cache
from kit.client.flows import Policy
from kit.errors import NoAnswerError, ParameterError
from kit.wire import Generation, Output, Parameter
from tests.client.fixtures import Clock

BASE = "http://127.0.0.1:9"
MP4 = b"\0\0\0\x20ftypisom" + bytes(52)
QUICKTIME = b"\0\0\0\x14ftypqt  " + bytes(52)
WEBM = b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm" + bytes(44)
MATROSKA = b"\x1a\x45\xdf\xa3\xa3\x42\x86\x81\x01\x42\x82\x88matroska" + bytes(40)
AVIF = b"\0\0\0\x1cftypavif" + bytes(52)


def picture(kind: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (4, 4), "red").save(buffer, kind)
    return buffer.getvalue()


def fetch(tmp_path: Path, content: bytes, headers: dict[str, str], **facts: Any) -> Path:
    """Return the path of an output after a download of these bytes."""
    cache = Cache(tmp_path / "outputs", BASE)
    generation = Generation(id="g", status="completed", **facts)
    flow = downloads.output(cache, generation)
    step = next(flow)
    assert isinstance(step, DownloadFile)
    step.target.parent.mkdir(exist_ok=True)
    step.target.write_bytes(content)
    try:
        flow.send(Reply(200, headers, sha256="0" * 64))
    except StopIteration as stop:
        path: Path = stop.value
    assert cache.path(generation) == path  # it is found again without a download
    assert path.read_bytes() == content
    return path


@pytest.mark.parametrize(
    ("content", "ending"),
    [
        (picture("PNG"), ".png"),
        (picture("JPEG"), ".jpg"),
        (picture("WEBP"), ".webp"),
        (picture("GIF"), ".gif"),
        (AVIF, ".avif"),
        (MP4, ".mp4"),
        (QUICKTIME, ".mov"),
        (WEBM, ".webm"),
        (MATROSKA, ".mkv"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("url", ["/out/x", "/x.php?id=1", "/out/x.png"])
@pytest.mark.parametrize("asset_type", [None, "image", "VIDEO"])
def test_the_content_decides_the_extension_of_an_output(
    tmp_path: Path, content: bytes, ending: str, url: str, asset_type: str | None
) -> None:
    path = fetch(tmp_path, content, {}, output_url=url, asset_type=asset_type)

    assert path.suffix == ending


@pytest.mark.parametrize(
    ("kind", "facts", "ending"),
    [
        ("video/mp4", {"output_url": "/x.php", "asset_type": None}, ".mp4"),
        ("video/webm; codecs=vp9", {"output_url": "/x"}, ".webm"),
        ("text/html", {"output_url": "/x.php", "asset_type": "VIDEO"}, ".mp4"),
        ("application/octet-stream", {"output_url": "/x", "asset_type": "Image"}, ".png"),
        ("", {"output_url": "/a.mov", "asset_type": "video"}, ".mov"),
        ("", {"output_url": "/a", "output": Output(content_type="image/webp")}, ".webp"),
        ("", {"output_url": "/a"}, ""),
    ],
)
def test_unknown_content_takes_its_extension_from_the_answer(
    tmp_path: Path, kind: str, facts: dict[str, Any], ending: str
) -> None:
    path = fetch(tmp_path, b"????" * 20, {"content-type": kind} if kind else {}, **facts)

    assert path.suffix == ending


@pytest.mark.parametrize("ending", [".jpeg", ".jpg"])
def test_a_usual_extension_of_the_same_type_is_kept(tmp_path: Path, ending: str) -> None:
    path = fetch(tmp_path, picture("JPEG"), {}, output_url=f"/a{ending.upper()}")

    assert path.suffix == ending


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.webp", "image/webp"), ("A.OGG", "audio/ogg"), ("a.m4a", "audio/mp4"), ("a.abcd", "")],
)
def test_types_are_guessed_from_names_without_the_systems_list(name: str, kind: str) -> None:
    program = f"""\
import mimetypes
mimetypes.knownfiles.clear()
from kit.endings import guess_type
print(guess_type({name!r}))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert done.stdout.strip() == kind


def test_an_unknown_file_type_is_accepted_and_a_wrong_one_refused() -> None:
    wanted = Parameter(name="ref", type="image", media=True)

    file_types.check_type_for(wanted, "a.bin", file_types.UNKNOWN)
    with pytest.raises(ParameterError, match="ref takes a medium of type image"):
        file_types.check_type_for(wanted, "a.mp3", "audio/mpeg")


# ── lost connections ──────────────────────────────────────────────────────────────────────────────


def drive(clock: Clock, policy: Policy, tmp_path: Path, *outcomes: Any) -> tuple[list[Any], Any]:
    """Drive a download on a clock that its pauses advance."""
    generation = Generation(id="g", status="completed", output_url=f"{BASE}/x.png")
    flow = downloads.output(Cache(tmp_path / "outputs", BASE), generation, policy)
    left, steps = list(outcomes), []
    try:
        step = next(flow)
        while True:
            steps.append(step)
            if isinstance(step, Sleep):
                clock.now += step.seconds
                step = flow.send(None)
                continue
            outcome = left.pop(0)
            if isinstance(outcome, Reply):
                step.target.parent.mkdir(exist_ok=True)
                step.target.write_bytes(picture("PNG"))
            step = flow.send(outcome)
    except StopIteration as stop:
        return steps, stop.value
    except NoAnswerError as error:
        return steps, error


def test_a_download_survives_an_outage(clock: Clock, policy: Policy, tmp_path: Path) -> None:
    steps, path = drive(
        clock, policy, tmp_path, *[NoReply("gone")] * 12, Reply(200, {}, sha256="0" * 64)
    )

    assert path.read_bytes() == picture("PNG")
    words = [step.why for step in steps if isinstance(step, Sleep) and step.why]
    assert words[0].startswith("no connection for ")
    assert clock.now > 20


def test_a_download_is_given_up_after_the_deadline(
    clock: Clock, policy: Policy, tmp_path: Path
) -> None:
    _, error = drive(clock, policy, tmp_path, *[NoReply("gone")] * 99)

    assert str(error).endswith("could not be fetched: gone")
    assert policy.deadline - policy.longest < clock.now <= policy.deadline


def test_a_wrong_download_is_repeated_only_as_often_as_attempts_allow(
    clock: Clock, policy: Policy, tmp_path: Path
) -> None:
    steps, error = drive(clock, policy, tmp_path, *[Reply(200, {}, sha256=None)] * 99)

    assert "what arrived is empty" in str(error)
    assert sum(isinstance(step, DownloadFile) for step in steps) == policy.attempts
