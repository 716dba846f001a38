"""What made a file, in the file: model, prompt, parameters and seed, as XMP.

It is written into PNG, JPEG, WebP and MP4 without decoding them, by the service into what engines
make and by the toolkit into what it saves. A file that has XMP already, or is signed (C2PA), is
left as it is.

Source: XMP part 1 and 3; IPTC Photo Metadata 2025.1, "Digital Source Type" and "AI" properties.
"""

from __future__ import annotations

from pathlib import Path

from kit.file_metadata import foreign, formats, xmp
from kit.file_metadata.signatures import read_signed
from kit.file_metadata.xmp import ALGORITHMIC, COMPOSITE, ENHANCED, TRAINED, FileMetadata, Signature

__all__ = ["ALGORITHMIC", "COMPOSITE", "ENHANCED", "TRAINED", "FileMetadata", "Signature", "embed"]
__all__ += ["read", "read_signed", "remove"]


def embed(path: Path, metadata: FileMetadata) -> bool:
    """Write into a file what made it; return whether that was done.

    A file of another format, one that has another program's XMP and one that is signed stay byte
    for byte.
    """
    packet, text = xmp.write(metadata), xmp.summarize(metadata)
    return formats.insert(path, packet, text, xmp.is_own)  # own: of an input that was passed on


def remove(path: Path) -> None:
    """Take out of a file what `embed` has written, and a signature of that."""
    if xmp.is_own(formats.extract(path)[0]):
        formats.remove(path)


def read(path: Path) -> FileMetadata | None:
    """Return what a file says made it, or None.

    Files of AUTOMATIC1111 and its relatives (text ``parameters``) and of ComfyUI (text ``prompt``)
    are read as far as their words have a place here; `FileMetadata.unread` lists the rest.
    """
    packet, texts = formats.extract(path)
    return xmp.read(packet) or foreign.read(texts)
