"""A drop zone: sends files of any size from the browser to the kernel, in pieces.

File contents are never part of the widget's state; see `Transfer` for where they are.
"""

from __future__ import annotations

import mmap
import os
import secrets
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from kit.errors import KitError
from kit.private import make_folder
from kit.widgets.accessibility import script
from kit.widgets.background import BackgroundRunner, Debounced
from kit.widgets.form.service import SaveFile

#: The flag of Linux for a file without a name, which can be named later.
_UNNAMED_FLAG: int = getattr(os, "O_TMPFILE", 0)


@dataclass(frozen=True, slots=True)
class Offer:
    """A file offered by the browser.

    `type`: as reported by the browser, from the file's name; empty if unknown.
    """

    name: str
    type: str
    size: int


class Spool:
    """A file without a name, for the pieces received so far."""

    def __init__(self, folder: Path, *, flag: int = _UNNAMED_FLAG) -> None:
        self.can_link = False
        if flag:
            with suppress(OSError):  # not supported on all disks
                self._file: Any = os.fdopen(os.open(folder, flag | os.O_RDWR, 0o666), "w+b")
                self.can_link = True
        if not self.can_link:
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - open until the end

    def write(self, piece: bytes) -> None:
        """Add a piece."""
        self._file.write(piece)

    @contextmanager
    def content(self) -> Iterator[memoryview]:
        """Yield the whole content, memory-mapped."""
        self._file.flush()
        with (
            mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
            memoryview(mapped) as content,
        ):
            yield content

    def link(self, path: Path) -> bool:
        """Name it without copying, and return whether that worked; `path` is on the same disk."""
        if not self.can_link:
            return False
        self._file.flush()
        handle = self._file.fileno()
        try:
            # Python follows the link in /proc only if a folder is given too; the folder is ignored
            os.link(f"/proc/self/fd/{handle}", path, src_dir_fd=handle, follow_symlinks=True)
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Delete it unless it has a name."""
        self._file.close()


class Transfer:
    """Files being transferred one after the other; each is saved when it is complete.

    Raises `OSError` if there is not enough space for all files, and for the largest one twice if
    files can only be saved by copying.

    `folder`: a folder on the disk used until then; None for the system's temporary folder.
    """

    def __init__(self, name: str, offers: Sequence[Offer], folder: Path | None) -> None:
        self.name = name
        self._offers = offers
        self._file, self._received = 0, 0
        self.is_saving = False
        self._folder = folder or Path(tempfile.gettempdir())
        make_folder(self._folder)
        largest = max(offer.size for offer in offers)
        #: The received part of the current file.
        self.spool = Spool(self._folder)
        needed = sum(offer.size for offer in offers) + (0 if self.spool.can_link else largest)
        if shutil.disk_usage(self._folder).free < needed:
            self.close()
            raise OSError(
                f"the kernel's disk has no room for it: {needed / 1e6:,.0f} MB are needed"
            )

    @property
    def offer(self) -> Offer:
        """The file being transferred."""
        return self._offers[self._file]

    def next_request(self) -> dict[str, Any]:
        """Return what the browser should do next."""
        if self.is_saving:
            return {"wait": True}
        if self._file == len(self._offers):
            return {"done": True}
        return {"file": self._file, "at": self._received}

    def write(self, file: int, at: int, piece: bytes) -> bool:
        """Write a piece, and return whether its file is complete; unexpected pieces are ignored.

        Raises `ValueError` if the file differs from the offered one.
        """
        if self.next_request() != {"file": file, "at": at}:
            return False
        if not 0 < len(piece) <= self.offer.size - at:
            raise ValueError(f"{self.offer.name} has changed: choose it again")
        self.spool.write(piece)
        self._received += len(piece)
        self.is_saving = self._received == self.offer.size
        return self.is_saving

    def advance(self) -> None:
        """Continue with the next file; the previous one is not ours any more."""
        self._file, self._received, self.is_saving = self._file + 1, 0, False
        self.close()
        if self._file < len(self._offers):
            self.spool = Spool(self._folder)

    def close(self) -> None:
        """Delete received data that was not saved."""
        self.spool.close()


#: Seconds without a piece after which a transfer is canceled, because the page seems closed.
TIMEOUT_SECONDS = 300.0
_CANCELED = "The upload was canceled: choose the file again."

Answer = dict[str, Any] | None


class Drop(anywidget.AnyWidget):
    """A zone that accepts files by drag and drop, or with a button.

    `check`: takes the files before any is sent; returns the problem with them, or None.
    `keep`: takes a complete file; see `Service.save`. It runs in the background, and may read the
    content until it returns.
    `take`: takes the path of a saved file, unless its upload was canceled meanwhile.
    `folder`: a folder on the disk used for incomplete files.
    `traits`: ``label`` (its purpose), ``call`` (its text), ``hint``, ``accept`` (as in HTML),
    ``several`` (whether more than one file may be chosen at once).
    """

    _esm = script("kit.widgets", "elements.js", "form/drop_zone.js").default_value

    label = traitlets.Unicode().tag(sync=True)
    call = traitlets.Unicode("Drop a file here, or").tag(sync=True)
    hint = traitlets.Unicode().tag(sync=True)
    accept = traitlets.Unicode().tag(sync=True)
    several = traitlets.Bool(False).tag(sync=True)
    #: Whether it accepts files dropped anywhere on its form, except on other zones.
    whole = traitlets.Bool(False).tag(sync=True)
    #: Identifies the zone for a reloaded page.
    key = traitlets.Unicode().tag(sync=True)

    def __init__(
        self,
        *,
        check: Callable[[Sequence[Offer]], str | None],
        keep: SaveFile,
        take: Callable[[Path], None],
        background: BackgroundRunner,
        folder: Path | None = None,
        **traits: Any,
    ) -> None:
        self._check, self._keep, self._take = check, keep, take
        self._background = background
        self._folder = folder
        self._transfer: Transfer | None = None
        self._message_number: Any = None
        self._lock = threading.Lock()  # messages arrive on several threads
        self._expire_soon = Debounced(self._cancel_transfer, TIMEOUT_SECONDS, background)
        classes = ("kit-drop", *traits.pop("_dom_classes", ()))
        super().__init__(key=secrets.token_hex(4), _dom_classes=classes, **traits)
        self.on_msg(self._receive)

    def close(self) -> None:
        """Cancel the transfer, and close the widget."""
        self._cancel_transfer()
        super().close()

    def __repr__(self) -> str:
        return f"<Drop {self.label}>" if self.label else "<Drop>"

    # ── messages ─────────────────────────────────────────────────────────────────────────────────

    def _receive(self, _: Any, message: Mapping[str, Any], buffers: Sequence[Any]) -> None:
        """Respond to the browser; errors can only be shown there."""
        with self._lock:
            self._message_number = message.get("n")
            try:
                answer = self._handle(message, buffers)
            except Exception as problem:  # noqa: BLE001 - any error is shown here, or it is lost
                self._drop_transfer()
                answer = {"no": _sentence(problem)}
            self._reply(message.get("id"), answer)

    def _reply(self, name: Any, answer: Answer) -> None:
        if answer is not None:
            self.send({"id": name, "n": self._message_number, **answer})

    def _handle(self, message: Mapping[str, Any], buffers: Sequence[Any]) -> Answer:
        match message.get("do"):
            case "offer":
                return self._begin_transfer(message)
            case "piece":
                return self._write_piece(message, buffers[0])
            case "where":
                return self._request_next(message)
            case "stop" if self._find_transfer(message) is not None:
                self._drop_transfer()
        return None

    def _begin_transfer(self, message: Mapping[str, Any]) -> Answer:
        self._drop_transfer()  # from a page that is gone, or another view of this widget
        offers = [Offer(f["name"], f["type"], f["size"]) for f in message["files"]]
        if problem := self._check(offers):
            return {"no": problem}
        self._transfer = Transfer(message["id"], offers, self._folder)
        return self._request_next(message)

    def _write_piece(self, message: Mapping[str, Any], piece: bytes) -> Answer:
        transfer = self._find_transfer(message)
        if transfer is None or not transfer.write(message["file"], message["at"], piece):
            return self._request_next(message)
        self._background.begin(lambda: self._store(transfer))
        return None  # the response is sent when it is saved

    def _find_transfer(self, message: Mapping[str, Any]) -> Transfer | None:
        """Return the transfer that a message belongs to, if it still exists."""
        transfer = self._transfer
        return transfer if transfer is not None and transfer.name == message["id"] else None

    def _request_next(self, message: Mapping[str, Any]) -> Answer:
        if (transfer := self._find_transfer(message)) is None:
            return {"no": _CANCELED}
        self._expire_soon()
        return transfer.next_request()

    # ── files ────────────────────────────────────────────────────────────────────────────────────

    def _store(self, transfer: Transfer) -> None:
        """Save a complete file, then request the next one."""
        problem, spool = "", transfer.spool
        try:
            with spool.content() as content:
                path = self._keep(transfer.offer.name, content, spool.link)
            if self._transfer is transfer:
                self._take(path)
        except Exception as error:  # noqa: BLE001 - as above
            problem = f"The file was not kept: {_sentence(error)}"
        with self._lock:
            if self._transfer is not transfer:
                return
            if problem:
                self._drop_transfer()
                self._reply(transfer.name, {"no": problem})
                return
            transfer.advance()
            request = transfer.next_request()
            (self._expire_soon.cancel if "done" in request else self._expire_soon)()
            self._reply(transfer.name, request)

    def _cancel_transfer(self) -> None:
        with self._lock:
            self._drop_transfer()

    def _drop_transfer(self) -> None:
        self._expire_soon.cancel()
        if self._transfer is not None:
            self._transfer.close()
        self._transfer = None


def _sentence(problem: Exception) -> str:
    if isinstance(problem, OSError):
        return problem.strerror or str(problem)
    return str(problem) if isinstance(problem, (KitError, ValueError)) else repr(problem)
