"""Sample inputs for models, drawn and played by rule: nobody's face, voice or photograph.

Each function writes one file into a folder and returns its path; the same call gives the same
bytes on one machine. What draws and plays is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

__all__ = [
    "ABOUT",
    "SAMPLES",
    "clip",
    "grainy",
    "mask",
    "music",
    "picture",
    "portrait",
    "small",
    "speaker",
    "voice",
    "written",
]


def portrait(folder: Path) -> Path:
    """Return a portrait of an invented person who looks at the camera, a JPEG.

    `kit.engines.media.faces` finds the face and both eyes.
    """
    from kit.engines.media.picture import write
    from kit.engines.samples.face import portrait as drawn

    return write(drawn(), folder, "portrait", "jpeg")[0]


def picture(folder: Path) -> Path:
    """Return a painted mountain lake with a balloon over it, a JPEG of 1200 x 800 pixels."""
    from kit.engines.media.picture import write
    from kit.engines.samples.views import view

    return write(view(), folder, "picture", "jpeg")[0]


def mask(folder: Path) -> Path:
    """Return the mask of the balloon in `picture`, a PNG: white where it is."""
    from kit.engines.media.picture import write
    from kit.engines.samples.views import balloon_mask

    return write(balloon_mask(), folder, "mask", "png")[0]


def small(folder: Path) -> Path:
    """Return `picture` at a quarter of its size, a PNG of 300 x 200 pixels."""
    from kit.engines.media.picture import write
    from kit.engines.samples.views import small as drawn

    return write(drawn(), folder, "small", "png")[0]


def grainy(folder: Path) -> Path:
    """Return `picture`, smaller and as a small sensor sees it at night: with noise, a JPEG."""
    from kit.engines.media.picture import write
    from kit.engines.samples.views import grainy as drawn

    return write(drawn(), folder, "grainy", "jpeg")[0]


def clip(folder: Path, number: int = 0) -> Path:
    """Return a clip of three seconds with music, an MP4 of 640 x 360 pixels.

    Parameters
    ----------
    number : int
        Which place it shows, a lake (0), a desert (1) or a sea (2); others repeat them.
    """
    from kit.engines.samples.films import film

    return film(folder / f"clip-{number}.mp4", number)


def speaker(folder: Path) -> Path:
    """Return a clip of `portrait` held by hand, three seconds without sound, an MP4."""
    from kit.engines.samples.films import close

    return close(folder / "speaker.mp4")


def voice(folder: Path) -> Path:
    """Return something like speech, a WAV of about three seconds: vowels, hisses and pauses."""
    from kit.engines.samples.sounds import saved, spoken

    return saved(folder / "voice.wav", spoken())


def music(folder: Path) -> Path:
    """Return eight seconds of quiet plucked music that can repeat, a WAV."""
    from kit.engines.samples.sounds import played, saved

    return saved(folder / "music.wav", played())


#: Name -> what writes it.
SAMPLES: Mapping[str, Callable[[Path], Path]] = {
    "portrait": portrait,
    "picture": picture,
    "mask": mask,
    "grainy": grainy,
    "small": small,
    "clip": clip,
    "clip-1": lambda folder: clip(folder, 1),
    "clip-2": lambda folder: clip(folder, 2),
    "speaker": speaker,
    "voice": voice,
    "music": music,
}
#: Name -> what is seen or heard, for who cannot.
ABOUT: Mapping[str, str] = {
    "portrait": "an invented person with long brown hair who looks at the camera",
    "picture": "a painted mountain lake with a red and yellow balloon over it",
    "mask": "white where the balloon is in the picture, black elsewhere",
    "grainy": "the picture of the lake with the noise of a small sensor at night",
    "small": "the picture of the lake at a quarter of its size",
    "clip": "a balloon over a mountain lake, filmed by hand, with music",
    "clip-1": "red desert mesas at sunset, filmed by hand, with music",
    "clip-2": "a sea at sunset, filmed by hand, with music",
    "speaker": "the portrait, filmed by hand, without sound",
    "voice": "something like speech, three seconds",
    "music": "quiet plucked music, eight seconds",
}


def written(name: str, folder: Path) -> Path:
    """Return a sample by its name, one of `SAMPLES`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written("voice", Path(folder)).name
    'voice.wav'
    """
    return SAMPLES[name](folder)
