"""Sample inputs for models, drawn and played procedurally: no real face, voice or photograph.

A sample has the same bytes each time on one machine. The portrait, the voice and the music are
files beside this module; the code for the others is imported when needed.
"""

from collections.abc import Mapping
from pathlib import Path

__all__ = ["ABOUT", "write_sample"]

#: Name -> description, also for users who cannot see or hear it.
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


def write_sample(name: str, folder: Path) -> Path:
    """Write a sample, one of `ABOUT`, into a folder and return its path.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_sample("voice", Path(folder)).name
    'voice.m4a'
    """
    from kit.engines.samples.files import FILES

    return FILES[name](folder)
