"""Voices: what a mouth does to make a sound, for every frame of a clip.

Loudness between 250 and 1000 Hz is how far the jaw is down, the balance of the bands above it
tells spread lips from round ones, hiss brings the teeth together, and a short drop between two
louder moments is a closure. It hears how a mouth moves, not which letter is spoken. What goes on
behind the voice all the time is taken off before, and where no voice is heard the mouth stays shut.

Source: the ranges of the first two formants and of frication, G. E. Peterson and H. L. Barney,
"Control methods used in a study of the vowels" (1952).
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.editing.lipsync.speech import MOMENTS, moments_of, soft, voiced
from kit.engines.media.color import Floats
from kit.engines.media.noise import smooth_step
from kit.engines.media.sound import Sound

#: Nothing softer than this is taken for a voice, in dB of full scale.
_FAINTEST = -52.0
#: Sound lies behind a voice that is there again in this percentage of the seconds about a moment;
#: noise is louder than its softest moments by the second figure, and the share of the sound that
#: the third says is always left, so that bands can be compared.
_SHARE, _WITHIN, _OVER, _LEFT = 10, 3.0, 1.5, 0.02
#: What a mouth takes to open and to close, and how much earlier it moves than it sounds, seconds.
_OPENING, _CLOSING, _AHEAD = 0.028, 0.060, 0.045


@dataclass(frozen=True, slots=True)
class Speech:
    """What the mouth does in each frame, float32 arrays of shape (frames,).

    Parameters
    ----------
    jaw : ndarray
        How far the mouth is open: 0 closed, about 1 at the loudest open vowels.
    spread : ndarray
        From -1, lips round as in "oo", to 1, spread as in "ee".
    hiss : ndarray
        0 to 1: teeth together, as in "s".
    closure : ndarray
        0 to 1: lips pressed together, as in "p".
    stress : ndarray
        0 to 1: slow loudness, what a head nods to.
    """

    jaw: Floats
    spread: Floats
    hiss: Floats
    closure: Floats
    stress: Floats

    def __len__(self) -> int:
        return len(self.jaw)


def heard(sound: Sound, fps: int, progress: Progress | None = None) -> Speech:
    """Return what a mouth does to a sound, one value for each frame of its length, at least one."""
    count = max(1, int(np.ceil(sound.seconds * fps - 1e-6)))
    moments = moments_of(sound.samples.mean(axis=0), progress or Progress())
    sure = voiced(moments)
    tracks = _tracks(_foreground(moments.mouth), sure)
    at = (np.arange(count) + 0.5) / fps + _AHEAD
    times = np.arange(len(moments)) / MOMENTS
    sampled = (np.interp(at, times, track).astype(np.float32) for track in tracks)
    return Speech(*sampled)


def _foreground(bands: Floats) -> Floats:
    """Return the energy of each band without what sounds behind the voice all the time."""
    behind = _lowest(soft(bands, 0.03))
    return np.asarray(np.maximum(bands - _OVER * behind, _LEFT * bands), np.float32)


def _lowest(bands: Floats) -> Floats:
    """Return the energy to which each band falls again and again within some seconds."""
    step = MOMENTS // 10
    coarse, half = bands[:, ::step], round(_WITHIN * 10)
    # At the ends there is less to look at; what would lie beyond them is left out.
    padded = np.pad(coarse, ((0, 0), (half, half)), constant_values=np.nan)
    views = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1, axis=1)
    low = np.nanpercentile(views, _SHARE, axis=2)
    moments = np.arange(bands.shape[1])
    rows = [np.interp(moments, moments[::step], row) for row in low]
    return np.asarray(rows, np.float32)


def _tracks(bands: Floats, sure: Floats) -> tuple[Floats, ...]:
    voicing, low, middle, high, hissing = bands
    total = bands.sum(axis=0)
    loudness = _own(_decibels(total), sure)
    level = _own(_decibels(low + middle + 0.3 * voicing), sure)
    gate = _gate(loudness, level)
    hiss = smooth_step(0.25, 0.7, hissing / total) * np.clip(1.6 * _above(loudness, 26), 0, 1)
    spread = _spread(np.log(high / middle), gate) * gate * (1 - hiss)
    # Open vowels have their lowest resonance high, closed ones and hums next to the voicing.
    openness = low / (low + voicing)
    jaw = _above(level, 26) ** 1.35 * (0.3 + 0.7 * openness) * (1 - 0.7 * hiss) * gate
    # Sounds between "ee" and "oo" aside: a spread mouth is never wide open, nor is a round one.
    jaw *= 1 - 0.35 * np.abs(spread) ** 1.5
    opened = (jaw > 0.05) & (sure > 0.5)
    jaw /= max(0.25, float(np.percentile(jaw[opened], 92)) if opened.any() else 1.0)
    closure = _soft(smooth_step(7, 15, _dip(loudness)) * (hiss < 0.3), 0.012)
    jaw = _eased(np.clip(jaw, 0, 1.15) * sure, _OPENING, _CLOSING) * (1 - closure)
    return (
        np.asarray(jaw, np.float32),
        _soft(_eased(spread * sure, 0.05, 0.07), 0.015),
        _soft(hiss * sure, 0.02),
        np.asarray(closure * sure, np.float32),
        _soft(_above(level, 30) * gate * sure, 0.22),
    )


def _own(level: Floats, sure: Floats) -> Floats:
    """Return a level in which nothing is louder than the voice, as music before it may be."""
    spoken = level[sure > 0.5]
    return np.minimum(level, np.percentile(spoken, 97) + 2) if len(spoken) else level


def _spread(balance: Floats, gate: Floats) -> Floats:
    """Return -1 to 1 from the balance of bands, which also differs from voice to voice."""
    spoken = balance[gate > 0.5]
    usual = float(np.clip(np.median(spoken), -2.5, 2.0)) if len(spoken) else 0.0
    return np.asarray(np.clip(0.4 * (balance + 0.3 - 0.65 * (usual + 0.3)), -1, 1), np.float32)


def _decibels(energy: Floats) -> Floats:
    return np.asarray(10 * np.log10(energy), np.float32)


def _top(level: Floats) -> float:
    return max(float(np.percentile(level, 95)), _FAINTEST + 20)


def _above(level: Floats, span: float) -> Floats:
    """Return where a level is between its top less a span (0) and its top (1)."""
    return np.asarray(np.clip((level - _top(level)) / span + 1, 0, 1.1), np.float32)


def _gate(loudness: Floats, level: Floats) -> Floats:
    """Return 0 where there is nothing but the room, 1 where somebody speaks."""
    room = float(np.percentile(loudness, 8))
    least = min(max(_top(loudness) - 30, room + 3, _FAINTEST), _top(loudness) - 14)
    return np.asarray(
        smooth_step(least, least + 5, loudness) * smooth_step(_FAINTEST, _FAINTEST + 5, level),
        np.float32,
    )


def _dip(loudness: Floats) -> Floats:
    """Return by how many dB each moment is softer than the loudest just before and just after."""
    # 30 to 110 ms away: longer than a pitch period, shorter than a pause between words.
    padded = np.pad(loudness, 11, mode="edge")
    views = np.lib.stride_tricks.sliding_window_view(padded, 23)
    before, after = views[:, :8].max(axis=1), views[:, -8:].max(axis=1)
    return np.asarray(np.minimum(before, after) - loudness, np.float32)


def _eased(track: Floats, rise: float, fall: float) -> Floats:
    """Return a track that follows with one time constant upward and another downward, seconds."""
    up, down = (1 - float(np.exp(-1 / (MOMENTS * seconds))) for seconds in (rise, fall))
    out = np.empty(len(track), np.float32)
    value = 0.0
    for number, wanted in enumerate(track.tolist()):
        value += (wanted - value) * (up if wanted > value else down)
        out[number] = value
    return out


def _soft(track: Floats, seconds: float) -> Floats:
    smooth = cv2.GaussianBlur(track[None].astype(np.float32), (0, 0), seconds * MOMENTS)
    return np.asarray(smooth[0])
