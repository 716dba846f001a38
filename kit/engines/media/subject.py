"""The subject of a picture and its certainty: faces first, then saliency.

All that crops, follows, cuts out or covers uses this module, so that all keep the same heads.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import cv2
import numpy as np

from kit.engines.media import faces, networks
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.faces import Face
from kit.engines.media.scaling import fit_size, resize

__all__ = ["Subject", "crop", "find", "subject_probability"]

_MAP_SIDE = 96  # pixels of the saliency map; it needs no detail
_INPUT_SIDE, _SOURCE_SIDE = 256, 640  # pixels a side of the network's input, and of its source
_FACE_WEIGHT, _COVER_WEIGHT = 2.4, 1.0  # weights of faces and of the network, relative to saliency
_HEADROOM = 0.9  # the area around a face that still counts, in sizes of the face
_MIN_FACE = 0.4  # of the largest face's width: smaller faces may be cropped away
#: Extent of a head from the center of its face: left, up, right and down, in face widths.
_HEAD = (-0.7, -1.0, 0.7, 0.7)
_TOP_WEIGHTS = (0.4, 1.6)  # weights of the bottom and the top of the area that the network finds
_HEAD_SHARE = 0.35  # of its height: the head, if it has one
_BLUR_SHARE = 0.12  # of the map: a single bright dot is not a subject
# The network keeps its layers while it runs, so two threads must not use it at the same time.
_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class Subject:
    """The position of a picture's subject, in pixels of the picture."""

    faces: tuple[Face, ...]  # largest first
    attention: Floats  # saliency of each place, about 0 to 4, at most 96 pixels a side
    size: tuple[int, int]  # width and height of the picture
    certainty: float  # of there being a subject at all, 0 to 1; 1 with a face
    #: First and last row of the upper part of the subject: its head, if it has one.
    top: tuple[float, float] = (0.0, 0.0)

    @property
    def center(self) -> tuple[float, float]:
        """The center of attention, as shares of the picture's width and height."""
        height, width = self.attention.shape
        reach = _BLUR_SHARE * max(height, width)
        calm = cv2.GaussianBlur(self.attention, (0, 0), reach, borderType=cv2.BORDER_CONSTANT)
        row, column = divmod(int(calm.argmax()), width)
        return (column + 0.5) / width, (row + 0.5) / height

    def window(self, aspect: float) -> tuple[int, int, int, int]:
        """Return the largest crop of an aspect (width / height) that keeps heads and subject.

        The crop is (left, top, width, height) in pixels, inside the picture.
        """
        width, height = self.size
        wide = min(width, max(1, round(height * aspect)))
        high = min(height, max(1, round(width / aspect)))
        return self._start(0, wide), self._start(1, high), wide, high

    def _start(self, axis: int, length: int) -> int:
        """Return the start of the interval with the most attention, in pixels; heads stay whole."""
        whole = self.size[axis]
        if length >= whole:
            return 0
        sums = np.concatenate([[0.0], np.cumsum(self.attention.sum(axis=axis), dtype=np.float64)])
        knots = np.linspace(0.0, whole, len(sums))
        starts = np.arange(whole - length + 1)
        for count in (len(self.faces), 1):
            heads = [self._head(face, axis) for face in self.faces[:count]]
            if not heads and axis == 1 and self.top[1]:
                heads = [self.top]
            first = min((head[0] for head in heads), default=whole)
            last = max((head[1] for head in heads), default=0)
            kept = starts[(starts <= first) & (starts + length >= last)]
            if len(kept):
                starts = kept
                break
        held = np.interp(starts + length, knots, sums) - np.interp(starts, knots, sums)
        # Of equal intervals use the middle one: a plain picture is cropped in its center.
        best = np.flatnonzero(held >= held.max() - 1e-6 * max(1.0, sums[-1]))
        return int(starts[best[len(best) // 2]])

    def _head(self, face: Face, axis: int) -> tuple[float, float]:
        """Return the start and end of a head along an axis, clipped to the picture."""
        if face.width < _MIN_FACE * self.faces[0].width:
            return float(self.size[axis]), 0.0
        ends = (face.center[axis] + _HEAD[axis + side] * face.width for side in (0, 2))
        first, last = (min(max(end, 0.0), float(self.size[axis])) for end in ends)
        return first, last


def find(pixels: Bytes, *, people: bool = True, found: Sequence[Face] | None = None) -> Subject:
    """Return the subject of a picture.

    Face detection takes most of the time; it is skipped if faces are given as `found` or if
    `people` is false.

    Source: Hou and Zhang, "Saliency detection: a spectral residual approach" (CVPR 2007).
    """
    height, width = pixels.shape[:2]
    scale = _MAP_SIDE / max(height, width)
    size = (max(8, round(width * scale)), max(8, round(height * scale)))
    near = resize(pixels, *fit_size(pixels.shape, _SOURCE_SIDE))
    small, cover = resize(near, *size), np.asarray(resize(subject_probability(near), *size))
    lab = cv2.cvtColor(small, cv2.COLOR_RGB2LAB).astype(np.float32)
    contrast = np.linalg.norm(lab - lab.mean(axis=(0, 1)), axis=2)
    striking = 0.1 + 0.6 * _spectral_residual(lab[..., 0])
    striking += 0.6 * _scale_to_one(cv2.GaussianBlur(contrast, (0, 0), 2))
    rows, columns = np.mgrid[0 : size[1], 0 : size[0]].astype(np.float32)
    across, down = (columns + 0.5) / size[0] - 0.5, (rows + 0.5) / size[1] - 0.48
    center = np.exp(-((across / 0.42) ** 2) - (down / 0.45) ** 2)
    weights = striking * (0.35 + 0.65 * center)
    inside, top = np.flatnonzero((cover > 0.5).any(axis=1)), (0.0, 0.0)
    if len(inside):
        # Heads are at the top, those of animals too.
        tall = float(inside[-1] + 1 - inside[0])
        low, high = _TOP_WEIGHTS
        share = high + (low - high) * np.clip((rows - inside[0]) / tall, 0.0, 1.0)
        weights += _COVER_WEIGHT * np.maximum(cover - 0.2, 0.0) * share
        first = float(inside[0]) * height / size[1]
        top = (first, first + _HEAD_SHARE * tall * height / size[1])
    if found is None:
        found = faces.find(near, pixels.shape) if people else ()
    for face in found:
        x, y = (at * size[0] / width for at in face.center)
        reach = _HEADROOM * face.width * size[0] / width
        weights += _FACE_WEIGHT * np.exp(-((columns - x) ** 2 + (rows - y) ** 2) / reach**2)
    sure = 1.0 if found else float(cover[cover > 0.5].mean()) if (cover > 0.5).any() else 0.0
    return Subject(tuple(found), weights.astype(np.float32), (width, height), sure, top)


def crop(pixels: Bytes, aspect: float) -> Bytes:
    """Return the crop of a picture to `Subject.window`, as a view."""
    height, width = pixels.shape[:2]
    if (width, height) == (min(width, round(height * aspect)), min(height, round(width / aspect))):
        return pixels
    x, y, wide, high = find(pixels).window(aspect)
    return pixels[y : y + high, x : x + wide]


def subject_probability(pixels: Bytes) -> Floats:
    """Return the probability that each place belongs to the subject, 0 to 1, shape (256, 256).

    The network is for people in front of a camera; it recognizes animals and single objects too.
    """
    blob = cv2.dnn.blobFromImage(resize(pixels, _INPUT_SIDE, _INPUT_SIDE), 1 / 255)
    with _LOCK:
        network = _network()
        network.setInput(blob)
        return np.array(network.forward()[0, 0], np.float32)


@cache
def _network() -> Any:
    # Read with NumPy: OpenCV cannot open every path on Windows.
    return cv2.dnn.readNetFromTFLite(np.fromfile(networks.SUBJECTS, np.uint8))


def _spectral_residual(gray: Floats) -> Floats:
    spectrum = np.fft.fft2(gray)
    loud = np.log(np.abs(spectrum) + 1e-6).astype(np.float32)
    rest = loud - cv2.blur(loud, (3, 3))
    energy = np.abs(np.fft.ifft2(np.exp(rest + 1j * np.angle(spectrum)))) ** 2
    return _scale_to_one(cv2.GaussianBlur(energy.astype(np.float32), (0, 0), 3))


def _scale_to_one(weights: Floats) -> Floats:
    return np.asarray(weights / max(float(weights.max()), 1e-6), np.float32)
