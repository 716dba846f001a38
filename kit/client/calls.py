"""Requests as data: the operations, and the steps of flows. Nothing here sends.

A `Call` is a request and the parser of its response. A flow is a generator: it yields steps and
receives outcomes, so that retries, waiting, uploads and downloads are written once, and run by a
blocking or an async client.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeAlias, TypeVar
from urllib.parse import quote

from pydantic import TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel as _camel

from kit import wire

T = TypeVar("T")
W = TypeVar("W", bound=wire.WireShape)

ACCOUNT = "/v1/account"
MODELS = "/v1/creative-studio/models"
UPLOADS = "/v1/creative-studio/media-uploads"
GENERATIONS = "/v1/creative-studio/generations"
ESTIMATES = "/v1/creative-studio/estimates"
#: Maximum of bytes of an output, to protect the disk.
MAX_FILE_BYTES = 10_000_000_000
#: Seconds in which the same text is logged once.
_LOG_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request, and how to parse its response.

    The path is relative to the base URL, or a whole URL of the same origin. Every attempt carries
    the idempotency key; a POST without one is sent once. A `free` call costs nothing and may be
    sent twice without harm, as every GET.
    """

    method: str
    path: str
    parse: Callable[[bytes], T]
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    key: str | None = None
    free: bool = False

    @property
    def pays(self) -> bool:
        """Whether it may be charged once it has been received."""
        return not self.free and self.method != "GET"


def get_account() -> Call[wire.Account]:
    """Operation 1."""
    return Call("GET", ACCOUNT, wire.Account.model_validate_json)


def list_models() -> Call[wire.Models]:
    """Operation 2."""
    return Call("GET", MODELS, wire.Models.model_validate_json)


def get_model(model_id: str) -> Call[wire.Model]:
    """Operation 3."""
    return Call("GET", f"{MODELS}/{_segment(model_id)}", wire.Model.model_validate_json)


def request_upload(file: wire.RequestUpload) -> Call[wire.Ticket]:
    """Operation 4."""
    return _post(UPLOADS, wire.Ticket.model_validate_json, file, free=True)


def start_generation(order: wire.StartGeneration, *, key: str | None = None) -> Call[wire.Receipt]:
    """Operation 5."""
    return _post(GENERATIONS, wire.Receipt.model_validate_json, order, key=key)


def get_generation(generation_id: str, *, status_url: str | None = None) -> Call[wire.Generation]:
    """Operation 6; a receipt's ``statusUrl`` replaces the usual path."""
    path = status_url or f"{GENERATIONS}/{_segment(generation_id)}"
    return Call("GET", path, wire.Generation.model_validate_json)


def list_generations(**filters: Any) -> Call[list[wire.Generation]]:
    """Operation 7; filters are additive and only sent if given.

    Source: contract, "Generations": ``limit status asset_type model_id created_after
    created_before tag``, the last being a mapping.
    """
    tags = {f"tag.{key}": value for key, value in (filters.pop("tag", None) or {}).items()}
    return Call("GET", GENERATIONS, _list_reader(wire.Generation), query=_query(filters) | tags)


def suggest_title(topic: str) -> Call[wire.Title]:
    """Operation 8."""
    body = wire.SuggestTitle(topic=topic)
    return _post("/v1/scripts/title", wire.Title.model_validate_json, body)


def write_scripts(order: wire.WriteScripts) -> Call[list[wire.Script]]:
    """Operation 9."""
    return _post("/v1/scripts", _list_reader(wire.Script), order)


def estimate(order: wire.StartGeneration) -> Call[wire.Quote]:
    """Additive: the price of a start, from the service. Source: contract, "Pricing"."""
    return _post(ESTIMATES, wire.Quote.model_validate_json, order, free=True)


def list_usage(**filters: Any) -> Call[list[wire.Entry]]:
    """Additive: the ledger, newest first. Source: contract, "Generations"."""
    return Call("GET", "/v1/usage", _list_reader(wire.Entry), query=_query(filters))


def cancel_generation(generation_id: str) -> Call[wire.Generation]:
    """Additive: stop a generation. Source: contract, "Generations"."""
    path = f"{GENERATIONS}/{_segment(generation_id)}/cancel"
    return Call("POST", path, wire.Generation.model_validate_json, key=new_key(), free=True)


def delete_outputs(generation_id: str) -> Call[None]:
    """Additive: delete the files of a generation. Source: contract, "Isolation"."""
    path = f"{GENERATIONS}/{_segment(generation_id)}/outputs"
    return Call("DELETE", path, lambda _: None, free=True)


def new_key() -> str:
    """Return a new idempotency key: one per call, the same for all its attempts."""
    return str(uuid.uuid4())


#: Default values that are not sent, because a service may refuse fields that it does not know.
_DEFAULTS: dict[str, Any] = {"mediaUploads": {}, "tags": {}, "fileMetadata": True}


