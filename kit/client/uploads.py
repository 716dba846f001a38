"""Uploads: images, videos and audio from any source are sent and become upload ids.

Files are validated before a ticket is requested, so an unsupported file only causes an error
message. Supported file types are known for our own service only.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path, PurePath
from typing import Any, BinaryIO, TypeAlias
from weakref import WeakKeyDictionary, WeakValueDictionary

from kit import containers, wire
from kit.client import answers, calls, file_types, flows
from kit.client.calls import Flow, NoReply, Reply, UploadFile
from kit.client.flows import PATIENT, Attempts, Policy
from kit.endings import SOUND_CONTAINERS
from kit.errors import ConfigError, EngineError, InternalError, ParameterError, UploadError
from kit.parameters import file_name_problems, is_own
from kit.private import user_path

#: Model, content type and hash of an uploaded file.
UploadKey: TypeAlias = tuple[str, str, str]
#: Statuses with which an expired ticket may be refused.
_EXPIRED_STATUSES = frozenset({400, 401, 403, 410})
#: The files in use, so that all requests of a sweep share one conversion.
_opened: WeakValueDictionary[tuple[Path, int, int], FileSource] = WeakValueDictionary()
_hashes: WeakKeyDictionary[FileSource, str] = WeakKeyDictionary()
#: The beginning of a URL; a path may begin with a single drive letter.
_URL_START = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/|data:")


def is_web_url(medium: Any) -> bool:
    """Return whether a medium is a URL that can be fetched."""
    return isinstance(medium, str) and medium.lower().startswith(("https://", "http://"))


def ticket_problem(ticket: wire.Ticket, size: int) -> str:
    """Return why a file of this size cannot be sent with a ticket; empty if it can."""
    for name, value in ticket.required_headers.items():
        if name.lower() == "content-length" and value.strip() != str(size):
            return f"the service's ticket is for {value.strip()[:20]} bytes, and it has {size:,}"
        if not _is_sendable(name, value):
            return f"the service's ticket wants the header {name[:80]!r}, which cannot be sent"
    return ""


def is_expired(ticket: wire.Ticket, outcome: Reply | NoReply) -> bool:
    """Return whether a ticket was refused because it expired: by its date, or by the message."""
    if not isinstance(outcome, Reply) or outcome.status not in _EXPIRED_STATUSES:
        return False
    if ticket.expires_at is not None and answers.moment(outcome) >= ticket.expires_at:
        return True
    return "expired" in str(flows.find_error(outcome)).lower()


def refusal_text(name: str, outcome: Reply | NoReply) -> str:
    """Return why an upload failed: it was refused, or the connection or the service failed."""
    error, status = flows.find_error(outcome), getattr(outcome, "status", 0)
    reason = _file_problems(error) or (flows.explain_retry_after(error) if error else "")
    if 300 <= status < 400:
        reason = "its URL redirects, which is not followed"
    fate = "was refused" if 400 <= status < 500 and status != 429 else "did not arrive"
    return f"the file {name!r} {fate}: {reason}"


def _file_problems(error: Exception | None) -> str:
    """Return the service's messages about the file itself, without the field name."""
    found = getattr(error, "details", None)
    details = [d for d in found if isinstance(d, Mapping)] if isinstance(found, list) else []
    return "; ".join(str(d.get("message")) for d in details if d.get("field") == "file")


def _is_sendable(name: str, value: str) -> bool:
    """Whether a header is valid in a request. Source: RFC 9110, sections 5.1 and 5.5."""
    token = re.fullmatch(r"[\w!#$%&'*+.^`|~-]+", name, re.ASCII)
    return bool(token) and value.isascii() and (value.isprintable() or not value)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class FileSource:
    """A file to upload, possibly several times: `open` returns a new binary stream."""

    name: str
    content_type: str
    size: int
    open: Callable[[], BinaryIO]

    @property
    def kind(self) -> str:
        """``image``, ``video`` or ``audio``."""
        return self.content_type.partition("/")[0]

    def sha256(self) -> str:
        """Return the hash of the content, which is read once."""
        if (known := _hashes.get(self)) is not None:
            return known
        with self.open() as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]  # any binary stream
        return _hashes.setdefault(self, found)

    def seconds(self) -> Fraction | None:
        """Return the duration, or None if it cannot be measured here; images have none."""
        try:
            return None if self.kind == "image" else self.measure()
        except ConfigError:
            return None

    def measure(self) -> Fraction:
        """Return the duration to milliseconds, as the service records it.

        Raises `ConfigError` with the reason if it cannot be measured here.
        """
        try:
            import av

            with self.open() as file:
                return Fraction(round(containers.measure(file, self.kind) * 1000), 1000)
        except ImportError:
            reason = "the package av is not installed"
        except EngineError as error:
            reason = str(error)
        except av.FFmpegError:
            reason = "it is cut off or damaged"
        raise ConfigError(f"the length of {self.name!r} cannot be measured: {reason}")


