"""Edges of cutouts: gaps are opened, outlines snapped to edges, and rims decontaminated.

A guided filter aligns a small mask with the edges of the full picture; on an even background
single hairs and leaves are found by their color.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats
from kit.engines.media.noise import smooth_step
from kit.engines.media.scaling import blur, fit_size, resize

__all__ = ["clean_rim", "grow", "open_gaps", "refine_edge", "resize_like", "shrink_to", "to_lab"]


class _Backdrop(NamedTuple):
    """An even background: its colors in CIELAB, also behind the subject, and its roughness."""

    colors: Floats
    rough: float


def _backdrop(small: Bytes, found: Bytes) -> _Backdrop | None:
    """Return the background around a subject, or None if it is not even."""
    behind = (grow(found, 0.012 * max(found.shape)) == 0).astype(np.float32)
    if behind.sum() < 200:
        return None
    lab = to_lab(small)
    colors = np.broadcast_to(np.median(lab[behind > 0], axis=0), lab.shape)
    # From far to near: near pixels are the best estimate, if there are any.
    for reach in (0.5, 0.2, 0.06):
        sigma = reach * max(found.shape)
        weight = behind * (np.linalg.norm(lab - colors, axis=2) < 18 if reach < 0.5 else 1)
        total = blur(weight, sigma)[..., None] + 0.02
        rest = blur((lab - colors) * weight[..., None], sigma)
        colors = colors + rest / total
    away = np.linalg.norm(lab - colors, axis=2)[behind > 0]
    if (away < 9).mean() < 0.8:
        return None
    return _Backdrop(np.asarray(colors, np.float32), float(np.percentile(away[away < 9], 90)))


def open_gaps(small: Bytes, found: Bytes) -> tuple[Bytes, _Backdrop | None]:
    """Return a subject without the gaps through which an even background is visible."""
    back = _backdrop(small, found)
    if back is None:
        return found, None
    rest = to_lab(small) - back.colors
    away = np.asarray(np.linalg.norm(rest, axis=2), np.float32)
    similar = ((found > 0) & (away < max(4.5, 1.6 * back.rough))).astype(np.uint8)
    count, labels, facts, _ = cv2.connectedComponentsWithStats(similar, connectivity=4)
    out = found.copy()
    for number in range(1, count):
        piece = (labels == number).astype(np.uint8)
        rim = (grow(piece, 3) > grow(piece, 1)) & (found > 0)
        # Distinct edges all around, and as light as the background, which a shirt would not be.
        if (
            facts[number, cv2.CC_STAT_AREA] > 0.001 * found.size
            and rim.any()
            and (cv2.dilate(away, np.ones((3, 3)))[rim] > 12).mean() > 0.8
            and np.linalg.norm(rest[piece > 0].mean(axis=0)) < max(2.2, 0.7 * back.rough)
        ):
            out[piece > 0] = 0
    return out, back


def refine_edge(guide: Bytes, small: Bytes, found: Bytes, back: _Backdrop | None) -> Floats:
    """Return the coverage of each pixel of a larger picture by a subject.

    A guided filter: around each pixel the mask is fitted as a linear function of the color and
    then evaluated with the colors of the full picture. On an even background, single hairs and
    leaves along the outline are found by their distance from it toward the subject's own color.
    """
    image, mask = small.astype(np.float32) / 255, found.astype(np.float32)
    box = (15, 15)
    mean, mean_mask = cv2.blur(image, box), cv2.blur(mask, box)
    with_mask = cv2.blur(image * mask[..., None], box) - mean * mean_mask[..., None]
    pairs = (image[..., :, None] * image[..., None, :]).reshape(*mask.shape, 9)
    spread = np.dstack([cv2.blur(pairs[..., n], box) for n in range(9)]).reshape(*mask.shape, 3, 3)
    spread += 1e-3 * np.eye(3, dtype=np.float32) - mean[..., :, None] * mean[..., None, :]
    slope = np.linalg.solve(spread, with_mask[..., None])[..., 0]
    offset = mean_mask - (slope * mean).sum(axis=2)
    size = guide.shape[1::-1]
    share = cv2.resize(cv2.blur(offset, box), size)
    for own, color in zip(cv2.split(cv2.blur(slope, box)), cv2.split(guide), strict=True):
        large = cv2.resize(own, size)
        share += cv2.multiply(large, color, dst=large, scale=1 / 255, dtype=cv2.CV_32F)
    return np.asarray(
        share if back is None or back.rough > 4 else _key_out(guide, found, back, share)
    )


def _key_out(guide: Bytes, found: Bytes, back: _Backdrop, share: Floats) -> Floats:
    """Return the coverage with thin parts added by their color difference to an even background."""
    less = shrink_to(guide, 1200)
    size = less.shape[1::-1]
    rest = to_lab(less) - cv2.resize(back.colors, size)
    weight = np.maximum(np.linalg.norm(rest, axis=2) - 16.0, 0.0) ** 2
    reach = 0.008 * max(size)
    own = blur(rest * weight[..., None], reach)
    own /= np.maximum(blur(weight, reach), 1e-2)[..., None]
    distance = np.maximum(np.linalg.norm(own, axis=2), 1.0)
    mix = np.einsum("ijk,ijk->ij", rest, own) / distance**2
    off = np.linalg.norm(rest - mix[..., None] * own, axis=2)
    noise = 1.2 * back.rough / distance
    mix = np.clip((mix - noise) / np.maximum(0.92 - noise, 0.1), 0.0, 1.0)
    # Pixels that are only darker than the background may be shadow; colors off the line between
    # both colors are not a mixture of them.
    shadow = (own[..., 0] < 0) & (own[..., 0] > -26) & (np.hypot(own[..., 1], own[..., 2]) < 6)
    surely = smooth_step(14.0, 26.0, distance) * np.exp(-((off / (5 + back.rough)) ** 2)) * ~shadow
    side = max(found.shape)
    band = grow(found, 0.06 * side) - (grow(1 - found, 0.004 * side) == 0)
    surely *= cv2.resize(cv2.GaussianBlur(band.astype(np.float32), (0, 0), 1.0), size)
    known = cv2.resize(share, size, interpolation=cv2.INTER_AREA)
    # Only the difference is enlarged: unchanged edges stay sharp.
    return np.asarray(share + cv2.resize(surely * (mix - known), share.shape[::-1]), np.float32)


_FULL_COVER = 250  # coverage from which a pixel has the color of the subject alone
_BAND_ROWS = 256  # of a band in which single pixels are changed


def clean_rim(pixels: Bytes, alpha: Bytes) -> Bytes:
    """Replace the background's color in partly covered pixels by the subject's own, in place.

    Otherwise a cutout has a rim of its old background's color on the new one.
    """
    small = shrink_to(pixels, 1200)
    sure = (resize_like(alpha, small) > _FULL_COVER).astype(np.float32)
    reach = max(2.0, max(small.shape) / 300)
    weight, near = blur(sure, reach), blur(small * sure[..., None], reach)
    near /= np.maximum(weight, 1e-4)[..., None]
    colors = np.rint(np.dstack([near, 255 * smooth_step(0.002, 0.02, weight)])).clip(0, 255)
    colors = cv2.resize(colors.astype(np.uint8), alpha.shape[::-1])
    # In bands: indexing single pixels blocks all other threads.
    for top in range(0, len(pixels), _BAND_ROWS):
        cover, part = alpha[top : top + _BAND_ROWS], pixels[top : top + _BAND_ROWS]
        edge = np.nonzero((cover > 0) & (cover <= _FULL_COVER))
        wanted, seen = colors[top : top + _BAND_ROWS][edge] * np.float32(1 / 255), part[edge]
        share = wanted[:, 3:] * smooth_step(1.0, 0.8, cover[edge] / np.float32(255))[:, None]
        part[edge] = np.rint(seen + share * (255 * wanted[:, :3] - seen))
    return pixels


def shrink_to(pixels: Bytes, side: int) -> Bytes:
    """Return a picture scaled down to a longer side, but not below 16 pixels."""
    return np.asarray(resize(pixels, *fit_size(pixels.shape, side, least=16)))


def resize_like(plane: Any, small: Bytes) -> Any:
    """Return a plane scaled to the size of a smaller picture."""
    return np.asarray(resize(plane, *small.shape[1::-1]))


def to_lab(pixels: Bytes) -> Floats:
    """Return a picture in CIELAB, lightness 0 to 100."""
    return np.asarray(cv2.cvtColor(pixels.astype(np.float32) / 255, cv2.COLOR_RGB2LAB))


def grow(mask: Bytes, reach: float) -> Bytes:
    """Return a mask dilated by a number of pixels."""
    size = 2 * max(1, round(reach)) + 1
    return np.asarray(cv2.dilate(mask, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size))))
