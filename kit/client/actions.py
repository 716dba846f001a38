"""What a flow can ask its driver to do, and what comes back.

A flow is a generator: it yields steps and receives outcomes, both plain data, so that retries,
waiting, uploads and downloads are written once and driven by blocking or by awaiting.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, TypeVar

from kit.client.calls import Call

T = TypeVar("T")
A = TypeVar("A")

_log = logging.getLogger("kit")


@dataclass(frozen=True, slots=True)
class SendRequest:
    """Send a call once, with the API key; the outcome is a `Reply` or `NoReply`."""

    call: Call[Any]
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UploadFile:
    """Send a file to an address, with exactly these headers and without the API key.

    `on_sent` is called with the bytes that have left so far.
    """

    url: str
    headers: Mapping[str, str]
    open: Callable[[], BinaryIO]
    size: int
    on_sent: Callable[[int], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class DownloadFile:
    """Write what an address answers to a file; redirects are not followed.

    The API key is sent to its own origin only. With a `tag` it goes on where the file ends, as long
    as the other side still has what carries this ETag; an empty one goes on without that question.
    """

    url: str
    target: Path
    with_key: bool = False
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class FetchMedium:
    """Fetch a file from the web, without the API key; the outcome is its path here."""

    url: str


@dataclass(frozen=True, slots=True)
class Sleep:
    """Let some seconds pass; whoever waits is told why, once more (`again`) only in place."""

    seconds: float
    why: str = ""
    again: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as it came: header names in lower case, the body unread.

    `sha256` is that of the whole file, on the reply to an `UploadFile` or a `DownloadFile`.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b""
    sha256: str | None = None

    @property
    def fine(self) -> bool:
        """Whether the status is a success, or says that nothing changed."""
        return 200 <= self.status < 300 or self.status == 304


@dataclass(frozen=True, slots=True)
class NoReply:
    """No answer came, and the request may have been carried out.

    `tag` is the ETag of a download that broke off, where it has one that goes by bytes. What is
    `harmless` may be sent once more under its key: nothing had left, or the service is known to
    honor such keys. `refused` is the address of the service where nothing listens. `lasting` is
    what is no matter of time: the address cannot be one, for instance.
    """

    message: str
    tag: str | None = None
    harmless: bool = False
    sent: bool = True
    refused: str = ""
    lasting: bool = False


@dataclass(frozen=True, slots=True)
class NotWritten(NoReply):
    """A file came and could not be written here: to ask again is of no use."""


def not_written(target: Path, error: OSError) -> NotWritten:
    """Return the outcome of a download that has no room, or may not be written.

    Examples
    --------
    >>> not_written(Path("a.png"), OSError(28, "No space left on device")).message
    'it could not be written to .: No space left on device'
    """
    why = error.strerror or str(error) or type(error).__name__
    return NotWritten(f"it could not be written to {target.parent}: {why}", lasting=True)


Step: TypeAlias = SendRequest | UploadFile | DownloadFile | FetchMedium | Sleep
Outcome: TypeAlias = Reply | NoReply | Path | None
Flow: TypeAlias = Generator[Step, Any, T]


def log_wait(step: Sleep) -> None:
    """Log why a flow waits, unless that was logged before."""
    if step.why and not step.again:
        _log.warning("%s", step.why)


def map_result(flow: Flow[A], make: Callable[[A], T]) -> Flow[T]:
    """Return a flow whose result is made of another flow's result."""
    return make((yield from flow))
