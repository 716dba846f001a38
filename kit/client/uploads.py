"""Uploads: anything that is a picture, a clip or a sound becomes an upload id.

Neither Pillow nor numpy is imported unless the caller has given one of their objects.
"""

from __future__ import annotations

import hashlib
import io
import mimetypes
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path, PurePath
from typing import Any, BinaryIO

from kit import wire
from kit.client import answers, calls, flows
from kit.client.flows import PATIENT, Policy
from kit.client.steps import Flow, Lost, Put, Reply
from kit.errors import ParameterError, UploadError

_ATTEMPTS = 3

#: (offset, bytes) that a file has, and its content type.
_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (8, b"WEBP", "image/webp"),
    (0, b"GIF8", "image/gif"),
    (0, b"\x1a\x45\xdf\xa3", "video/webm"),
    (8, b"WAVE", "audio/wav"),
    (0, b"fLaC", "audio/flac"),
    (0, b"OggS", "audio/ogg"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"\xff\xfb", "audio/mpeg"),
    (0, b"\xff\xf3", "audio/mpeg"),
    (0, b"\xff\xf1", "audio/aac"),
    (4, b"ftypqt", "video/quicktime"),
    (4, b"ftypM4A", "audio/mp4"),
    (4, b"ftyp", "video/mp4"),
)
#: Names that systems use for a type, and the one that the wire uses.
_SYNONYMS = {"audio/x-wav": "audio/wav", "audio/x-flac": "audio/flac", "audio/x-m4a": "audio/mp4"}


@dataclass(frozen=True, slots=True)
class Source:
    """A file that can be sent, more than once if need be.

    Parameters
    ----------
    open : callable
        Returns a new binary stream of `size` bytes, from the beginning.
    """

    name: str
    content_type: str
    size: int
    open: Callable[[], BinaryIO]

    @property
    def kind(self) -> str:
        """``image``, ``video`` or ``audio``."""
        return self.content_type.partition("/")[0]

    def sha256(self) -> str:
        """Return the hash of the content."""
        with self.open() as file:
            return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]  # any binary stream

    def seconds(self) -> Fraction | None:
        """Return how long it plays, or None where nothing installed can tell."""
        try:
            import av
        except ImportError:
            return None
        try:
            with self.open() as file, av.open(file) as container:
                micros = container.duration
        except av.FFmpegError:
            return None
        return None if micros is None else Fraction(micros, av.time_base)


def source(medium: Any) -> Source:
    """Return what can be sent of a path, bytes, an open file, a picture or an array.

    Raises
    ------
    ParameterError
        It is none of these, does not exist, is empty, or is of a kind that nobody takes.

    Examples
    --------
    >>> source(b"GIF89a...").content_type
    'image/gif'
    """
    if isinstance(medium, Source):
        return medium
    if isinstance(medium, (str, PurePath)):
        return _from_path(Path(medium).expanduser())
    if isinstance(medium, (bytes, bytearray, memoryview)):
        return _from_bytes(bytes(medium), "upload")
    if hasattr(medium, "read"):
        return _from_file(medium)
    for module, attribute, read in _OBJECTS:
        loaded = sys.modules.get(module)
        if loaded is not None and isinstance(medium, getattr(loaded, attribute)):
            return _from_bytes(read(medium), "upload")
    raise ParameterError(
        f"a medium is a path, bytes, an open file, a picture or an array, not a "
        f"{type(medium).__name__}"
    )


def sources(model: wire.Model, media: Any) -> dict[str, tuple[Source, ...]]:
    """Return the files for each media parameter of a model.

    Parameters
    ----------
    media : mapping, or one medium, or a list of them
        A mapping goes by parameter name; anything else goes to the model's first media parameter.

    Raises
    ------
    ParameterError
        A file cannot be read, or is of another kind than its parameter takes.
    """
    if media is None:
        return {}
    if not isinstance(media, Mapping):
        if not model.media_parameters:
            raise ParameterError(f"the model {model.id!r} takes no media")
        media = {model.media_parameters[0].name: media}
    found = {name: tuple(map(source, _listed(value))) for name, value in media.items()}
    for parameter in model.media_parameters:
        for file in found.get(parameter.name, ()):
            _check_kind(parameter, file)
    return {name: files for name, files in found.items() if files}


def upload(model_id: str, file: Source, policy: Policy = PATIENT) -> Flow[str]:
    """Ask for a ticket, send the file with it, and return the upload's id.

    A ticket is for one PUT: where the connection breaks, the next attempt asks for a new one.

    Raises
    ------
    UploadError
        The file did not arrive, or was refused; the message says why.
    """
    body = wire.RequestUpload(
        file_name=file.name,
        content_type=file.content_type,
        file_size_bytes=file.size,
        model_id=model_id,
    )
    for attempt in range(_ATTEMPTS):
        ticket = yield from flows.ask(calls.request_upload(body), policy)
        outcome = yield Put(ticket.upload_url, ticket.required_headers, file.open, file.size)
        if isinstance(outcome, Reply) and outcome.fine:
            return ticket.upload_id
        if isinstance(outcome, Reply) and outcome.status < 500:
            break
        if attempt + 1 < _ATTEMPTS:
            yield from flows.pause(policy, attempt)
    raise UploadError(_refusal(file, outcome))


