"""Letters of a street: neon signs that hang off the walls, and the names over the shops."""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np
from PIL import Image, ImageDraw

from kit.engines.media.color import Floats
from kit.engines.media.typesetting import font_of
from kit.engines.painting.canvas import Canvas
from kit.engines.painting.city.light import Hour
from kit.engines.painting.city.street import Building, View
from kit.engines.painting.noise import Plane
from kit.engines.painting.tone import light

_WORDS = (
    "HOTEL", "BAR", "NOODLES", "OPEN", "CAFE", "JAZZ", "RAMEN", "CLUB", "CINEMA", "TEA", "ARCADE",
    "SUSHI", "BOOKS", "24H", "DINER", "PHARMACY", "KARAOKE", "RECORDS", "TAXI", "GRILL", "LOUNGE",
)  # fmt: skip
_FACES = ("bebas", "neon", "rubik", "anton")
_FARTHEST = 75.0
_LEAST = 5  # pixels across, below which a sign is left out
_NAMES = (
    "CORNER BOOKS", "Noodle House", "Bakery", "Cinema Grand", "night market", "TEA & CO",
    "RECORDS", "Flowers", "Trattoria", "Optician", "jazz cellar", "HARDWARE",
    "PHO 88", "The Tailor", "Patisserie", "Gallery", "coffee bar", "ELECTRIC",
)  # fmt: skip
_NAME_FACES = ("bebas", "rubik", "script", "playfair", "neon", "anton")


@cache
def lettered_names() -> Floats:
    """Return names of shops as cover, shape (names, 40, 320), 0 to 1."""
    sheets = []
    for number, name in enumerate(_NAMES):
        face = _NAME_FACES[number % len(_NAME_FACES)]
        wide = font_of(face, 62).getlength(name)
        font = font_of(face, int(62 * min(1.0, 620 / wide)))
        sheet = Image.new("L", (640, 80))
        ImageDraw.Draw(sheet).text((320, 40), name, fill=255, font=font, anchor="mm")
        sheets.append(np.asarray(sheet.reduce(2), np.float32) / np.float32(255.0))
    return np.stack(sheets)


def add_signs(
    rng: np.random.Generator, canvas: Canvas, view: View, building: Building, hour: Hour,
    air: Plane, crowd: float,
) -> None:  # fmt: skip
    """Hang signs off a building, the farthest first; `crowd` is the share of places that have one.

    Each faces up and down the street: glowing letters below one another in a tube, or a glowing
    panel with dark letters.
    """
    found = []
    z = building.near + float(rng.uniform(0.6, 2.5))
    while z < min(building.far - 1.0, _FARTHEST):
        word, face = str(rng.choice(_WORDS)), str(rng.choice(_FACES))
        wide, low = float(rng.uniform(0.8, 1.5)), float(rng.uniform(3.6, 8.5))
        tall = min(wide * len(word) * float(rng.uniform(0.78, 1.0)), building.tall - 0.8 - low)
        inks = [light(hour.signs[int(it)]) for it in rng.integers(len(hour.signs), size=2)]
        filled, hangs = rng.random(2) < (0.22, crowd)
        if tall > wide and hangs:
            x = building.side * (building.wall - 0.25)
            spot = (min(x, x - building.side * wide), z, low, wide, tall)
            found.append((word, face, bool(filled), inks, spot))
        z += float(rng.uniform(3.5, 9.0))
    for word, face, filled, inks, (x, z, low, wide, tall) in reversed(found):
        left, top = round(view.column(x, z)), round(view.row(low + tall, z))
        size = round(wide * view.focal / z), round(tall * view.focal / z)
        rows, columns = at = view.window((left, left + size[0] - 1), top, top + size[1] - 1)
        seen = _LEAST <= size[0] <= view.width and 2 * _LEAST <= size[1] <= 2 * view.height
        if not seen or rows.start >= rows.stop or columns.start >= columns.stop:
            continue
        part = (
            slice(rows.start - top, rows.stop - top),
            slice(columns.start - left, columns.stop - left),
        )
        panel, tube, letters = (it[part] for it in _drawn(word, face, *size))
        ink, frame = inks
        unlit = 0.35 * hour.fill + 0.25 * hour.power
        if filled:
            color = ink * (hour.neon * 1.5 + unlit) * (1.0 - 0.88 * letters)
            color += frame * (tube * hour.neon * 0.8)
        else:
            board = light((0.24, 0.02, 260)) * (0.35 + hour.fill) + ink * (hour.neon * 0.16)
            color = board + (0.6 * ink + 0.4) * (letters * (hour.neon * 2.6 + unlit))
            color += frame * (tube * (hour.neon * 2.2 + unlit))
        fade = 1.0 - float(np.exp(-z * hour.thick * 0.8))
        color += (air[:, *at] - color) * fade
        shining = min(1.0, hour.neon) * (1.0 - letters if filled else np.maximum(letters, tube))
        canvas.lay(at, color, panel, z, shining * (1.0 - fade))


def _drawn(word: str, face: str, wide: int, tall: int) -> list[Floats]:
    """Return the panel, the tube round it and the letters, each (tall, wide), 0 to 1."""
    scale = 3 if wide < 40 else 2
    size = (wide * scale, tall * scale)
    edge = max(1, round(0.055 * size[0]))
    sheets = [Image.new("L", size) for _ in range(3)]
    panel, tube, pen = (ImageDraw.Draw(sheet) for sheet in sheets)
    inner = (edge, edge, size[0] - 1 - edge, size[1] - 1 - edge)
    panel.rectangle((edge // 2, edge // 2, size[0] - 1 - edge // 2, size[1] - 1 - edge // 2), 255)
    tube.rectangle(inner, outline=255, width=edge)
    pitch = size[1] * 0.94 / len(word)
    font = font_of(face, max(4, int(min(0.86 * size[0], 1.18 * pitch))))
    for number, letter in enumerate(word):
        at = (size[0] / 2, size[1] * 0.03 + pitch * (number + 0.5))
        pen.text(at, letter, fill=255, font=font, anchor="mm")
    small = [
        cv2.resize(np.asarray(it), (wide, tall), interpolation=cv2.INTER_AREA) for it in sheets
    ]
    return [np.asarray(it, np.float32) / np.float32(255.0) for it in small]
