"""Tests of every built-in model, from one table of orders."""

import io
import json
import struct
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import Any, TypeAlias

import av
import cv2
import pytest
from PIL import Image

from kit.engines.base import Asset, CanceledError, Progress
from kit.engines.registry import engine_for
from kit.errors import EngineError
from kit.wire import Parameter
from tests.engines import drawings
from tests.engines.rendering import parameters_of, render

Files: TypeAlias = Callable[[str], Path]
Values: TypeAlias = Mapping[str, Any]

POINTS = [e for e in entry_points(group="kit.engines") if e.value.startswith("kit.engines.")]
IDS = sorted(point.name for point in POINTS)


@dataclass(frozen=True, kw_only=True)
class Case:
    """An order of a model, and orders in which its parameters show.

    `values` are added to the smallest ones, `media` are names of files. `tries` are settings and
    media with which a parameter shows, if that takes more than another value of it; they are
    compared to the same order without it, or to the one in `against`. `plain` are settings whose
    values do not all fit the order.
    """

    prompt: str = ""
    media: Mapping[str, str] = field(default_factory=dict)
    values: Values = field(default_factory=dict)
    tries: Mapping[str, Values] = field(default_factory=dict)
    against: Mapping[str, Values] = field(default_factory=dict)
    plain: tuple[str, ...] = ()
    seconds: float = 1.0
    fps: int = 24


_QUALITY = {"format": "jpeg", "quality": 20}
_MOUTH = {"mouth_x": 0.5, "mouth_y": 0.6, "mouth_width": 0.3}
_BOX = {"subject_x": 0.4, "subject_y": 0.5, "subject_width": 0.22, "subject_height": 0.5}
_MUSIC = {"music": "music", "voice": "voice"}
CASES: Mapping[str, Case] = {
    "animate": Case(
        media={"image": "ball"},
        values={"weather": "snow"},
        tries={"technique": {"technique": "ken_burns"}, "weather": {"weather": "fog"}},
    ),
    "background": Case(
        media={"image": "ball"},
        values={"operation": "replace"},
        tries={
            "prompt": {"prompt": "mountains"},
            "seed": {"prompt": "mountains"},
            "color": {"color": "navy"},
            "blur_strength": {"operation": "blur", "blur_strength": 1},
            "quality": _QUALITY,
            "mask": {"mask": "corner"},
            **dict.fromkeys(_BOX, _BOX),
        },
        against={name: {} for name in _BOX},
        plain=(*_BOX, "operation"),
    ),
    "drift": Case(prompt="misty hills at dusk", tries={"camera": {"camera": "pan_left"}}),
    "flythrough": Case(prompt="desert at noon"),
    "ken-burns": Case(
        media={"image": "ball"},
        tries={
            "camera": {"camera": "pan_left"},
            "focus_x": {"focus_x": 0.1, "focus_y": 0.5},
            "focus_y": {"focus_x": 0.5, "focus_y": 0.1},
        },
        against={"focus_x": {}, "focus_y": {}},
    ),
    "lip-sync": Case(
        media={"portrait": "face", "audio": "voice"},
        values={"fps": 25, "head_motion": 1},
        tries={
            **dict.fromkeys(_MOUTH, _MOUTH),
            "video": {"portrait": None, "video": "speaker"},
            "portrait": {"portrait": "smile"},
            "blink": {"audio": "longer", "blink": False},
        },
        against={**{name: {} for name in _MOUTH}, "video": {}, "portrait": {}},
        plain=tuple(_MOUTH),
        fps=25,
    ),
    "living-scene": Case(
        prompt="clear desert at noon",
        values={"clouds": False},
        tries={
            "family": {"family": "liquid"},
            "camera": {"camera": "pan_left"},
            "weather": {"weather": "snow"},
            "hours": {"hours": "day_to_night"},
        },
    ),
    "poster": Case(prompt="clear mountains at night"),
    "reframe": Case(media={"image": "ball"}),
    "restyle": Case(
        media={"image": "ball"},
        values={"look": "warm", "text": "Hello"},
        tries={
            "text": {"text": "Good day"},
            "font": {"font": "script"},
            "prompt": {"prompt": "noir", "look": "auto"},
            "stylize": {"stylize": "sketch"},
        },
    ),
    "retouch": Case(
        media={"image": "ball"},
        values={"operation": "denoise"},
        tries={
            "operation": {"operation": "sharpen"},
            "scale": {"operation": "upscale", "scale": 4},
            "mask": {"operation": "erase", "mask": "mask"},
            "seed": {"operation": "erase", "mask": "mask"},
        },
        against={"mask": {"operation": "erase", "mask": "corner"}},
        plain=("operation",),
    ),
    "scene": Case(prompt="sea at sunset"),
    "scene-fast": Case(prompt="sea at sunset"),
    "title-card": Case(
        prompt="Saturn is losing its rings",
        values={"background": "navy"},
        tries={
            "prompt": {"prompt": "Jupiter keeps its moons"},
            "font": {"font": "script"},
            "subtitle": {"subtitle": "A short story"},
            "accent": {"accent": "crimson"},
            "background": {"background": "yellow to purple"},
            "seed": {"background": "mountains at dusk"},
            "image": {"image": "ball", "background": None},
        },
    ),
    "video-edit": Case(
        media={"video": "clip"},
        tries={
            "start": {"start": 0.5},
            "end": {"end": 0.5},
            "captions": {"captions": "Good day"},
            "caption_style": {"captions": "Good day", "caption_style": "karaoke"},
            "caption_position": {"captions": "Good day", "caption_position": "top"},
            "fade_in": {"fade_in": 0.5},
            "fade_out": {"fade_out": 0.5},
            "fit": {"aspect_ratio": "9:16", "fit": "blurred_fill"},
            "music_volume": {"music": "music", "music_volume": 0.1},
            "duck": {**_MUSIC, "duck": False},
            "sound": {"sound": "mute"},
            "poster_time": {"poster_time": 0.9},
        },
        plain=("start", "end", "speed", "fade_in", "fade_out", "poster_time", "sound"),
        fps=25,
    ),
    "video-join": Case(
        media={"clips": "clip+next"},
        tries={
            "transition_seconds": {"transition": "crossfade", "transition_seconds": 0.3},
            "fit": {"aspect_ratio": "9:16", "fit": "blurred_fill"},
            "fps": {"fps": 50},
            "music_volume": {"music": "music", "music_volume": 0.1},
            "duck": {"music": "music", "duck": False},
            "sound": {"sound": "mute"},
        },
        plain=("transition", "transition_seconds", "sound", "fps"),
        seconds=2.0,
        fps=25,
    ),
}
#: Settings whose largest value takes too long for a test, or only changes the size of a file.
_COSTLY = {"size", "duration", "seed", "quality"}
#: Settings that are checked by the shape, the rate and the format of a result.
_SEEN = {"size", "duration", "format", "aspect_ratio", "resolution", "fps"}
_RESULTS = {"jpeg": "image/jpeg", "png": "image/png", "webp": "image/webp"}
_CODECS = {
    "mp4": ("video/mp4", "h264"),
    "mp4-av1": ("video/mp4", "av1"),
    "webm": ("video/webm", "vp9"),
}