def source(medium: Any, *, ours: bool = True) -> FileSource:
    """Return the file to upload for a path, bytes, an open file, an image or an array.

    Our own service accepts certain types only, which are checked here; others check themselves.
    """
    found = _find_source(medium)
    if ours:
        file_types.check_type(found.name, found.content_type)
    return found


def _find_source(medium: Any) -> FileSource:
    if isinstance(medium, FileSource):
        return medium
    if isinstance(medium, (str, PurePath)):
        text = medium.as_posix() if isinstance(medium, PurePath) else medium
        if _URL_START.match(text):
            raise ParameterError(
                f"{text.partition('?')[0][:80]!r} is an address that is not fetched: a "
                "medium is a path or begins with https://"
            )
        return _from_path(user_path(medium))
    if isinstance(medium, (bytes, bytearray, memoryview)):
        return _from_bytes(bytes(medium), "upload")
    if hasattr(medium, "read"):
        return _from_file(medium)
    for module, attribute, encode in file_types.ENCODERS:
        loaded = sys.modules.get(module)
        if loaded is not None and isinstance(medium, getattr(loaded, attribute, ())):
            return _from_bytes(encode(medium), "upload")
    what = (
        "a path, an https address, bytes, an open file, a picture, an array, a figure or an output"
    )
    raise ParameterError(f"a medium is {what}, not a {type(medium).__name__}")


def sources(
    model: wire.Model, media: Any, *, ours: bool = True
) -> dict[str, tuple[FileSource, ...]]:
    """Return the files for each media parameter of a model.

    A mapping is by parameter name; anything else is for the model's first media parameter.
    """
    if media is None:
        return {}
    if not isinstance(media, Mapping):
        if not model.media_parameters:
            raise ParameterError(f"the model {model.id!r} takes no media")
        media = {model.media_parameters[0].name: media}
    found = {
        name: tuple(source(one, ours=ours) for one in as_list(value))
        for name, value in media.items()
    }
    for name in {p.name for p in model.media_parameters if p.type == "audio"} & found.keys():
        found[name] = tuple(map(_as_sound, found[name]))
    for parameter in model.media_parameters:
        for file in found.get(parameter.name, ()):
            file_types.check_type_for(parameter, file.name, file.content_type)
            if is_own(model) and (problems := [*file_name_problems(file.name)]):
                raise ParameterError.fields(problems)
    return {name: files for name, files in found.items() if files}


def _as_sound(file: FileSource) -> FileSource:
    """Return a file of which only the sound is used: videos and sounds have the same container."""
    is_mp4 = file.content_type in SOUND_CONTAINERS
    return replace(file, content_type="audio/mp4") if is_mp4 else file


def upload(
    model_id: str,
    file: FileSource,
    policy: Policy = PATIENT,
    on_sent: Callable[[int], None] = lambda _: None,
    known: MutableMapping[UploadKey, str] | None = None,
) -> Flow[str]:
    """Request a ticket, upload the file with it, and return the upload's id.

    The id is added to `known`, by model, type and hash.

    A ticket is for one PUT: after a failure of the connection or the service, the next attempt
    requests a new one; once also if the ticket had expired. If the service reports a hash of what
    it received, it is compared with what was sent.
    """
    known = {} if known is None else known
    body = wire.RequestUpload(
        file_name=file.name,
        content_type=file.content_type,
        file_size_bytes=file.size,
        model_id=model_id,
    )
    tries, renewed = Attempts(policy), False
    while True:
        ticket = yield from _request_ticket(body, policy, tries)
        if why := _describe_change(file) or ticket_problem(ticket, file.size):
            raise UploadError(f"the file {file.name!r} was not sent: {why}")
        outcome = yield UploadFile(
            ticket.upload_url, ticket.required_headers, file.open, file.size, on_sent
        )
        if isinstance(outcome, Reply) and outcome.is_success:
            if _has_arrived(outcome):
                known[model_id, file.content_type, outcome.sha256 or ""] = ticket.upload_id
                return ticket.upload_id
            outcome = NoReply("the received file differs from the sent one (SHA-256)")
        # another attempt would get the same response
        if isinstance(outcome, Reply) and outcome.status < 500 and outcome.status != 429:
            if renewed or not is_expired(ticket, outcome):
                break
            renewed = True
        elif not (yield from tries.sleep(flows.find_error(outcome))):
            break
    raise UploadError(refusal_text(file.name, outcome))


