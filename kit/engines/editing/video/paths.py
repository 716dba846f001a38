"""Smooth paths from what a survey saw: of a steadied camera and of a crop that follows."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.editing.video.framing import Frame
from kit.engines.editing.video.survey import Moves, Survey, shots
from kit.engines.media.color import Floats

_CALM = 0.65  # seconds over which a steadied camera averages its way
#: Seconds over which a crop averages its way: the first that leaves it by less than a share of the
#: crop's length, as whoever runs to and fro is soon out of a crop that turns slowly.
_GLIDES, _OFF = (0.6, 0.45, 0.3), 0.25
#: How far the picture may be enlarged to hide the edges that steadying lays bare.
_LEAST, _MOST = 1.04, 1.14
_LARGEST = np.array([0.06, 0.06, 0.035, 0.04])  # of the corrections
_PLACES = 49  # where a crop may stand
_LAZY = 0.3  # what a move over the whole way costs, against looking at the best place
#: How softly a place draws the crop's middle, in shares of the crop's length; and what it counts
#: to hold it anywhere, against holding it in the middle.
_SOFT, _ANYWHERE = 0.3, 0.3
_CALMLY = 0.25  # of the crop's length: for less than this it does not move at all

Line = NDArray[np.float64]


def steadied(seen: Survey, fps: float, frame: Frame) -> tuple[Moves, float]:
    """Return the correction of each frame and by how much to enlarge the picture.

    Parameters
    ----------
    frame : Frame
        The picture's size and that of the part which is shown.

    Returns
    -------
    corrections : ndarray
        Shape (frames, 4), in the units of `Moves`.
    zoom : float
        1.04 to 1.14.
    """
    corrections = np.zeros_like(seen.moves)
    for shot in shots(seen.cuts):
        way = np.cumsum(seen.moves[shot], axis=0)
        smooth = np.stack([_smoothed(line, _CALM * fps) for line in way.T], axis=1)
        # A large correction is held back softly, so that it never runs into a wall.
        corrections[shot] = _LARGEST * np.tanh((smooth - way) / _LARGEST)
    wide, high = frame.window
    across, down, turn, size = np.abs(corrections).T
    width = frame.whole[0]
    edges = (
        2 * across * width / wide + turn * high / wide,
        2 * down * width / high + turn * wide / high,
    )
    needed = 1 + float(np.maximum(*edges).max()) + float(size.max())
    return corrections, float(np.clip(needed, _LEAST, _MOST))


def followed(seen: Survey, share: float, *, across: bool, fps: float) -> Line:
    """Return where a crop begins in each frame, in shares of the way that it can go, 0 to 1.

    Parameters
    ----------
    share : float
        Length of the crop, in shares of the frame's.
    across : bool
        Whether it moves to the side or up and down.
    """
    frames = len(seen.cuts)
    out = np.full(frames, 0.5)
    for shot in shots(seen.cuts):
        inside = [(n, m) for n, m in seen.looks if shot.start <= n < shot.stop]
        if not inside:
            continue
        held = np.stack([_held(look, share, across=across) for _, look in inside])
        places = _best_way(held) / (_PLACES - 1)
        if np.ptp(places) * (1 - share) < _CALMLY * share:
            places[:] = places.mean()
        at = np.interp(np.arange(shot.start, shot.stop), [n for n, _ in inside], places)
        # Smoothing goes on in a straight line past the ends, which may lead out of the picture.
        out[shot] = np.clip(_gliding(at, _OFF * share / max(1 - share, 1e-9), fps), 0.0, 1.0)
    return out


def _gliding(at: Line, most: float, fps: float) -> Line:
    """Return a way averaged over as long as it is not left by more than `most`."""
    smooth = at
    for seconds in _GLIDES:
        smooth = _smoothed(at, seconds * fps)
        if np.abs(smooth - at).max() <= most:
            break
    return smooth


def _held(look: Floats, share: float, *, across: bool) -> Line:
    """Return how well a crop shows what draws the eye at each of its places, 0 to about 1.

    Whatever holds a thing holds as much of it at its edge as in its middle. To the side, what is
    striking therefore counts most in the middle; up and down a head is to keep its hair, and the
    body below it must not draw the crop.
    """
    starts = np.linspace(0.0, 1.0 - share, _PLACES)
    line = look.sum(axis=0 if across else 1, dtype=np.float64)
    sums = np.concatenate([[0.0], np.cumsum(line)])
    knots = np.linspace(0.0, 1.0, len(sums))
    inside = np.interp(starts + share, knots, sums) - np.interp(starts, knots, sums)
    inside /= max(sums[-1], 1e-9)
    if not across:
        return np.asarray(inside)
    striking = (np.maximum(look - np.float32(np.median(look)), 0.0) ** 2).sum(axis=0)
    at = (np.arange(len(line)) + 0.5) / len(line)
    away = (at - starts[:, None] - share / 2) / (_SOFT * share)
    centered = np.exp(-0.5 * away**2) @ striking / max(float(striking.sum()), 1e-9)
    return np.asarray(centered + _ANYWHERE * inside)


def _best_way(held: Line) -> Line:
    """Return the place at each look that holds most while moving little, over all looks at once."""
    places = np.arange(_PLACES) / (_PLACES - 1)
    cost = _LAZY * np.abs(places[:, None] - places[None, :])
    # Equal places are all as good as the middle one.
    score = held[0] - 1e-4 * np.abs(places - 0.5)
    back = []
    for look in held[1:]:
        reached = score[None, :] - cost
        back.append(reached.argmax(axis=1))
        score = reached.max(axis=1) + look - 1e-4 * np.abs(places - 0.5)
    way = [int(score.argmax())]
    for choice in reversed(back):
        way.append(int(choice[way[-1]]))
    return np.array(way[::-1], np.float64)


def _smoothed(line: Line, sigma: float) -> Line:
    """Average along a line with a bell of a width in frames; the ends go on as they are."""
    if len(line) < 2 or sigma < 0.5:
        return line
    reach = round(3 * sigma)
    bell = cv2.getGaussianKernel(2 * reach + 1, sigma).ravel()
    # Mirrored through its ends, a steady pan stays a steady pan up to the last frame.
    before = 2 * line[0] - line[1 : reach + 1][::-1]
    after = 2 * line[-1] - line[-reach - 1 : -1][::-1]
    padded = np.concatenate([before, line, after])
    padded = np.pad(padded, (reach - len(before), reach - len(after)), mode="edge")
    return np.convolve(padded, bell, "valid")
