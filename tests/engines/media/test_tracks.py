import tracemalloc
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from kit.engines.media.sound import fitted, joined, laid, leveled, mixed, stretched
from kit.engines.media.tracks import RATE, Sound, Worked, gathered


def noise(seconds: float, seed: int = 1, level: float = 0.2) -> Sound:
    count = round(seconds * RATE)
    rng = np.random.default_rng(seed)
    loud = np.repeat(rng.random(-(-count // 4800)) ** 2, 4800)[:count]
    samples = rng.standard_normal((2, count)) * level * loud
    return Sound(samples.astype(np.float32))


def humming(seconds: float) -> Sound:
    """Return a long sound of which nothing is there until it is read."""

    def part(first: int, last: int) -> np.ndarray:
        line = 0.2 * np.sin(np.arange(first, last) * (2 * np.pi * 300 / RATE))
        return np.stack([line, line]).astype(np.float32)

    return Sound(Worked(2, round(seconds * RATE), part))


MADE = {
    "louder, its peaks held": lambda: leveled(noise(2.0), -6.0),
    "over music": lambda: mixed(noise(2.0), noise(3.0, seed=2)),
    "repeated and faded": lambda: fitted(noise(0.4), 3.0, loop=True, fade_in=0.7, fade_out=0.9),
    "one after another": lambda: joined(noise(1.0), noise(1.0, seed=2), 0.3),
    "laid over one another": lambda: laid([(500, noise(1.0)), (9000, noise(2.0))], 2.0),
    "slower": lambda: stretched(noise(1.0), 0.5),
}


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_parts_of_any_length_are_the_same_as_the_whole(made: Callable[[], Sound]) -> None:
    sound = made()
    whole = sound.samples
    bounds = [0, 1, 4800, 4831, 20_000, 21_111, 50_001, sound.count]

    parts = [sound.part(a, b) for a, b in pairwise(bounds)]

    assert whole.shape == (2, sound.count)
    assert np.array_equal(np.concatenate(parts, axis=1), whole)
    assert whole.any()


def test_outside_of_a_sound_it_is_silent() -> None:
    sound = noise(0.1)

    around = sound.part(-10, sound.count + 5)

    assert np.array_equal(around[:, 10:-5], sound.samples)
    assert not around[:, :10].any()
    assert not around[:, -5:].any()
    assert not sound.part(RATE, RATE + 3).any()


def test_what_lies_in_a_file_is_the_same_and_leaves_nothing_behind(tmp_path: Path) -> None:
    parts = [noise(0.5).samples, noise(0.7, seed=2).samples]

    held, kept = gathered(parts, 2), gathered(parts, 2, tmp_path)

    assert kept.seconds == held.seconds == 1.2
    assert np.array_equal(kept.samples, held.samples)
    assert np.array_equal(kept.part(23_000, 25_000), held.part(23_000, 25_000))
    assert list(tmp_path.iterdir()) == []
    assert gathered([], 1, tmp_path).samples.shape == (1, 0)


def test_minutes_of_sound_are_never_held_whole(tmp_path: Path) -> None:
    minutes = humming(100.0)  # 38 MB
    tracemalloc.start()
    try:
        kept = gathered((part for _, part in minutes.parts()), 2, tmp_path)
        both = leveled(mixed(kept, fitted(noise(3.0), 100.0, loop=True)))
        loudest = max(float(np.abs(part).max()) for _, part in both.parts())
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert 0.2 < loudest < 0.9
    assert most < 25e6
