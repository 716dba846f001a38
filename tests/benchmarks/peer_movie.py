"""Print the CPU milliseconds of MoviePy for a zoom: drawn alone, then as a whole clip.

Run by `bench_film.py` with an interpreter that has MoviePy: ``peer_movie.py PICTURE FRAMES CLIP``.
"""

import os
import sys

import numpy as np
from moviepy import CompositeVideoClip, ImageClip, vfx

SIZE, FPS = (1280, 720), 24


def cpu() -> float:
    """Return the CPU time of this process and of the encoder that it started, in ms."""
    used = os.times()
    return 1000 * (used.user + used.system + used.children_user + used.children_system)


picture, frames, clip = np.load(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
seconds = frames / FPS
start = SIZE[0] / picture.shape[1]


def scale(t: float) -> float:
    """Return how large the picture is at a time."""
    return start / (1 - 0.24 * t / seconds)


def corner(t: float) -> tuple[float, float]:
    """Return where the picture's upper left corner is, so that a zoom leads to one point."""
    over = scale(t) / start - 1
    return -0.6 * SIZE[0] * over, -0.4 * SIZE[1] * over


still = ImageClip(picture, duration=seconds).with_effects([vfx.Resize(scale)])
zoom = CompositeVideoClip([still.with_position(corner)], size=SIZE).with_duration(seconds)
before = cpu()
for number in range(frames):
    zoom.get_frame(number / FPS)
drawn = cpu()
options = {"preset": "veryfast", "threads": 2, "ffmpeg_params": ["-crf", "20"]}
zoom.write_videofile(clip, fps=FPS, codec="libx264", audio=False, logger=None, **options)
print(drawn - before, cpu() - drawn)