def upload_all(
    model: wire.Model, media: Mapping[str, Sequence[Source]], policy: Policy = PATIENT
) -> Flow[dict[str, str | list[str]]]:
    """Send all files and return their ids in the shape of ``mediaUploads``.

    Source: contract, "Generations": one id, or a list of them where the parameter takes several.
    """
    several = {p.name for p in model.media_parameters if (p.max_items or 1) > 1}
    references: dict[str, str | list[str]] = {}
    for name, files in media.items():
        ids: list[str] = []
        for file in files:
            ids.append((yield from upload(model.id, file, policy)))
        references[name] = ids if name in several or len(ids) > 1 else ids[0]
    return references


def _listed(value: Any) -> Iterable[Any]:
    if value is None:
        return ()
    return value if isinstance(value, (list, tuple)) else (value,)


def _check_kind(parameter: wire.Parameter, file: Source) -> None:
    if parameter.type in wire.MEDIA_TYPES and parameter.type != file.kind:
        raise ParameterError(
            f"{parameter.name} takes a medium of type {parameter.type}, and {file.name!r} is of "
            f"type {file.content_type}"
        )


def _refusal(file: Source, outcome: Reply | Lost) -> str:
    if isinstance(outcome, Lost):
        return f"{file.name!r} was not sent: {outcome.message}"
    error = answers.problem(outcome)
    return f"{file.name!r} was refused with {outcome.status}: {error}"


def _from_path(path: Path) -> Source:
    if not path.is_file():
        raise ParameterError(f"there is no file {str(path)!r}")
    with path.open("rb") as file:
        head = file.read(64)
    return _made(path.name, head, path.stat().st_size, lambda: path.open("rb"))


def _from_bytes(content: bytes, name: str) -> Source:
    return _made(name, content[:64], len(content), partial(io.BytesIO, content))


def _from_file(file: Any) -> Source:
    content = file.read()
    if not isinstance(content, bytes):
        raise ParameterError("open the file in binary mode: open(..., 'rb')")
    name = getattr(file, "name", None)
    return _from_bytes(content, PurePath(name).name if isinstance(name, str) else "upload")


def _made(name: str, head: bytes, size: int, opened: Callable[[], BinaryIO]) -> Source:
    if not size:
        raise ParameterError(f"{name!r} is empty")
    content_type = _sniffed(head) or _named(name)
    if content_type not in wire.CONTENT_TYPES:
        raise ParameterError(
            f"{name!r} is no picture, video or sound of a known kind; there is "
            f"{', '.join(wire.CONTENT_TYPES)}"
        )
    if not PurePath(name).suffix:
        name += (mimetypes.guess_extension(content_type) or "").replace(".jpe", ".jpg")[:5]
    return Source(name, content_type, size, opened)


def _sniffed(head: bytes) -> str | None:
    return next((kind for at, magic, kind in _MAGIC if head.startswith(magic, at)), None)


def _named(name: str) -> str:
    guessed = mimetypes.guess_type(name)[0] or ""
    return _SYNONYMS.get(guessed, guessed)


def _picture(picture: Any) -> bytes:
    buffer = io.BytesIO()
    known = picture.mode in ("L", "LA", "RGB", "RGBA", "1", "P", "I;16")
    (picture if known else picture.convert("RGB")).save(buffer, "PNG")
    return buffer.getvalue()


def _array(array: Any) -> bytes:
    """Encode an array of shape (height, width[, 1, 3 or 4]), uint8 or floats from 0 to 1."""
    from PIL import Image

    shape = array.shape
    if array.ndim not in (2, 3) or (array.ndim == 3 and shape[2] not in (1, 3, 4)):
        raise ParameterError(f"an array is (height, width, 1, 3 or 4), not of shape {shape}")
    if array.dtype.kind == "f":
        low, high = float(array.min()), float(array.max())
        if not 0.0 <= low <= high <= 1.0:
            raise ParameterError(f"an array of floats holds 0 to 1, not {low:g} to {high:g}")
        array = (array * 255.0).round().astype("uint8")
    if array.dtype != "uint8":
        raise ParameterError(f"an array is uint8, or floats from 0 to 1, not {array.dtype}")
    return _picture(Image.fromarray(array[:, :, 0] if shape[2:] == (1,) else array))


#: Module, class in it, and how its objects become the bytes of a file.
_OBJECTS: tuple[tuple[str, str, Callable[[Any], bytes]], ...] = (
    ("PIL.Image", "Image", _picture),
    ("numpy", "ndarray", _array),
)
