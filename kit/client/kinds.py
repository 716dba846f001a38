"""What kind of file something is, and how its name ends: by its content, then by what is said.

An address may end in anything, or in nothing; what a file begins with does not lie.
"""

from __future__ import annotations

import mimetypes
import re
from pathlib import Path
from urllib.parse import urlsplit

from kit import wire
from kit.client import contents
from kit.errors import ParameterError

#: The type of a file that neither its content nor its name tells anything of.
ANYTHING = "application/octet-stream"
#: Endings of a type, the usual one first, where they are several or Python does not know them.
_ENDINGS: dict[str, tuple[str, ...]] = {
    "image/jpeg": (".jpg", ".jpeg"),
    "image/webp": (".webp",),
    "image/avif": (".avif",),
    "image/heic": (".heic", ".heif"),
    "video/mp4": (".mp4", ".m4v"),
    "video/quicktime": (".mov", ".qt"),
    "video/webm": (".webm",),
    "video/x-matroska": (".mkv",),
    "audio/wav": (".wav",),
    "audio/mpeg": (".mp3",),
    "audio/mp4": (".m4a",),
    "audio/aac": (".aac",),
    "audio/flac": (".flac",),
    "audio/ogg": (".ogg", ".oga", ".opus"),
}
_ALL = (".png", ".gif", ".bmp", ".tiff", *(end for ends in _ENDINGS.values() for end in ends))
_USUAL = {"video": ".mp4", "image": ".png"}
_MEDIA = ("image/", "video/", "audio/")
#: How the first bytes of the container of WebM tell what else it may hold.
_MATROSKA = b"matroska"
_HEAD = 64


def ending(content_type: str, url: str = "", asset_type: str = "") -> str:
    """Return how the name of a file ends that is not here yet, with a dot; empty if nothing tells.

    Parameters
    ----------
    content_type : str
        As it was announced; empty where nobody did.
    url : str
        Where it is.
    asset_type : str
        ``image`` or ``video``, however it is written.

    Examples
    --------
    >>> ending("video/mp4", "https://a.test/x.php"), ending("", "https://a.test/x", "VIDEO")
    ('.mp4', '.mp4')
    """
    known, named = _endings(_bare(content_type)), _named(url)
    if known:
        return named if named in known else known[0]
    usual = _USUAL.get(asset_type.lower(), "")
    return named if _is_medium(named) else usual or named


def settled(path: Path, content_type: str = "", url: str = "") -> Path:
    """Rename a file that has arrived so that its name ends as its content wants; return its path.

    Parameters
    ----------
    content_type : str
        As it was sent: counts where the content tells nothing.
    url : str
        Where it came from: says which of several endings it is.
    """
    wanted = found(path, content_type, url)
    return path.replace(path.with_suffix(wanted)) if wanted else path


def there(path: Path) -> Path:
    """Return where a file is whose name ends as `settled` found right; `path` if it is nowhere."""
    if path.exists():
        return path
    others = (path.with_suffix(ending) for ending in _ALL)
    return next((other for other in others if other.exists()), path)


def found(path: Path, content_type: str = "", url: str = "") -> str:
    """Return how the name of a file should end by what it holds; empty if nothing tells.

    Parameters
    ----------
    content_type : str
        As it was sent: counts where the content tells nothing, and only for media.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD)
    told = contents.sniffed(head) or ""
    if told == "video/webm" and _MATROSKA in head:
        told = "video/x-matroska"
    sent = _bare(content_type)
    known = _endings(told or (sent if sent.startswith(_MEDIA) else ""))
    named = _named(url)
    return named if named in known else next(iter(known), "")


def check(name: str, content_type: str) -> None:
    """Refuse a file of a type that none of our own models takes.

    Raises
    ------
    ParameterError
        With a sentence that says which types there are.
    """
    if content_type in wire.CONTENT_TYPES:
        return
    if content_type.startswith("image/"):
        raise ParameterError(
            f"{name!r} is of type {content_type}, which no model takes and nothing installed here "
            "can read: save it as PNG or JPEG"
        )
    raise ParameterError(
        f"{name!r} is no picture, video or sound of a kind that services take: "
        f"{', '.join(wire.CONTENT_TYPES)}"
    )


def check_for(parameter: wire.Parameter, name: str, content_type: str) -> None:
    """Refuse a file that is of another kind than its parameter takes; one nobody knows passes.

    Raises
    ------
    ParameterError
        With both types.
    """
    kind = content_type.partition("/")[0]
    if parameter.type in wire.MEDIA_TYPES and kind != parameter.type and content_type != ANYTHING:
        raise ParameterError(
            f"{parameter.name} takes a medium of type {parameter.type}, and {name!r} is of type "
            f"{content_type}"
        )


def _bare(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _is_medium(suffix: str) -> bool:
    guessed = mimetypes.guess_type(f"file{suffix}")[0] or ""
    return suffix in _ALL or guessed.startswith(_MEDIA)


def _endings(content_type: str) -> tuple[str, ...]:
    if content_type in _ENDINGS:
        return _ENDINGS[content_type]
    guessed = mimetypes.guess_extension(content_type) if content_type != ANYTHING else None
    return (guessed,) if guessed else ()


def _named(url: str) -> str:
    try:
        suffix = Path(urlsplit(url).path).suffix
    except ValueError:
        return ""
    return suffix.lower() if re.fullmatch(r"\.\w{1,5}", suffix) else ""
