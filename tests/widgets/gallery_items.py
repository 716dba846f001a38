"""Gallery items of generations with synthetic pictures."""

from __future__ import annotations

import io
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from kit import wire
from kit.widgets.gallery import Fetched, GalleryItem


@lru_cache
def photo(width: int = 512, height: int = 512, seed: int = 1) -> bytes:
    """Return a picture that compresses about as badly as a photograph."""
    rng = np.random.default_rng(seed)
    rough = rng.normal(0, 40, (height // 4, width // 4, 3)) + 128
    image = Image.fromarray(rough.clip(0, 255).astype("uint8")).resize((width, height))
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=92)
    return buffer.getvalue()


def new_item(
    name: str = "gen_1",
    *,
    small: bytes | None = None,
    path: Path | None = None,
    charged: str | None = "0.02",
    **facts: Any,
) -> GalleryItem:
    """Return a gallery item of a completed generation."""
    given = {"id": name, "status": "completed", "asset_type": "image", "model_id": "m", **facts}

    def fetch(whole: bool) -> Fetched:
        return path, small

    amount = None if charged is None else Decimal(charged)
    return GalleryItem(wire.Generation.model_validate(given), amount, fetch)
