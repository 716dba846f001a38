"""Picture files, opened with an allowlist of decoders, in the notebook as in the service.

Pillow supports forty more formats. Some start programs or read other files, and hardly any is
maintained as well as those that browsers show.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

#: Formats of services' outputs.
OUTPUT_FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "AVIF", "BMP", "TIFF")
#: The format of phones; it is supported if the optional package for it is installed.
HEIC = "image/heic"
NO_HEIC = "HEIC pictures are read by an optional package: pip install 'creative-studio-kit[heic]'"
#: Formats of users' files, including HEIC.
INPUT_FORMATS = (*OUTPUT_FORMATS, "JPEG2000", "PPM", "TGA", "QOI", "ICO", "HEIF")


def open_picture(file: Path | IO[bytes], formats: Sequence[str] = OUTPUT_FORMATS) -> Any:
    """Open a picture without decoding its pixels; the caller closes it.

    `formats` are Pillow's names of the allowed formats; any other file raises `OSError`.
    """
    from PIL import Image

    supported = [name for name in formats if name != "HEIF" or _register_heic()]
    return Image.open(file, formats=supported)


def decode_jpeg(file: Path, factor: int = 1) -> Any:
    """Return the pixels of a JPEG as RGB, unrotated, reduced by a factor of 1, 2, 4 or 8.

    They equal those of Pillow, which copies them three times. A truncated file raises `OSError`.
    """
    import cv2
    import numpy as np

    # The flag for half size is 16, that for a quarter 32.
    flags = cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION | (8 * factor if factor > 1 else 0)
    if (pixels := cv2.imdecode(np.fromfile(file, np.uint8), flags)) is None:
        raise OSError("the picture is cut off or damaged")
    return pixels


def to_srgb(mode: str, profile: bytes | None) -> Callable[[Any], Any]:
    """Return a function that converts pictures of a mode to sRGB, by a color profile if valid."""
    from PIL import ImageCms

    if profile:
        try:
            source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            transform = ImageCms.buildTransform(source, ImageCms.createProfile("sRGB"), mode, "RGB")
        except (ImageCms.PyCMSError, OSError, TypeError, ValueError):
            # The profile is for another mode than that of the picture.
            pass
        else:
            return lambda image: ImageCms.applyTransform(image, transform)
    return lambda image: image if image.mode == "RGB" else image.convert("RGB")


def has_heic() -> bool:
    """Whether the package that reads HEIC is installed; it is not loaded."""
    return find_spec("pillow_heif") is not None


def _register_heic() -> bool:
    """Register HEIC with Pillow, if the package for it is installed."""
    if has_heic():
        import pillow_heif

        pillow_heif.register_heif_opener()
    return has_heic()
