from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from kit.engines.base import Asset, Engine
from kit.engines.media.stills import origin
from kit.engines.models.background import Background
from kit.engines.models.reframe import Reframe
from kit.engines.models.restyle import Restyle
from kit.engines.models.retouch import Retouch
from kit.engines.models.title_card import TitleCard
from kit.errors import EngineError
from tests.engines.image.editing.odd import READ, REFUSED
from tests.engines.image.editing.pictures import pixels_of, render, saved

Order = tuple[Engine, Mapping[str, Any]]

ORDERS: dict[str, Order] = {
    "remove": (Background(), {"operation": "remove", "feather": 3}),
    "replace": (Background(), {"operation": "replace", "color": "navy"}),
    "blur": (Background(), {"operation": "blur", "format": "webp"}),
    "crop": (Reframe(), {"size": 256}),
    "fill": (Reframe(), {"size": 256, "mode": "blurred_fill", "format": "jpeg"}),
    "stretch": (Reframe(), {"size": 256, "mode": "stretch_edges"}),
    "grade": (Restyle(), {"look": "neon", "format": "jpeg"}),
    "paint": (Restyle(), {"stylize": "painting"}),
    "sketch": (Restyle(), {"stylize": "sketch", "format": "webp"}),
    "poster": (Restyle(), {"stylize": "poster"}),
    "title": (Restyle(), {"text": "Hello"}),
    "erase": (Retouch(), {"operation": "erase"}),
    "denoise": (Retouch(), {"operation": "denoise"}),
    "enlarge": (Retouch(), {"operation": "upscale", "scale": 4}),
    "sharpen": (Retouch(), {"operation": "sharpen", "format": "jpeg"}),
    "card": (TitleCard(), {"prompt": "Hello", "size": 256}),
}
#: What a picture may be refused for that can be read: nothing stands out, a mask covers all of it,
#: or no letter fits in.
MAY_SAY = {"no_background", "no_subject", "unsure_subject", "mask_full", "text_too_long"}


def made(order: Order, folder: Path, content: bytes) -> Asset:
    engine, values = order
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "input.bin"
    path.write_bytes(content)
    media = {"image": path}
    if values.get("operation") == "erase":
        media["mask"] = masked(path, folder / "mask.png")
    return render(engine, folder / "out", media=media, **values)


def masked(path: Path, mask: Path) -> Path:
    """Save a mask of a picture's shape; of any shape where it is no picture."""
    height, width = 9, 9
    with suppress(OSError, Image.DecompressionBombError):
        found = origin(path)
        height, width = found.height, found.width
    pixels = np.zeros((height, width), np.uint8)
    pixels[height // 3 : -(height // 3) or None, : max(1, width // 3)] = 255
    return saved(pixels, mask)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", READ)
def test_any_picture_is_edited_or_told_why_not(tmp_path: Path, order: str, kind: str) -> None:
    why: EngineError | None = None
    try:
        asset = made(ORDERS[order], tmp_path, READ[kind]())
    except EngineError as error:
        why = error

    if why is not None:
        assert why.code in MAY_SAY
        assert len(str(why).split()) > 4
    else:
        assert pixels_of(asset).shape[:2] == (asset.height, asset.width)
        assert asset.thumbnail is not None
        assert asset.thumbnail.stat().st_size > 100


@pytest.mark.parametrize("order", ["remove", "crop", "title", "erase", "sharpen", "card"])
@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_picture_is_refused_in_a_sentence(tmp_path: Path, order: str, kind: str) -> None:
    code, content = REFUSED[kind]

    with pytest.raises(EngineError) as refused:
        made(ORDERS[order], tmp_path, content())

    assert refused.value.code == code
    assert len(str(refused.value).split()) > 4
