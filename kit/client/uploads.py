"""Uploads: anything that is a picture, a clip or a sound becomes an upload id.

Everything is checked before a ticket is asked for: a file that nobody takes costs a sentence. What
is a file that nobody takes, only a service of our own is known to agree with.
"""

from __future__ import annotations

import hashlib
import io
import json
import mimetypes
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path, PurePath
from typing import Any, BinaryIO

from kit import containers, wire
from kit.client import calls, contents, flows, kinds, tickets
from kit.client.flows import PATIENT, Policy, Tries
from kit.client.steps import Flow, Lost, Put, Reply
from kit.errors import EngineError, ParameterError, UploadError
from kit.parameters import file_name_problems, is_own

#: How an address begins; a path may begin with the single letter of a drive.
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/|data:")


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
        """Return how long it plays, or None where nothing installed can tell; pictures do not."""
        if self.kind == "image":
            return None
        try:
            import av
        except ImportError:
            return None
        try:
            with self.open() as file:
                return Fraction(str(containers.measure(file, self.kind)))
        except (av.FFmpegError, EngineError):
            return None


def source(medium: Any, *, ours: bool = True) -> Source:
    """Return what can be sent of a path, bytes, an open file, a picture or an array.

    Parameters
    ----------
    ours : bool
        Whether it goes to a service that is known to take what ours does; any other decides itself.

    Raises
    ------
    ParameterError
        It is none of these, does not exist, is empty, or is of a kind that nobody takes.

    Examples
    --------
    >>> source(b"GIF89a...").content_type
    'image/gif'
    """
    found = _found(medium)
    if ours:
        kinds.check(found.name, found.content_type)
    return found


def _found(medium: Any) -> Source:
    if isinstance(medium, Source):
        return medium
    if isinstance(medium, (str, PurePath)):
        if _ADDRESS.match(str(medium)):
            raise ParameterError(
                f"a medium is a path, and {str(medium).partition('?')[0][:80]!r} is an address: "
                "download it first, then give the path of the file"
            )
        return _from_path(Path(medium).expanduser())
    if isinstance(medium, (bytes, bytearray, memoryview)):
        return _from_bytes(bytes(medium), "upload")
    if hasattr(medium, "read"):
        return _from_file(medium)
    for module, attribute, read in contents.OBJECTS:
        loaded = sys.modules.get(module)
        if loaded is not None and isinstance(medium, getattr(loaded, attribute)):
            return _from_bytes(read(medium), "upload")
    what = "a path, bytes, an open file, a picture or an array"
    raise ParameterError(f"a medium is {what}, not a {type(medium).__name__}")


def sources(model: wire.Model, media: Any, *, ours: bool = True) -> dict[str, tuple[Source, ...]]:
    """Return the files for each media parameter of a model.

    Parameters
    ----------
    media : mapping, or one medium, or a list of them
        A mapping goes by parameter name; anything else goes to the model's first media parameter.
    ours : bool
        See `source`.

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
    found = {
        name: tuple(source(one, ours=ours) for one in _listed(value))
        for name, value in media.items()
    }
    for parameter in model.media_parameters:
        for file in found.get(parameter.name, ()):
            kinds.check_for(parameter, file.name, file.content_type)
            if is_own(model) and (wrong := [*file_name_problems(file.name)]):
                raise ParameterError.fields(wrong)
    return {name: files for name, files in found.items() if files}


def upload(
    model_id: str,
    file: Source,
    policy: Policy = PATIENT,
    on_sent: Callable[[int], None] = lambda _: None,
) -> Flow[str]:
    """Ask for a ticket, send the file with it, and return the upload's id.

    A ticket is for one PUT: where the connection breaks, the next attempt asks for a new one; so it
    does, once, where the ticket had ended. Where the service says what arrived, that is compared
    with what was sent.

    Parameters
    ----------
    on_sent : callable
        Called with the bytes that have left so far.

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
    tries, renewed = Tries(policy), False
    while True:
        ticket = yield from flows.ask(calls.request_upload(body), policy)
        if why := _changed(file) or tickets.misfit(ticket, file.size):
            raise UploadError(f"the file {file.name!r} was not sent: {why}")
        outcome = yield Put(
            ticket.upload_url, ticket.required_headers, file.open, file.size, on_sent
        )
        if isinstance(outcome, Reply) and outcome.fine:
            if _arrived(outcome):
                return ticket.upload_id
            outcome = Lost("what arrived is not what was sent (SHA-256 differs)")
        if tickets.final(outcome):
            if renewed or not tickets.ended(ticket, outcome):
                break
            renewed = True
        elif not (yield from tries.rest(flows.problem(outcome))):
            break
    raise UploadError(tickets.refusal(file.name, outcome))


