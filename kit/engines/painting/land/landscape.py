"""Landscapes: the camera, the light, and the steps of painting land.

Every family of land or sea defines its own heights and ground, and shares the other steps: sky,
visible ground, haze, objects, and at the end light beams and weather.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Floats, Oklch
from kit.engines.media.noise import smooth_step
from kit.engines.painting.camera import FAR, Camera, Heights, View, spread_slices, trace, unit
from kit.engines.painting.looks import HourLook, look_for
from kit.engines.painting.noise import Plane, blur, octave, slopes
from kit.engines.painting.painting import Motion, Painting, Window
from kit.engines.painting.sky import Sky, draw_falling, draw_flock, paint_sky, sun_of
from kit.engines.painting.tone import blend, light
from kit.engines.prompt.brief import Brief

#: Direction to the light: right, along z, up; of length 1.
Direction: TypeAlias = tuple[float, float, float]
#: Size of a map: for a still, x from -512 to 512 and z from 0 to 1024, in meters.
SPAN = 1024
#: Detail -> points of a map per side, slices of the ground.
_MAP_POINTS = {"low": 512, "standard": 768, "high": 1024}
_SLICES = {"low": 460, "standard": 760, "high": 1100}
#: Composition -> factor on the disc of the sun or moon.
_DISCS = {"wide": 0.8, "close": 1.5, "minimal": 1.6, "dramatic": 1.5}
_SUN_GAP = 0.5  # minimum distance of the subject from a sun that is asked for
_MAX_HORIZON = 0.80
_OCCLUSION = 0.88  # pixels nearer than this share of a distance occlude it
_HAZE_METERS = 900.0  # meters over which haze of 1 lets a third of the light through
_BAND_PIXELS = 200_000  # pixels shaded at a time: they fit a processor's cache
#: End of the ground.
HORIZON = 940.0


#: Composition -> factors: the height of the subject in the frame (part), its prominence (main), the
#: height of all else (others), the nearness of land (near), number and size of plants and stones
#: (plants, grown), the height of waves (swell).
_FRAMINGS = {
    "": dict.fromkeys(("part", "main", "others", "near", "plants", "grown", "swell"), 1.0),
    "wide": {"part": 0.62, "plants": 1.25, "grown": 0.6, "swell": 0.7},
    "close": {"part": 1.3, "main": 1.6, "near": 1.9, "plants": 0.7, "grown": 1.5, "swell": 1.2},
    "low": {"part": 1.15, "grown": 1.1},
    "minimal": {"part": 0.62, "main": 2.0, "others": 0.10, "plants": 0.04, "swell": 0.3},
    "dramatic": {
        "part": 1.32, "main": 2.2, "others": 0.72, "plants": 1.2, "grown": 0.66, "swell": 1.5
    },
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Relief:
    """A map of the world before the camera, by z (down) and x (right)."""

    heights: Floats
    #: Slope to the right, slope along z, sky visibility (about 0.4 to 1.3), sunlight (0 to 1).
    traits: Floats

    def height(self, x: Plane, z: Plane) -> Floats:
        """Return heights at places."""
        return look_up(self.heights, x, z)

    def at(self, x: Plane, z: Plane) -> Floats:
        """Return the traits at places, shape (*x.shape, 4)."""
        return look_up(self.traits, x, z)


def grid(points: int) -> tuple[Floats, Floats]:
    """Return x and z of a map with a number of points per side, shapes (1, n) and (n, 1)."""
    steps = np.arange(points, dtype=np.float32) * np.float32(SPAN / points)
    return (steps - np.float32(SPAN / 2))[None], steps[:, None]


def relief_of(heights: Floats, sun: Direction) -> Relief:
    """Return a map with its traits."""
    points = heights.shape[0]
    steep = slopes(heights, points / SPAN)
    # Light is softer than land.
    side = points // 2
    small = cv2.resize(heights, (side, side), interpolation=cv2.INTER_AREA)
    open_ = np.ones_like(small)
    for sigma, dark, least in ((14.0, 0.035, 0.40), (3.5, 0.09, 0.6), (1.25, 0.22, 0.5)):
        above = small - blur(small, sigma * side / SPAN)
        above *= np.float32(dark)
        above += np.float32(1)
        open_ *= np.clip(above, least, 1.22, out=above)
    soft = (cv2.resize(plane, (points, points)) for plane in (open_, _sunlight(small, sun)))
    return Relief(heights, np.asarray(cv2.merge([*steep, *soft])))


def look_up(field: Floats, x: Plane, z: Plane) -> Floats:
    """Return a map's values at places (possibly none); it is extended beyond its sides."""
    if not x.size:
        return np.zeros((*x.shape, *field.shape[2:]), np.float32)
    dense = np.float32(field.shape[0] / SPAN)
    across = np.asarray((x + np.float32(SPAN / 2)) * dense, np.float32)
    down = np.asarray(z * dense, np.float32)
    places = np.atleast_2d(across), np.atleast_2d(down)
    found = cv2.remap(field, *places, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(found if x.ndim > 1 else found[0])


def _sunlight(heights: Floats, sun: Direction) -> Floats:
    """Ray march toward the sun over a reduced map; the penumbra widens with distance."""
    points = heights.shape[0]
    half = min(points, SPAN // 2)
    small = cv2.resize(heights, (half, half), interpolation=cv2.INTER_AREA)
    flat = float(np.hypot(sun[0], sun[1]))
    right, along, tangent = sun[0] / flat, sun[1] / flat, sun[2] / flat
    block = np.full_like(small, -1e3)
    flags = cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP
    border = cv2.BORDER_REPLICATE
    for step in np.unique(np.geomspace(1, half / 4.6, 30).astype(int)):
        matrix = np.array([[1.0, 0.0, round(right * step)], [0.0, 1.0, round(along * step)]])
        other = cv2.warpAffine(small, matrix, (half, half), flags=flags, borderMode=border)
        other -= small
        other -= np.float32(step * SPAN / half * tangent)
        other *= np.float32(1.0 / (step**0.5 + 1.0))
        np.maximum(block, other, out=block)
    shadow = smooth_step(-0.25, 1.0, block)
    return np.asarray(1.0 - cv2.resize(shadow, (points, points)), np.float32)


class Landscape:
    """A landscape in progress.

    The horizon is a share of the frame, the height of the camera is in meters, with a factor for
    high or low viewpoints, `focal` is in widths of a square frame.
    """

    sky: Sky
    land: Relief
    view: View
    behind: Floats  # light of the sky and all objects in it, of the whole frame
    light: Floats  # of the painting so far, shape (3, rows, columns)
    depth: Floats  # in meters
    water: Floats | None = None  # coverage of each pixel by water
    still = False  # whether the water reflects its surroundings
    mist = 0.3  # density of mist in low places, 0 to 1
    clear = 25.0  # meters up to which there is no haze
    planted = 0  # number of plant kinds so far

    def __init__(
        self,
        brief: Brief,
        progress: Progress,
        *,
        horizon: float,
        height: float,
        focal: float = 0.92,
        raised: float = 2.0,
        lowered: float = 0.6,
    ) -> None:
        self.brief, self.progress = brief, progress
        self.words = words = brief.composition
        self.look = look = look_for(brief)
        said = [_FRAMINGS[word] for word in words if word in _FRAMINGS]
        names = _FRAMINGS[""]
        self.framing = {name: math.prod(it.get(name, 1.0) for it in said) for name in names}
        width, rows = brief.width, brief.height
        lens = focal * brief.lens * max(width, 0.82 * rows)
        level = min(horizon + 0.05 * (rows > 1.4 * width) + brief.horizon, _MAX_HORIZON)
        if "thirds" in words:
            level = 1 / 3 if "high" in words else 2 / 3
        height *= lowered if "low" in words else raised if "high" in words else 1.0
        self.camera = Camera(width, rows, lens, level * rows, height)
        rng = self.rng(1)
        self.subject, across = self._places(rng)
        size = math.prod(_DISCS.get(word, 1.0) for word in words) * (1.25 if look.named else 1.0)
        self.sun = sun_of(look, self.camera, across, size)
        # Light is from the sun's side: grazing if low, from behind by day.
        side = across - 0.5 or float(rng.choice([-1, 1])) * 0.1
        along = 0.55 if look.elevation < 0.5 else 0.05
        self.toward = unit(side * 1.6 + math.copysign(0.8, side), along, look.high_light * 1.2)
        self.points, self.slices = _MAP_POINTS[brief.detail], _SLICES[brief.detail]
        self.motions: list[Motion] = []

    def rng(self, stream: int) -> np.random.Generator:
        """Return an independent random generator for a part of the picture."""
        return np.random.default_rng([self.brief.seed, stream])

    def side(self, beyond: float = 60.0) -> Floats:
        """Return the lateral position of each point of the map: 1 at the edge of the frame."""
        x, z = grid(self.points)
        return np.asarray(x / (self.camera.widest * (z + beyond)), np.float32)

    def has(self, *things: str) -> bool:
        """Return whether the prompt asks for any of some objects."""
        return not self.brief.things.isdisjoint(things)

    def paint_sky(self, end: float) -> None:
        """Paint the sky, up to a share of the whole progress."""
        part = self.progress.part(0.0, end)
        self.sky = paint_sky(self.look, self.camera, self.sun, self.rng(3), part)
        self.light = self.sky.light
        if self.sky.curtains is not None:
            shine = self.sky.curtains
            down, across = np.indices(shine.shape, np.float32) / np.float32(shine.shape[1])
            # Upright rays: noise hardly varies along them. Broad and fine waves move oppositely.
            waves = (24.0, 90.0, 9.0, 0.24), (24.0, 420.0, -16.0, 0.17)
            at, mask = (slice(0, len(shine)), slice(None)), shine / (shine + np.float32(0.1))
            along = across + 0.1 * down
            self.motions.append(Motion("curtains", at, mask, down, along, waves, max_gain=0.6))
        self.progress.report(end)

    def lay_out(self, heights: Floats, *, clouds: float = 0.0) -> None:
        """Set the heights of the land; `clouds` is the strength of cloud shadows."""
        self.land = relief_of(heights, self.toward)
        if clouds:  # light patches guide the eye
            rng, points = self.rng(9), len(heights)
            gaps = octave(rng, points, 9) + 0.5 * octave(rng, points, 21)
            reach = smooth_step(50, 150, grid(points)[1])  # near ground is lit
            shade = np.float32(clouds) * smooth_step(0, -0.5, gaps) * reach
            self.land.traits[..., 3] *= 1.0 - shade

    def trace_view(
        self,
        surface: Heights,
        end: float,
        *,
        far: float = HORIZON,
        near: float = 0.26,
        even: float = 0.38,
        slices: int | None = None,
    ) -> None:
        """Trace a surface to find the visible point of each pixel."""
        part = self.progress.part(end - 0.1, end)
        count = slices or self.slices
        distances = spread_slices(near * self.camera.nearest, far, count, even)
        self.view = trace(surface, self.camera, distances, part)
        self.depth = self.view.z.copy()
        self.behind, self.light = self.light, self.light.copy()

    def bands(self) -> list[slice]:
        """Return the rows with anything but sky, in bands."""
        step = max(16, _BAND_PIXELS // self.camera.columns)
        starts = range(self.view.first, self.camera.rows, step)
        return [slice(start, min(start + step, self.camera.rows)) for start in starts]

    @cached_property
    def air(self) -> Floats:
        """The fog color, shape (3, 1, columns)."""
        x = np.arange(self.camera.columns, dtype=np.float32)
        return self.air_beside_sun((x - np.float32(self.sun.x)) / np.float32(self.camera.focal))

    def air_beside_sun(self, aside: Floats) -> Floats:
        """Return the fog color at offsets from the sun, shape (3, 1, n); it is brightest there.

        Offsets, shape (n,), are tangents or radians.
        """
        look, off, shine = self.look, np.abs(aside)[None], light(self.look.sun)
        air = blend(light(look.far), light(look.air), np.exp(-1.3 * off)[None])
        glow = np.float32(0.36 * look.glow / float(shine.max())) * np.exp(-2.6 * off)
        return np.asarray(air + shine * glow, np.float32)

    def haze(self, z: Floats, height: Floats) -> Floats:
        """Return the haze at places, 0 to 1."""
        return haze(self.look, z, height, max(self.mist, self.look.mist), self.clear)

    def blend(self, at: Window, color: Floats, cover: Floats, nearest: float) -> None:
        """Composite a color on a window where nothing is nearer than a distance."""
        patch = self.light[:, *at]
        patch += (color - patch) * (cover * (self.depth[at] > nearest * _OCCLUSION))

    def shade(self, tone: Oklch, sun: float, sky: float, z: float) -> Floats:
        """Return a color lit by shares of sun and sky, with haze, shape (3, 1, 1)."""
        look = self.look
        own = light(tone) * (
            light(look.sun, sun * look.sun_power) + light(look.shade, sky * look.shade_power)
        )
        lost = self.haze(np.full((1, 1), z, np.float32), np.full((1, 1), 8.0, np.float32))
        return np.asarray(own * (1.0 - lost) + light(look.air) * lost, np.float32)

    def lower_at_sun(self, heights: Floats) -> Floats:
        """Return heights with a saddle below a sun or moon that is asked for."""
        sun, camera = self.sun, self.camera
        if not sun.named:
            return heights
        x, z = grid(self.points)
        column = camera.columns / 2 + x * camera.focal / np.maximum(z, 1.0)
        beside = np.maximum(np.abs(column - sun.x) - 1.7 * sun.radius, 0.0) * np.float32(0.75)
        row = np.minimum(sun.y + 1.25 * sun.radius, camera.horizon) - beside
        free = camera.height + (camera.horizon - row) * z / np.float32(camera.focal)
        lower = heights - 0.94 * np.maximum(heights - free, 0.0)
        return np.asarray(np.where(z > 60.0, lower, heights), np.float32)

    def fill(self, outline: Plane, color: Plane, share: float, z: float | None = None) -> None:
        """Fill an antialiased outline in pixels, at a distance if one is given."""
        low, high = outline.min(axis=0), outline.max(axis=0)
        box = window(self.light.shape, (low + high) / 2, *((high - low) / 2 + 2))
        patch = self.light[:, *box]
        if not patch.size:
            return
        mask = np.zeros(patch.shape[1:], np.uint8)
        points = np.round((outline - (box[1].start, box[0].start)) * 16).astype(np.int32)
        cv2.fillPoly(mask, [points], 255, cv2.LINE_AA, 4)
        patch += (color - patch) * (mask * np.float32(share / 255))
        if z is not None:
            self.depth[box][mask > 127] = z

    def add_beams(self, behind: NDArray[np.bool_], color: Floats, floor: float) -> None:
        """Add light beams from the sun past the pixels of `behind`.

        `color` is their strength in each plane; light below `floor` gives no beams.
        """
        _, height, width = self.light.shape
        size = (max(2, width // 6), max(2, height // 6))
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        for plane, strength in zip(self.light, color.ravel(), strict=True):
            small = cv2.resize(plane * behind, size, interpolation=cv2.INTER_AREA)
            small = np.clip(small - floor, 0.0, 2.0)
            for shrink in (0.983, 0.966, 0.933, 0.87, 0.75, 0.55):
                shift = (self.sun.x / 6 * (1 - shrink), self.sun.y / 6 * (1 - shrink))
                matrix = np.array([[shrink, 0.0, shift[0]], [0.0, shrink, shift[1]]])
                moved = cv2.warpAffine(
                    small, matrix, size, flags=flags, borderMode=cv2.BORDER_REPLICATE
                )
                small = 0.5 * (small + moved)
            cv2.scaleAdd(cv2.resize(small, (width, height)), float(strength), plane, dst=plane)

    def finish(self, *, beams: bool = True) -> Painting:
        """Return the finished painting."""
        if beams and self.sun.shown and not self.sun.moon:
            self.add_beams(self.view.sky, np.full(3, 0.5 * self.look.glow, np.float32), 0.7)
        self.progress.report(0.95)
        camera, (lightness, chroma, hue), rng = self.camera, self.look.shade, self.rng(90)
        # Drops scatter light of all directions: hardly any color remains.
        bright = light((lightness, 0.25 * chroma, hue), 0.45 + 0.75 * self.look.shade_power)
        draw_falling(self.light, self.brief, bright, rng)
        if self.has("birds"):
            flock = np.zeros((camera.rows, camera.columns), np.uint8)
            middle = rng.uniform(0.25, 0.75) * camera.columns, rng.uniform(0.35, 0.65)
            draw_flock(flock, rng, (middle[0], middle[1] * camera.horizon), camera.columns)
            self.light *= 1.0 - np.float32(0.85 / 255) * flock
        open_ = self.depth >= FAR
        emitters = None
        if self.sky.stars is not None:
            emitters = np.zeros(self.depth.shape, np.float32)
            stars = self.sky.stars
            emitters[: len(stars)] = np.minimum(stars, 1.0) * open_[: len(stars)]
        self.progress.report(1.0)
        return Painting(
            light=self.light,
            film=self.look.film,
            depth=np.where(open_, np.float32(np.inf), self.depth),
            sky=open_.astype(np.float32),
            water=self.water,
            still=self.still,
            emitters=emitters,
            motions=tuple(self.motions),
        )

    def _places(self, rng: np.random.Generator) -> tuple[float, float]:
        """Return the position of the subject, -1 to 1, and that of the light, 0 to 1.

        A sun that is asked for is the subject, and the land is at the side.
        """
        named = self.look.named
        side = float(np.sign(rng.uniform(-1, 1)) * rng.uniform(0.22, 0.5))
        away = float(rng.uniform(0.7, 1.2))
        if "thirds" in self.words:
            side, away = float(np.sign(side)) / 3, 1.0
        elif named:
            side = math.copysign(max(abs(side), _SUN_GAP), side)
        if "centered" in self.words:
            return (side, 0.5) if named else (0.0, 0.5)
        return side * (0.35 if "close" in self.words else 1.0), 0.5 - 0.5 * side * away


def haze(look: HourLook, z: Floats, height: Floats, mist: float, clear: float) -> Floats:
    """Return the haze at distances and heights, 0 to 1.

    `mist` is the density in low places; up to the distance `clear` there is no other haze.
    """
    # Mist in a valley ends slightly above its floor.
    thin = 11 if look.mist else 16
    far = np.minimum(z, np.float32(4000))
    low = np.exp(np.maximum(height, np.float32(0)) * np.float32(-1 / thin))
    low = low * (np.float32(1) - np.exp(far * np.float32(-1 / (330 - 170 * look.mist))))
    open_ = np.exp(
        np.maximum(far - np.float32(clear), np.float32(0)) * np.float32(-look.haze / _HAZE_METERS)
    )
    return np.asarray(1 - open_ * (1 - np.float32(mist) * low), np.float32)


def window(shape: tuple[int, ...], middle: Plane, aside: float, high: float) -> Window:
    """Return the rows and columns of a plane around a column and a row; possibly empty."""
    rows, columns = (
        slice(min(max(0, int(at - reach)), end), max(0, min(end, int(at + reach) + 2)))
        for at, reach, end in zip(middle[::-1], (high, aside), shape[-2:], strict=True)
    )
    return rows, columns
