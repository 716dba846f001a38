"""The port of a storage: files by key, and signed addresses that lead to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from kit.service.storage.output_folder import OutputFolder
from kit.wire import Ticket


class Storage(Protocol):
    """Where outputs and uploads are kept.

    A key is a relative path of safe characters, e.g. ``outputs/gen_.../3f2a.png``; what lies under
    a key never changes.
    """

    outputs: OutputFolder
    """Where render processes of this machine put their results themselves."""

    direct: bool
    """Whether clients send and read files there, and not through the service."""

    async def keep(self, files: Mapping[str, Path]) -> None:
        """Take finished files in by key; they are on disk when this returns."""
        ...

    async def publish(self, keys: Sequence[str]) -> None:
        """Take in what render processes have put into `outputs`.

        Raises
        ------
        UnavailableError
            The storage does not answer.
        """
        ...

    async def local(self, key: str, folder: Path) -> Path:
        """Return a local path to read a file from, in `folder` if it has to be fetched."""
        ...

    async def fetch_received(self, upload_id: str, length: int, folder: Path) -> Path | None:
        """Return a copy of the file that a client has sent with a ticket; None where there is none.

        It is not verified yet. Only where clients send files there, see `direct`.
        """
        ...

    async def discard_received(self, upload_id: str) -> None:
        """Remove what a client has sent with a ticket."""
        ...

    async def tidy(self) -> None:
        """Remove what broken transfers have left."""
        ...

    async def names(self, folder: str) -> list[str]:
        """Return the names of the files and folders in a folder, in order; none where it is not."""
        ...

    async def remove(self, prefix: str) -> None:
        """Remove a file, or every file below a prefix; a missing one is no error."""
        ...

    def read_address(self, method: str, key: str) -> str | None:
        """Return a short-lived address for one GET or HEAD; None where the service serves files."""
        ...

    def ticket(
        self,
        base: str,
        upload_id: str,
        content_type: str,
        length: int,
        *,
        expires: int,
        sign_outs: int,
    ) -> Ticket:
        """Return the ticket for sending one file."""
        ...

    async def ready(self) -> bool:
        """Whether files can be written just now."""
        ...
