"""Names over the shops, lettered once and laid on every board."""

from __future__ import annotations

from functools import cache

import numpy as np
from PIL import Image, ImageDraw

from kit.engines.media.typesetting import font_of
from kit.engines.painting.noise import Plane

_FACES = ("bebas", "rubik", "script", "playfair", "neon", "anton")
_NAMES = (
    "CORNER BOOKS", "Noodle House", "Bakery", "Cinema Grand", "night market", "TEA & CO",
    "RECORDS", "Flowers", "Trattoria", "Optician", "jazz cellar", "HARDWARE",
    "PHO 88", "The Tailor", "Patisserie", "Gallery", "coffee bar", "ELECTRIC",
)  # fmt: skip


@cache
def names() -> Plane:
    """Return the names of shops as coverage, shape (names, 40, 320), 0 to 1."""
    sheets = []
    for number, name in enumerate(_NAMES):
        sheet = Image.new("L", (640, 80))
        pen = ImageDraw.Draw(sheet)
        face = _FACES[number % len(_FACES)]
        font = font_of(face, 62)
        font = font_of(face, int(62 * min(1.0, 620 / font.getlength(name))))
        pen.text((320, 40), name, fill=255, font=font, anchor="mm")
        sheets.append(np.asarray(sheet.reduce(2), np.float32) / np.float32(255.0))
    return np.stack(sheets)
