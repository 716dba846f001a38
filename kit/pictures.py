"""Picture files: opened by named decoders, in the notebook as in the service.

Pillow knows forty formats more. Some start programs or read other files, and hardly any is looked
after like those that browsers show.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

#: What services give out.
SHOWN = ("PNG", "JPEG", "WEBP", "GIF", "AVIF", "BMP", "TIFF")
#: What phones write; it is read where the optional package for it is installed.
HEIC = "image/heic"
NO_HEIC = "HEIC pictures are read by an optional package: pip install 'creative-studio-kit[heic]'"
#: What people have on their disks, HEIC among them.
OWNED = (*SHOWN, "JPEG2000", "PPM", "TGA", "QOI", "ICO", "HEIF")


def open_picture(file: Path | IO[bytes], formats: Sequence[str] = SHOWN) -> Any:
    """Open a picture of which no pixel is decoded yet; the caller closes it.

    The formats, as Pillow calls them, are what it may be; anything else is an `OSError`.
    """
    from PIL import Image

    known = [name for name in formats if name != "HEIF" or _reads_heic()]
    return Image.open(file, formats=known)


def decode_jpeg(file: Path, times: int = 1) -> Any:
    """Return the pixels of a JPEG, as RGB and as they lie, made so many times smaller: 1, 2, 4, 8.

    They are those that Pillow finds, which copies them three times. A file that is cut off is an
    `OSError`.
    """
    import cv2
    import numpy as np

    # The way to halve is a flag of 16, to quarter one of 32.
    flags = cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION | (8 * times if times > 1 else 0)
    pixels = cv2.imdecode(np.fromfile(file, np.uint8), flags)
    if pixels is None:
        raise OSError("the picture is cut off or damaged")
    return pixels


def to_srgb(mode: str, profile: bytes | None) -> Callable[[Any], Any]:
    """Return what brings a picture of a mode into sRGB, by its color profile if that is usable."""
    from PIL import ImageCms

    if profile:
        try:
            source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            way = ImageCms.buildTransform(source, ImageCms.createProfile("sRGB"), mode, "RGB")
        except (ImageCms.PyCMSError, OSError, TypeError, ValueError):
            # A profile for another kind of picture than the one that it is stuck to.
            pass
        else:
            return lambda image: ImageCms.applyTransform(image, way)
    return lambda image: image if image.mode == "RGB" else image.convert("RGB")


def has_heic() -> bool:
    """Whether the package that reads HEIC is installed; it is not loaded."""
    return find_spec("pillow_heif") is not None


def _reads_heic() -> bool:
    """Have Pillow know HEIC, where the package for it is installed."""
    if has_heic():
        import pillow_heif

        pillow_heif.register_heif_opener()
    return has_heic()