def _segment(text: str) -> str:
    """Return an id as one segment of a path, quoted so that it cannot change the path."""
    dots = text in (".", "..")
    return text.replace(".", "%2E") if dots else quote(text, safe="", errors="surrogatepass")


def _post(
    path: str,
    parse: Callable[[bytes], T],
    order: wire.Body,
    *,
    key: str | None = None,
    free: bool = False,
) -> Call[T]:
    dumped = order.model_dump(mode="json", by_alias=True, exclude_none=True)
    body = {name: v for name, v in dumped.items() if name not in _DEFAULTS or v != _DEFAULTS[name]}
    return Call("POST", path, parse, body=body, key=key or new_key(), free=free)


@cache
def _list_reader(kind: type[W]) -> Callable[[bytes], list[W]]:
    validate = TypeAdapter(list[kind]).validate_json  # type: ignore[valid-type]

    def read(content: bytes) -> list[W]:
        try:
            return validate(content)
        except ValidationError as error:
            return wire.read_leniently(validate, content, error, essential=kind.essential)

    return read


def _query(filters: Mapping[str, Any]) -> dict[str, str]:
    return {
        _camel(name): wire.timestamp(value) if hasattr(value, "astimezone") else str(value)
        for name, value in filters.items()
        if value is not None
    }


_log = logging.getLogger("kit")


@dataclass(frozen=True, slots=True)
class SendRequest:
    """Send a call once, with the API key; the outcome is a `Reply` or `NoReply`."""

    call: Call[Any]
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UploadFile:
    """Send a file to a URL, with exactly these headers and without the API key.

    `on_sent` is called with the number of bytes sent so far.
    """

    url: str
    headers: Mapping[str, str]
    open: Callable[[], BinaryIO]
    size: int
    on_sent: Callable[[int], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class DownloadFile:
    """Write the response of a URL to a file; redirects are not followed.

    The API key is sent to its own origin only. With an `etag` the download resumes at the end of
    the file if the server's file still has this ETag; with an empty one it resumes unconditionally.
    At most `most` bytes are accepted.
    """

    url: str
    target: Path
    with_key: bool = False
    etag: str | None = None
    most: int = MAX_FILE_BYTES


@dataclass(frozen=True, slots=True)
class FetchMedium:
    """Download a file from the web, without the API key; the outcome is its path."""

    url: str


@dataclass(frozen=True, slots=True)
class Sleep:
    """Sleep for some seconds; `why` is shown to the user, and not logged if `repeated`."""

    seconds: float
    why: str = ""
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """A raw response: header names in lower case, the body unparsed.

    `sha256` is the hash of the whole file, for an `UploadFile` or a `DownloadFile`. A `harmless`
    request may be sent again with its key after a gateway's failure, as after a `NoReply`.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b""
    sha256: str | None = None
    harmless: bool = False

    @property
    def is_success(self) -> bool:
        """Whether the status is a success or 304 (not modified)."""
        return 200 <= self.status < 300 or self.status == 304


@dataclass(frozen=True, slots=True)
class NoReply:
    """No response was received, and the request may have been executed.

    `etag` is the strong ETag of an interrupted download, if any. A `harmless` request may be sent
    again with its key: nothing was sent, or the service is known to honor such keys. `refused_url`
    is the service's address if the connection was refused. `permanent` failures do not pass, such
    as an invalid URL.
    """

    message: str
    etag: str | None = None
    harmless: bool = False
    sent: bool = True
    refused_url: str = ""
    permanent: bool = False


@dataclass(frozen=True, slots=True)
class NotWritten(NoReply):
    """A file was received and could not be written: a retry does not help."""


def not_written(target: Path, error: OSError) -> NotWritten:
    """Return the outcome of a download that could not be written to the disk."""
    why = failure_reason(error)
    return NotWritten(f"it could not be written to {target.parent}: {why}", permanent=True)


def failure_reason(error: OSError) -> str:
    """Return why something could not be written, without the error number."""
    return error.strerror or str(error) or type(error).__name__


Step: TypeAlias = SendRequest | UploadFile | DownloadFile | FetchMedium | Sleep
Outcome: TypeAlias = Reply | NoReply | Path | None
Flow: TypeAlias = Generator[Step, Any, T]


class WaitLog:
    """Logs why the flows of one client wait; the same text of many flows once in 30 seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._logged: dict[str, float] = {}

    def add(self, step: Sleep) -> None:
        """Log a wait, unless it is `repeated` or was logged just now."""
        oldest = self._clock() - _LOG_SECONDS
        if not step.why or step.repeated or self._logged.get(step.why, oldest) > oldest:
            return
        self._logged = {why: at for why, at in self._logged.items() if at > oldest}
        self._logged[step.why] = self._clock()
        _log.warning("%s", step.why)
