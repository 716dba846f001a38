"""Picture files: opened by named decoders, in the notebook as in the service.

Pillow knows forty formats more. Some start programs or read other files, and hardly any is looked
after like those that browsers show.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

#: What services give out.
SHOWN = ("PNG", "JPEG", "WEBP", "GIF", "AVIF", "BMP", "TIFF")
#: What people have on their disks; the last one where a package teaches it to Pillow.
OWNED = (*SHOWN, "JPEG2000", "PPM", "TGA", "QOI", "ICO", "HEIF")


def open_picture(file: Path | IO[bytes], formats: Sequence[str] = SHOWN) -> Any:
    """Open a picture of which no pixel is decoded yet.

    Parameters
    ----------
    formats : sequence of str
        What it may be, as Pillow calls it.

    Returns
    -------
    PIL.Image.Image
        Whoever asked for it closes it.

    Raises
    ------
    OSError
        It is none of these; or another error of Pillow.
    """
    from PIL import Image

    known = [name for name in formats if name != "HEIF" or name in Image.OPEN]
    return Image.open(file, formats=known)
