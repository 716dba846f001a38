"""Letters of a street: neon signs that hang off the walls, and the names over the shops."""

from __future__ import annotations

from functools import cache
from typing import Any

import cv2
import numpy as np
from PIL import Image, ImageDraw

from kit.engines.media.color import Floats
from kit.engines.media.typesetting import font_of
from kit.engines.painting.city.street import Street
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


def add_signs(rng: np.random.Generator, street: Street, crowd: float) -> None:
    """Hang neon signs off the walls, the farthest first; `crowd` is the share of places with one.

    Each faces up and down the street: glowing letters below one another in a tube, or a glowing
    panel with dark letters.
    """
    hour, neon = street.hour, street.hour.neon
    found = []
    for it in street.buildings:
        z = it.near + rng.uniform(0.6, 2.5)
        while z < min(it.far - 1.0, _FARTHEST):
            word, face = str(rng.choice(_WORDS)), str(rng.choice(_FACES))
            wide, low = rng.uniform(0.8, 1.5), rng.uniform(3.6, 8.5)
            tall = min(wide * len(word) * rng.uniform(0.78, 1.0), it.tall - 0.8 - low)
            inks = [light(hour.signs[int(ink)]) for ink in rng.integers(len(hour.signs), size=2)]
            filled, hangs = rng.random(2) < (0.22, crowd)
            if tall > wide and hangs:
                x = it.side * (it.wall - 0.25 - wide / 2) - wide / 2
                found.append((z, x, low + tall, wide, tall, word, face, bool(filled), inks))
            z += rng.uniform(3.5, 9.0)
    for z, x, top, wide, tall, word, face, filled, (ink, frame) in sorted(found, key=_away):
        left, upper = round(street.column(x, z)), round(street.row(top, z))
        size = round(wide * street.focal / z), round(tall * street.focal / z)
        reach = left < street.brief.width and left + size[0] > 0 and upper + size[1] > 0
        if min(size[0], size[1] // 2) < _LEAST or not reach:
            continue
        panel, tube, letters = _drawn(word, face, *size)
        unlit = 0.35 * hour.fill + 0.25 * hour.power
        if filled:
            color = ink * (neon * 1.5 + unlit) * (1.0 - 0.88 * letters) + frame * (
                tube * neon * 0.8
            )
        else:
            color = light((0.24, 0.02, 260)) * (0.35 + hour.fill) + ink * (neon * 0.16)
            color = color + (0.6 * ink + 0.4) * (letters * (neon * 2.6 + unlit))
            color += frame * (tube * (neon * 2.2 + unlit))
        shining = min(1.0, neon) * (1.0 - letters if filled else np.maximum(letters, tube))
        street.add_sheet((left, upper), color, panel, z, shining, nearest=z)


def _away(sign: tuple[Any, ...]) -> float:
    return -float(sign[0])


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