def order_of(model: str, files: Files, changed: Values) -> dict[str, Any]:
    """Return the arguments of `render` for a model's order with some changes."""
    case = CASES[model]
    known = {parameter.name for parameter in engine_for(model).definition.media}
    media = {**case.media, **{name: v for name, v in changed.items() if name in known}}
    values = {name: v for name, v in changed.items() if name not in known}
    chosen = {name: [files(one) for one in text.split("+")] for name, text in media.items() if text}
    return {"prompt": case.prompt, **case.values, **values, "media": chosen}


Make: TypeAlias = Callable[..., Asset]


@pytest.fixture(scope="session")
def make(files: Files, tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Render a model's order with some changes, each only once."""

    @cache
    def render_once(model: str, changed: tuple[tuple[str, Any], ...]) -> Asset:
        folder = tmp_path_factory.mktemp(model)
        return render(model, folder, **order_of(model, files, dict(changed)))

    return lambda model, **changed: render_once(model, tuple(sorted(changed.items())))


def settings_of(model: str) -> Iterator[Parameter]:
    yield from engine_for(model).definition.settings


def check_size(asset: Asset, values: Values, source: tuple[int, int] | None) -> None:
    """Assert that a result has the size and the shape of its order."""
    across, down = source or (0, 0)
    aspect = values.get("aspect_ratio", "keep")
    if ":" in aspect:
        across, down = map(int, aspect.split(":"))
    # Sides are whole numbers, those of clips even ones.
    assert abs(asset.width * down - asset.height * across) <= 2 * max(across, down)
    resolution = values.get("resolution", "keep")
    if "size" in values:
        assert max(asset.width, asset.height) == values["size"]
    elif resolution[0].isdigit():
        assert min(asset.width, asset.height) == int(resolution[:-1])
    elif aspect in ("keep", "auto"):
        larger = values["scale"] if values.get("operation") == "upscale" else 1
        assert (asset.width, asset.height) == (across * larger, down * larger)


def check_picture(asset: Asset, values: Values) -> None:
    assert asset.content_type == _RESULTS[values["format"]]
    assert asset.duration_seconds is None
    with Image.open(asset.path) as picture:
        assert picture.get_format_mimetype() == asset.content_type
        assert picture.size == (asset.width, asset.height)


def check_clip(asset: Asset, values: Values, seconds: float, fps: float) -> None:
    kind, codec = _CODECS[values["format"]]
    assert asset.content_type == kind
    assert asset.duration_seconds == pytest.approx(seconds, abs=0.5 / fps)
    with av.open(str(asset.path)) as container:
        stream = container.streams.video[0]
        name = {"libdav1d": "av1"}.get(stream.codec_context.name, stream.codec_context.name)
        assert name == codec
        frames = list(container.decode(stream))
    assert {(frame.width, frame.height) for frame in frames} == {(asset.width, asset.height)}
    assert asset.width % 2 == asset.height % 2 == 0
    assert len(frames) == round(seconds * fps)
    times = [frame.time or 0.0 for frame in frames]
    assert times[0] == pytest.approx(0, abs=0.002)
    assert [b - a for a, b in pairwise(times)] == pytest.approx(
        [1 / fps] * (len(times) - 1), abs=0.002
    )


def check_asset(model: str, asset: Asset, files: Files, changed: Values) -> None:
    """Assert that a result matches its asset and its order."""
    order, case = order_of(model, files, changed), CASES[model]
    shown = [p for n, paths in order["media"].items() if n not in ("audio", "music") for p in paths]
    values = parameters_of(engine_for(model), **order)
    if asset.content_type.startswith("video/"):
        seconds = values.get("duration", case.seconds)
        check_clip(asset, values, seconds, values.get("fps") or case.fps)
    else:
        check_picture(asset, values)
    check_size(asset, values, size_of(shown[0]) if shown else None)
    assert asset.thumbnail is not None
    with Image.open(asset.thumbnail) as preview:
        assert (preview.format, preview.mode) == ("JPEG", "RGB")
        assert max(preview.size) <= 512
        assert preview.width / preview.height == pytest.approx(asset.width / asset.height, rel=0.03)
    assert len(json.dumps(dict(asset.metadata))) < 64_000
    assert asset.path.parent == asset.thumbnail.parent


def size_of(path: Path) -> tuple[int, int]:
    if path.suffix == ".png":
        with Image.open(path) as picture:
            return picture.size
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        return stream.width, stream.height


def rounds_of(model: str) -> Iterator[Values]:
    """Yield orders that together have every choice, both ends of numbers and both booleans."""
    plain = {*CASES[model].plain, *_COSTLY}
    settings = [p for p in settings_of(model) if p.name not in plain]
    choices: dict[str, list[Any]] = {}
    for number, parameter in enumerate(settings):
        values: list[Any] = list(parameter.enum or ())
        if parameter.type == "boolean":
            values = [False, True]
        if not values and parameter.minimum is not None and parameter.maximum is not None:
            values = [parameter.minimum, parameter.maximum]
        # Reversed, so that the largest size is not combined with the highest rate.
        choices[parameter.name] = values if number % 2 else values[::-1]
    for number in range(max(map(len, choices.values()))):
        yield {name: values[number] for name, values in choices.items() if number < len(values)}


ROUNDS = [(model, changed) for model in IDS for changed in rounds_of(model)]


def test_every_built_in_model_is_in_the_table() -> None:
    assert sorted(CASES) == IDS


@pytest.mark.parametrize(
    ("model", "changed"), ROUNDS, ids=lambda v: v if isinstance(v, str) else ""
)
def test_every_choice_renders_with_its_shape_rate_and_format(
    model: str, changed: Values, make: Make, files: Files
) -> None:
    check_asset(model, make(model, **changed), files, changed)


@pytest.mark.parametrize("model", IDS)
def test_results_are_deterministic_and_depend_on_the_seed(
    model: str, make: Make, files: Files, tmp_path: Path
) -> None:
    changed = CASES[model].tries.get("seed", {})
    first = make(model, **changed).path.read_bytes()
    seen: list[float] = []
    moments = [process_time()]
    threads = cv2.getNumThreads()

    def report(done: float) -> None:
        seen.append(done)
        moments.append(process_time())

    order = order_of(model, files, changed)
    again = render(model, tmp_path, progress=Progress(report), **order).path.read_bytes()

    assert first == again
    if any(parameter.name == "seed" for parameter in settings_of(model)):
        assert make(model, **{**changed, "seed": 2}).path.read_bytes() != first
    # Progress rises to 1 in short steps, so that a cancel does not wait long.
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert len(set(seen)) >= 4
    assert max(b - a for a, b in pairwise(moments)) < 1.5
    assert cv2.getNumThreads() == threads


def other_value(model: str, name: str) -> Any:
    """Return a value other than that of a setting or a medium in a model's order."""
    definition = engine_for(model).definition
    for medium in definition.media:
        if medium.name == name:
            return {"image": "other", "audio": "music"}[medium.type]
    if name == "prompt":
        return "a winter forest at noon"
    value = parameters_of(engine_for(model), **CASES[model].values).get(name)
    parameter = next(parameter for parameter in definition.settings if parameter.name == name)
    if parameter.type == "boolean":
        return not value
    among = parameter.enum or (parameter.minimum, parameter.maximum)
    return next(other for other in among if other not in (value, "auto", "keep"))


def list_parameters() -> Iterator[tuple[str, str]]:
    for model in IDS:
        names = [parameter.name for parameter in settings_of(model) if parameter.name != "seed"]
        names += [p.name for p in engine_for(model).definition.media if not p.required]
        names += ["prompt"] if engine_for(model).definition.supports_prompt else []
        yield from ((model, name) for name in names if name not in _SEEN)


@pytest.mark.parametrize(("model", "name"), list(list_parameters()))
def test_every_parameter_changes_the_result(
    model: str, name: str, make: Make, files: Files
) -> None:
    case = CASES[model]
    shown = case.tries.get(name) or {name: other_value(model, name)}
    plain = case.against.get(name, {key: v for key, v in shown.items() if key != name})

    one, other = make(model, **shown), make(model, **plain)

    if name == "poster_time":
        assert one.thumbnail is not None
        assert other.thumbnail is not None
        assert one.thumbnail.read_bytes() != other.thumbnail.read_bytes()
    else:
        assert one.path.read_bytes() != other.path.read_bytes()


@pytest.mark.parametrize("share", [0.0, 0.6])
@pytest.mark.parametrize("model", IDS)
def test_a_canceled_job_ends_at_its_next_report_without_threads(
    model: str, share: float, files: Files, tmp_path: Path
) -> None:
    seen: list[float] = []

    def report(done: float) -> None:
        seen.append(done)
        if done >= share:
            progress.cancel()

    progress = Progress(report)
    if not share:
        progress.cancel()
    threads = set(threading.enumerate())

    with pytest.raises(CanceledError):
        render(model, tmp_path, progress=progress, **order_of(model, files, {}))

    assert [done for done in seen if done >= share] == seen[-1:]
    for thread in set(threading.enumerate()) - threads:
        thread.join(5)
        assert not thread.is_alive()
    assert share or list(tmp_path.iterdir()) == []


def media_of() -> Iterator[tuple[str, str, str]]:
    for model in IDS:
        yield from ((model, p.name, p.type) for p in engine_for(model).definition.media)


def broken_files(kind: str) -> Iterator[bytes]:
    """Yield a text, and for a picture also half of one, no bytes, and one of 900 megapixels."""
    yield b"this is no file of that kind at all, though it is long enough for one"
    if kind == "image":
        whole = io.BytesIO()
        Image.fromarray(drawings.ball()).save(whole, "JPEG")
        yield whole.getvalue()[: len(whole.getvalue()) // 2]
        yield b""
        head = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
        chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(bytes(90_001))), (b"IEND", b""))
        yield b"\x89PNG\r\n\x1a\n" + b"".join(
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
            for name, data in chunks
        )


@pytest.mark.parametrize(("model", "name", "kind"), list(media_of()))
def test_a_broken_file_is_refused_with_a_message(
    model: str, name: str, kind: str, files: Files, tmp_path: Path
) -> None:
    order = order_of(model, files, CASES[model].tries.get(name, {}))
    for number, content in enumerate(broken_files(kind)):
        (path := tmp_path / f"input{number}").write_bytes(content)
        media = {**order["media"], name: [*order["media"].get(name, [])[1:], path]}

        with pytest.raises(EngineError) as caught:
            render(model, tmp_path / f"job{number}", **{**order, "media": media})

        assert len(str(caught.value).split()) >= 4
        assert str(tmp_path) not in str(caught.value)
        assert caught.value.code in {"undecodable", "too_large", "wrong_type"}
        del caught  # its traceback keeps files open, which fails on Windows
        assert list((tmp_path / f"job{number}").iterdir()) == []
