"""Print the CPU milliseconds of MoviePy for a zoom: drawn alone, then two whole clips.

The first clip is encoded as ours is, the second one as MoviePy does by itself. Run by
`bench_film.py` with an interpreter that has MoviePy: ``peer_movie.py PICTURE FRAMES CLIP OPTIONS``,
where the options are those of x264.
"""

import itertools
import os
import sys
from typing import Any

import numpy as np

SIZE, FPS = (1280, 720), 24


def cpu() -> float:
    """Return the CPU time of this process and of the encoder that it started, in ms."""
    used = os.times()
    return 1000 * (used.user + used.system + used.children_user + used.children_system)


def make_zoom(picture: np.ndarray, seconds: float) -> Any:
    """Return a clip that zooms into one point of a picture."""
    from moviepy import CompositeVideoClip, ImageClip, vfx

    start = SIZE[0] / picture.shape[1]

    def scale(t: float) -> float:
        return start / (1 - 0.24 * t / seconds)

    def corner(t: float) -> tuple[float, float]:
        over = scale(t) / start - 1
        return -0.6 * SIZE[0] * over, -0.4 * SIZE[1] * over

    still = ImageClip(picture, duration=seconds).with_effects([vfx.Resize(scale)])
    return CompositeVideoClip([still.with_position(corner)], size=SIZE).with_duration(seconds)


def main() -> None:
    """Draw all frames, then make the clip."""
    frames = int(sys.argv[2])
    zoom = make_zoom(np.load(sys.argv[1]), frames / FPS)
    before = cpu()
    for number in range(frames):
        zoom.get_frame(number / FPS)
    drawn = cpu()
    equal = ["-crf", "20", "-x264-params", sys.argv[4]]
    ours: dict[str, Any] = {"preset": "veryfast", "threads": 2, "ffmpeg_params": equal}
    moments = [drawn]
    for options in (ours, {}):
        zoom.write_videofile(
            sys.argv[3], fps=FPS, codec="libx264", audio=False, logger=None, **options
        )
        moments.append(cpu())
    print(drawn - before, *(after - start for start, after in itertools.pairwise(moments)))


if __name__ == "__main__":
    main()