def upload_all(
    model: wire.Model,
    media: Mapping[str, Sequence[Source]],
    policy: Policy = PATIENT,
    on_sent: Callable[[str, float], None] = lambda _name, _share: None,
) -> Flow[dict[str, str | list[str]]]:
    """Send all files and return their ids in the shape of ``mediaUploads``.

    Parameters
    ----------
    on_sent : callable
        Called with a file's name and the share of all bytes, 0 to 1, that has left.

    Source: contract, "Generations": one id, or a list of them where the parameter takes several.
    """
    whole = sum(file.size for files in media.values() for file in files) or 1
    before = 0
    several = {p.name for p in model.media_parameters if (p.max_items or 1) > 1}
    references: dict[str, str | list[str]] = {}
    for name, files in media.items():
        ids: list[str] = []
        for file in files:
            tell = partial(_told, on_sent, file.name, before, whole)
            ids.append((yield from upload(model.id, file, policy, tell)))
            before += file.size
        references[name] = ids if name in several or len(ids) > 1 else ids[0]
    return references


def _changed(file: Source) -> str:
    """Return what has become of a file since it was chosen, empty where it is as long as it was."""
    with file.open() as opened:
        now = opened.seek(0, io.SEEK_END)
    return "" if now == file.size else f"it had {file.size:,} bytes before, and now has {now:,}"


def _told(
    on_sent: Callable[[str, float], None], name: str, before: int, whole: int, sent: int
) -> None:
    on_sent(name, (before + sent) / whole)


def _arrived(reply: Reply) -> bool:
    """Whether an answer that names a hash names that of what was sent; most name none."""
    try:
        told = json.loads(reply.content)["sha256"]
    except (ValueError, KeyError, TypeError):
        return True
    return not isinstance(told, str) or reply.sha256 in (None, told.lower())


def _listed(value: Any) -> Iterable[Any]:
    if value is None:
        return ()
    return value if isinstance(value, (list, tuple)) else (value,)


def _from_path(path: Path) -> Source:
    if not path.is_file():
        raise ParameterError(f"there is no file {str(path)!r}")
    with path.open("rb") as file:
        head = file.read(64)
    return _made(path.name, head, path.stat().st_size, lambda: path.open("rb"))


def _from_bytes(content: bytes, name: str) -> Source:
    return _made(name, content[:64], len(content), partial(io.BytesIO, content))


def _from_file(file: Any) -> Source:
    name = getattr(file, "name", None)
    if isinstance(name, str) and "b" in str(getattr(file, "mode", "")) and file.tell() == 0:
        path = Path(name)
        if path.is_file():
            return _from_path(path)  # however big it is, it is never held in memory
    content = file.read()
    if not isinstance(content, bytes):
        raise ParameterError("open the file in binary mode: open(..., 'rb')")
    return _from_bytes(content, PurePath(name).name if isinstance(name, str) else "upload")


def _made(name: str, head: bytes, size: int, opened: Callable[[], BinaryIO]) -> Source:
    if not size:
        raise ParameterError(f"{name!r} is empty")
    content_type = contents.sniffed(head) or contents.named(name) or kinds.ANYTHING
    if content_type.startswith("image/") and content_type not in wire.CONTENT_TYPES:
        with opened() as file:
            as_png = contents.as_png(file)
        if as_png is not None:
            return _from_bytes(as_png, f"{PurePath(name).stem}.png")
    if not PurePath(name).suffix:
        name += (mimetypes.guess_extension(content_type) or "").replace(".jpe", ".jpg")[:5]
    return Source(name, content_type, size, opened)
