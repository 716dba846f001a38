"""What a flow can ask its driver to do, and what comes back.

A flow is a generator: it yields steps and receives outcomes, both plain data, so that retries,
waiting, uploads and downloads are written once and driven by blocking or by awaiting.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, TypeVar

from kit.client.calls import Call

T = TypeVar("T")
A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class Ask:
    """Send a call once, with the API key; the outcome is a `Reply` or `Lost`."""

    call: Call[Any]
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Put:
    """Send a file to an address, with exactly these headers and without the API key."""

    url: str
    headers: Mapping[str, str]
    open: Callable[[], BinaryIO]
    size: int


@dataclass(frozen=True, slots=True)
class Fetch:
    """Write what an address answers to a file; redirects are not followed.

    `with_key` asks for the API key, which is sent to its own origin only.
    """

    url: str
    target: Path
    with_key: bool = False


@dataclass(frozen=True, slots=True)
class Sleep:
    """Let some seconds pass; the outcome is None."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as it came: header names in lower case, the body unread.

    `sha256` is set on the reply to a `Fetch`, whose body went to the file.
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
class Lost:
    """No answer came; `timed_out` means that the request may well have been carried out."""

    message: str
    timed_out: bool = False


Step: TypeAlias = Ask | Put | Fetch | Sleep
Outcome: TypeAlias = Reply | Lost | None
Flow: TypeAlias = Generator[Step, Any, T]


def then(flow: Flow[A], make: Callable[[A], T]) -> Flow[T]:
    """Return a flow whose result is made of another flow's result."""
    return make((yield from flow))
