"""The files of samples: pictures, short films of a handheld camera, and sounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from shutil import copyfile

import cv2
import numpy as np

from kit.engines.media.clip import Clip, rgb_frame
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.picture import encode
from kit.engines.media.scaling import resize
from kit.engines.media.sound import cut
from kit.engines.media.soundfile import open_sound
from kit.engines.media.stills import open_still
from kit.engines.samples import views

_SIZE, _FACE_SIZE = (640, 360), (384, 480)  # of films of places and of the face
_FOLDER = Path(__file__).parent
_FPS, _SECONDS = 25, 3.0
#: Prompt and seed of the filmed places; a balloon flies over the first.
_PLACES = (
    ("a mountain lake at noon, clear sky, summer", 8),
    ("red desert mesas at sunset, clear sky", 4),
    ("a sea at sunset with low waves", 8),
)
_FORMATS = {".jpg": "jpeg", ".png": "png"}
_GROUND_WIDTH, _EDGE, _SHAKE = 900, 16, 3.0  # pixels


def _write_picture(draw: Callable[[], Bytes], name: str, folder: Path) -> Path:
    path = folder / name
    path.write_bytes(encode(draw(), _FORMATS[path.suffix]))
    return path


def _copy(name: str, folder: Path) -> Path:
    return Path(copyfile(_FOLDER / name, folder / name))


def _film_place(number: int, folder: Path) -> Path:
    """Pan slowly over a place, with music."""
    path, (prompt, seed) = folder / f"clip-{number}.mp4", _PLACES[number]
    ground = views.paint_place(prompt, _GROUND_WIDTH, seed)
    sound = cut(open_sound(_FOLDER / "music.m4a"), number * 2.0, number * 2.0 + _SECONDS)
    shake = _shake(seed)
    room = np.array(ground.shape[1::-1]) - _SIZE
    with Clip(path, *_SIZE, fps=_FPS, sound=sound) as clip:
        for share, moved in zip(np.linspace(0, 1, len(shake)), shake, strict=True):
            pixels = ground
            if number == 0:
                pixels = views.add_balloon(ground, 0.62 + 0.2 * share, 0.46 - 0.1 * share, 0.12)
            clip.add(_cut_frame(pixels, room * (0.25 + 0.5 * share, 0.5) + moved, _SIZE))
    return path


def _film_face(folder: Path) -> Path:
    path, width = folder / "speaker.mp4", _FACE_SIZE[0] + 2 * _EDGE
    portrait = open_still(_FOLDER / "portrait.jpg").pixels
    ground = np.asarray(resize(portrait, width, round(width * len(portrait) / portrait.shape[1])))
    with Clip(path, *_FACE_SIZE, fps=_FPS) as clip:
        for moved in _shake(seed=3):
            clip.add(_cut_frame(ground, _EDGE - moved, _FACE_SIZE))
    return path


def _cut_frame(pixels: Bytes, corner: Floats, size: tuple[int, int]) -> Bytes:
    matrix = np.column_stack([np.eye(2), -corner])
    return rgb_frame(
        np.asarray(cv2.warpAffine(pixels, matrix, size, borderMode=cv2.BORDER_REFLECT))
    )


def _shake(seed: int) -> Floats:
    """Return the shake of a handheld camera at each frame, in pixels, shape (frames, 2)."""
    noise = np.random.default_rng(seed).normal(0, 1, (round(_SECONDS * _FPS) + 4, 2))
    soft = noise[:-4] + noise[1:-3] + noise[2:-2] + noise[3:-1]
    return np.asarray(_SHAKE / 2 * soft, np.float32)


#: Name -> the function that writes it into a folder.
FILES: Mapping[str, Callable[[Path], Path]] = {
    "portrait": partial(_copy, "portrait.jpg"),
    "picture": partial(_write_picture, views.draw_lake, "picture.jpg"),
    "mask": partial(_write_picture, views.draw_mask, "mask.png"),
    "grainy": partial(_write_picture, views.draw_grainy, "grainy.jpg"),
    "small": partial(_write_picture, views.draw_small, "small.png"),
    "clip": partial(_film_place, 0),
    "clip-1": partial(_film_place, 1),
    "clip-2": partial(_film_place, 2),
    "speaker": _film_face,
    "voice": partial(_copy, "voice.m4a"),
    "music": partial(_copy, "music.m4a"),
}
