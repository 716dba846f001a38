"""What drawing frames costs beside encoding them, and beside other tools for the same move.

Run it: ``python tests/benchmarks/bench_film.py [--moviepy PYTHON]``. CPU time of all threads is
counted, the candidates take turns, and what counts are ratios within one run; absolute figures are
noise. All of it runs in the environment of a render process. MoviePy is measured with the
interpreter that is named, which needs nothing but MoviePy.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import av
import cv2
import numpy as np

from kit.engines.base import Job, Progress
from kit.engines.film.filming import Draw, Take, view_at
from kit.engines.film.flight import Flight
from kit.engines.film.kenburns import MOVES, CropRoom, StillCamera
from kit.engines.film.living import Living
from kit.engines.film.parallax import DepthRelief, blocks_of, padded_size
from kit.engines.film.weather import Weather
from kit.engines.media.clip import Clip, rgb_frame, views
from kit.engines.media.encoding import CODECS
from kit.engines.media.threads import one_thread
from kit.engines.models.poster import Poster
from kit.engines.painting.families import paint
from kit.engines.prompt.reading import read
from kit.service.worker.pool import ENVIRONMENT

FRAMES, ROUNDS, PAIRS = 72, 3, 9
TAKE = Take(width=1280, height=720, fps=24, frames=FRAMES, camera="arc", motion=0.6)
PROMPT = {"aspect_ratio": "1:1", "size": 1024}


def cpu_seconds() -> float:
    """Return the CPU time of this process, all threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measure(work: Callable[[], object]) -> float:
    """Return the CPU milliseconds of some work."""
    before = cpu_seconds()
    work()
    return 1000 * (cpu_seconds() - before)


def draw_all(draw: Draw) -> None:
    """Draw all frames and keep none: memory that is new for each would cost as much again."""
    for number in range(FRAMES):
        draw(number)


def encode(frames: Iterator[np.ndarray], folder: Path) -> None:
    """Encode frames into a clip."""
    with Clip(folder / "clip.mp4", TAKE.width, TAKE.height, fps=TAKE.fps) as clip:
        for frame in frames:
            clip.add(frame)