def _request_ticket(body: wire.RequestUpload, policy: Policy, tries: Attempts) -> Flow[wire.Ticket]:
    """Return a ticket; requested again after failures of the service, as it is free."""
    while True:
        try:
            return (yield from flows.ask(calls.request_upload(body), policy))
        except InternalError as error:
            if not (yield from tries.sleep(error)):
                raise


def upload_all(
    model: wire.Model,
    media: Mapping[str, Sequence[FileSource]],
    policy: Policy = PATIENT,
    on_sent: Callable[[str, float], None] = lambda _name, _share: None,
    known: MutableMapping[UploadKey, str] | None = None,
) -> Flow[dict[str, str | list[str]]]:
    """Upload all files and return their ids in the shape of ``mediaUploads``.

    `on_sent` gets a file's name and the share of all bytes sent so far, 0 to 1. `known` are the ids
    of earlier uploads, which are used again.

    Source: contract, "Generations": one id, or a list of them if the parameter takes several.
    """
    total = sum(file.size for files in media.values() for file in files) or 1
    before, earlier = 0, dict(known or {})

    def report(file: FileSource, before: int, sent: int) -> None:
        on_sent(file.name, (before + sent) / total)

    several = {p.name for p in model.media_parameters if (p.max_items or 1) > 1}
    references: dict[str, str | list[str]] = {}
    for name, files in media.items():
        ids: list[str] = []
        for file in files:
            found = earlier and earlier.get((model.id, file.content_type, file.sha256()))
            on_bytes = partial(report, file, before)
            ids.append(found or (yield from upload(model.id, file, policy, on_bytes, known)))
            before += file.size
        references[name] = ids if name in several or len(ids) > 1 else ids[0]
    return references


def _describe_change(file: FileSource) -> str:
    """Return how a file's size has changed since it was chosen; empty if it is the same."""
    with file.open() as opened:
        now = opened.seek(0, io.SEEK_END)
    return "" if now == file.size else f"it had {file.size:,} bytes before, and now has {now:,}"


def _has_arrived(reply: Reply) -> bool:
    """Whether a response has the hash of what was sent, or no hash, as most have none."""
    try:
        stated = json.loads(reply.content)["sha256"]
    except (ValueError, KeyError, TypeError):
        return True
    return not isinstance(stated, str) or reply.sha256 in (None, stated.lower())


def as_list(value: Any) -> Iterable[Any]:
    """Return one value, or several, as a list; None is none."""
    if value is None:
        return ()
    return value if isinstance(value, (list, tuple)) else (value,)


def _from_path(path: Path) -> FileSource:
    name = repr(str(path)[:200])
    try:
        if not path.is_file():
            raise ParameterError(f"there is no file {name}")
        with path.open("rb") as file:
            head = file.read(64)
        facts = path.stat()
    except OSError as error:  # e.g. the name is too long, or reading it is not allowed
        raise ParameterError(f"the file {name} cannot be read: {error.strerror}") from None
    key = path.absolute(), facts.st_size, facts.st_mtime_ns
    found = _opened.get(key) or _make_source(path.name, head, key[1], lambda: path.open("rb"))
    return _opened.setdefault(key, found)


def _from_bytes(content: bytes, name: str) -> FileSource:
    return _make_source(name, content[:64], len(content), partial(io.BytesIO, content))


def _from_file(file: Any) -> FileSource:
    name = getattr(file, "name", None)
    if getattr(file, "closed", False):
        raise ParameterError(f"the file {name or file!r} is closed: give its path, or reopen it")
    if isinstance(name, str) and "b" in str(getattr(file, "mode", "")) and file.tell() == 0:
        path = Path(name)
        if path.is_file():
            return _from_path(path)  # a file of any size is never loaded into memory
    seekable = hasattr(file, "seekable") and file.seekable()
    at = file.tell() if seekable else 0
    content = file.read()
    if not content and at:  # it was just written
        file.seek(0)
        content = file.read()
    if seekable:
        file.seek(at)  # it may be used again
    if not isinstance(content, bytes):
        raise ParameterError("open the file in binary mode: open(..., 'rb')")
    return _from_bytes(content, PurePath(name).name if isinstance(name, str) else "upload")


def _make_source(name: str, head: bytes, size: int, reopen: Callable[[], BinaryIO]) -> FileSource:
    if not size:
        raise ParameterError(f"{name!r} is empty")
    content_type = file_types.type_of(head, name)
    if content_type.startswith("image/") and content_type not in wire.CONTENT_TYPES:
        with reopen() as file:
            converted = file_types.convert_picture(file)
        if converted is not None:
            ending = file_types.file_extension(file_types.sniff_type(converted) or "")
            return _from_bytes(converted, PurePath(name).stem + ending)
    if not PurePath(name).suffix:
        name += file_types.file_extension(content_type) or ".bin"
    return FileSource(name, content_type, size, reopen)
