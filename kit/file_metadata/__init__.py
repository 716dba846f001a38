"""Metadata of generated files as XMP: model, prompt, parameters and seed.

It is written into PNG, JPEG, WebP and MP4 without decoding them, by the service into outputs of
engines and by the toolkit into files that it saves. Files that already have XMP, or are signed
(C2PA), are not changed.

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
    """Write metadata into a file; False for other formats, foreign XMP and signed files."""
    packet, text = xmp.write(metadata), xmp.summarize(metadata)
    return formats.insert(path, packet, text, xmp.is_own)  # own XMP: from an input file


def remove(path: Path) -> None:
    """Remove what `embed` has written, and its signature."""
    if xmp.is_own(formats.extract(path)[0]):
        formats.remove(path)


def read(path: Path) -> FileMetadata | None:
    """Return the metadata of a file, or None.

    Of files of AUTOMATIC1111 and related programs (text ``parameters``) and of ComfyUI (text
    ``prompt``), supported settings are returned; `FileMetadata.unread` lists the rest.
    """
    packet, texts = formats.extract(path)
    return xmp.read(packet) or foreign.read(texts)