def picture() -> np.ndarray:
    """Return a picture with detail of all sizes, larger than the frame."""
    rng = np.random.default_rng(1)
    total = np.zeros((1080, 1920, 3), np.float32)
    for cells, weight in ((6, 60.0), (24, 30.0), (96, 14.0), (384, 6.0)):
        noise = rng.standard_normal((cells, cells * 16 // 9, 3)).astype(np.float32)
        total += weight * cv2.resize(noise, (1920, 1080), interpolation=cv2.INTER_CUBIC)
    return np.clip(total + 120, 0, 255).astype(np.uint8)


def ken_burns(pixels: np.ndarray) -> Draw:
    """Return the frames of a zoom."""
    return StillCamera(pixels, MOVES["zoom_in"](CropRoom(1.0, 1.0, (0.6, 0.4), 0.6)), TAKE).frame


def parallax(pixels: np.ndarray, *, snow: bool = False) -> Draw:
    """Return the frames of a camera before a picture with depth."""
    depth = np.repeat(np.linspace(0, 1, 720, dtype=np.float32)[:, None], 1280, axis=1)
    relief = DepthRelief(depth, TAKE)
    blocks = blocks_of(relief.planes(pixels))
    air = Weather("snow", (1280, 720), np.random.default_rng(1), TAKE.seconds, False)

    def draw(number: int) -> np.ndarray:
        out = np.empty((1080, 1280), np.uint8)
        frame = views(out, 1280, 720)
        moment = TAKE.moment(number)
        relief.view(blocks, view_at(replace(TAKE, camera="arc"), number)).spread(frame)
        if snow:
            air.draw(frame, moment)
        return out

    return draw


def living(prompt: str) -> Draw:
    """Return the frames of a scene that comes alive."""
    take = Take(width=1280, height=720, fps=24, frames=FRAMES, camera="push", motion=0.6)
    width, height = padded_size(take)
    brief = replace(read(prompt, PROMPT, 1), width=width, height=height)
    scene = Living(brief, [paint(brief, Progress())], take, clouds=True)
    return scene.frame


def flight() -> Draw:
    """Return the frames of a flight over a lake."""
    take = Take(width=1280, height=720, fps=24, frames=FRAMES, camera="glide", motion=0.6)
    return Flight(read("an alpine lake at sunset", PROMPT, 3), take, Progress()).frame


def zoompan(pixels: np.ndarray, folder: Path) -> float:
    """Return the CPU milliseconds of FFmpeg's zoompan for as many frames, encoding not counted.

    It is fed one picture larger than the frame, as its users do against its steps of whole pixels.
    """
    graph = av.filter.Graph()
    source = graph.add_buffer(width=1920, height=1080, format="yuv420p", time_base="1/24")
    asked = f"z='1+0.24*on/{FRAMES}':x='iw*0.6-iw/zoom*0.6':y='ih*0.4-ih/zoom*0.4'"
    pan = graph.add("zoompan", f"{asked}:d={FRAMES}:s=1280x720:fps=24")
    sink = graph.add("buffersink")
    source.link_to(pan)
    pan.link_to(sink)
    graph.configure()

    def work() -> None:
        frame = av.VideoFrame.from_numpy_buffer(rgb_frame(pixels), format="yuv420p")
        frame.pts = 0
        graph.push(frame)
        graph.push(None)
        for _ in range(FRAMES):
            graph.pull()

    return measure(work)


def moviepy(python: str, pixels: np.ndarray, folder: Path) -> tuple[float, float, float]:
    """Return the CPU milliseconds of MoviePy's zoom: drawn, as a clip like ours, as its own."""
    source, script = folder / "picture.npy", Path(__file__).with_name("peer_movie.py")
    np.save(source, pixels)
    order = [python, str(script), str(source), str(FRAMES), str(folder / "peer.mp4")]
    order.append(CODECS["h264"].options["x264-params"])
    done = subprocess.run(order, capture_output=True, text=True, check=True)
    drawn, clip, plain = (float(part) for part in done.stdout.split())
    return drawn, clip, plain


def print_shares(name: str, draw: Draw, folder: Path) -> None:
    """Print what drawing adds to encoding the same frames.

    Of the limit is what encoding alone takes, of what drawing and encoding take together: first
    by their sum, then while one goes on beside the other.
    """
    draw(0)
    rounds = []
    for _ in range(ROUNDS):
        drawn = measure(lambda: draw_all(draw))
        frames = [draw(number) for number in range(FRAMES)]
        alone = measure(lambda kept=frames: encode(iter(kept), folder))
        both = measure(lambda: encode((draw(n) for n in range(FRAMES)), folder))
        rounds.append((drawn / FRAMES, alone / FRAMES, alone / (alone + drawn), alone / both))
    drawn, alone, share, beside = (
        statistics.median(column) for column in zip(*rounds, strict=True)
    )
    print(f"{name:<28}{drawn:>9.1f}{alone:>9.1f}{share:>9.2f}{beside:>9.2f}")


def spread(ratios: Sequence[float]) -> str:
    """Return the median of some ratios, and their least and largest."""
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def print_zooms(pixels: np.ndarray, folder: Path, python: str | None) -> None:
    """Print what other tools take for the zoom of ken-burns."""
    ours = ken_burns(pixels)
    pans, movies, clips, plains, limits = [], [], [], [], []
    zoompan(pixels, folder)
    for _ in range(PAIRS):
        # Before and after the other: other load of the machine slows down both.
        before = measure(lambda: draw_all(ours))
        panned = zoompan(pixels, folder)
        pans.append(panned / statistics.mean((before, measure(lambda: draw_all(ours)))))
    for _ in range(ROUNDS if python else 0):
        drawn, clip, plain = moviepy(str(python), pixels, folder)
        movies.append(drawn / measure(lambda: draw_all(ours)))
        made = measure(lambda: encode(map(ken_burns(pixels), range(FRAMES)), folder))
        clips.append(clip / made)
        plains.append(plain / made)
        kept = [ours(number) for number in range(FRAMES)]
        limits.append(clip / measure(lambda frames=kept: encode(iter(frames), folder)))
    print("\nthe same zoom, CPU against ken-burns (above 1: slower), median (least to largest)")
    print(f"  FFmpeg zoompan  {spread(pans)}")
    print(f"  MoviePy         {spread(movies) if movies else 'skipped: no --moviepy'}")
    if clips:
        # Encoding is most of a clip: a tool that drew in no time would not be faster than this.
        print(f"  MoviePy, clip   {spread(clips)}; against encoding alone {spread(limits)}")
        print(f"    its own way   {spread(plains)}")


def main() -> None:
    """Measure and print the tables."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--moviepy", metavar="PYTHON", help="an interpreter with MoviePy")
    python = options.parse_args().moviepy
    pixels = picture()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"{'720p, CPU ms a frame':<28}{'draw':>9}{'encode':>9}{'of limit':>9}{'beside':>9}")
        with one_thread():  # as these models are filmed
            print_shares("ken-burns", ken_burns(pixels), folder)
            print_shares("parallax", parallax(pixels), folder)
            print_shares("parallax and snow", parallax(pixels, snow=True), folder)
            for prompt in ("mountain lake at sunset", "pine forest at dawn", "nebula"):
                print_shares(prompt, living(prompt), folder)
            print_shares("flythrough", flight(), folder)

        with one_thread():
            print_zooms(pixels, folder, python)

        print("\n1024 x 1024, CPU ms")
        values = {p.name: p.default for p in Poster.definition.settings}
        job = Job(prompt="mountains at dusk", parameters=values, folder=folder, seed=1)
        Poster().render(job, Progress())  # the first one loads modules and tables
        posters = [measure(lambda: Poster().render(job, Progress())) for _ in range(15)]
        print(f"  poster, encoded {statistics.median(posters):.0f}")
        for prompt in ("a mountain lake at sunset", "neon city street in the rain", "a nebula"):
            brief = read(prompt, PROMPT, 1)
            scenes = [measure(lambda seen=brief: paint(seen, Progress())) for _ in range(ROUNDS)]
            print(f"  scene, {brief.family:<8} {statistics.median(scenes):.0f}")


def use_render_environment() -> None:
    """Start again in the environment of a render process: libraries read it when they load."""
    if any(os.environ.get(name) != value for name, value in ENVIRONMENT.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ENVIRONMENT})


if __name__ == "__main__":
    use_render_environment()
    main()
