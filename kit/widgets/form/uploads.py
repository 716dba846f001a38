"""A drop zone: files of any size come from the browser to the kernel, in pieces.

Nothing of a file is ever in the widget's state; see `Transfer` for where it is.
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
from kit.widgets.form.service import Keep

#: How Linux is asked for a file without a name that can be given one later.
_NAMELESS: int = getattr(os, "O_TMPFILE", 0)


@dataclass(frozen=True, slots=True)
class Offer:
    """A file that the browser would send.

    `type`: as the browser tells it, by the name of the file; empty where it knows none.
    """

    name: str
    type: str
    size: int


class Spool:
    """A file without a name, for what has arrived so far."""

    def __init__(self, folder: Path, *, nameless: int = _NAMELESS) -> None:
        self.nameable = False
        if nameless:
            with suppress(OSError):  # not every disk knows how
                handle = os.open(folder, nameless | os.O_RDWR, 0o666)
                self._file: Any = os.fdopen(handle, "w+b")
                self.nameable = True
        if not self.nameable:
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - open until the end

    def write(self, piece: bytes) -> None:
        """Add a piece."""
        self._file.write(piece)

    @contextmanager
    def content(self) -> Iterator[memoryview]:
        """Yield all of it, without holding it in memory."""
        self._file.flush()
        with (
            mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
            memoryview(mapped) as content,
        ):
            yield content

    def settle(self, path: Path) -> bool:
        """Name it, uncopied, and return whether that could be done; `path` is new, on its disk."""
        if not self.nameable:
            return False
        self._file.flush()
        handle = self._file.fileno()
        try:
            # Python follows the link in /proc only if a folder is named too; it counts for nothing
            os.link(f"/proc/self/fd/{handle}", path, src_dir_fd=handle, follow_symlinks=True)
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Forget what has no name."""
        self._file.close()


class Transfer:
    """Files on their way, one after the other, each to be kept when it is whole.

    Raises `OSError`: there is not enough room for all of them, and for the largest twice where one
    cannot be kept without a copy.

    `folder`: on which disk they are until then; None is the system's place for temporary files.
    """

    def __init__(self, name: str, offers: Sequence[Offer], folder: Path | None) -> None:
        self.name = name
        self._offers = offers
        self._file, self._at = 0, 0
        self.keeping = False
        self._place = folder or Path(tempfile.gettempdir())
        make_folder(self._place)
        twice = max(offer.size for offer in offers)
        #: What has arrived of the file that is on its way.
        self.spool = Spool(self._place)
        needed = sum(offer.size for offer in offers) + (0 if self.spool.nameable else twice)
        if shutil.disk_usage(self._place).free < needed:
            self.close()
            raise OSError(
                f"the kernel's disk has no room for it: {needed / 1e6:,.0f} MB are needed"
            )

    @property
    def offer(self) -> Offer:
        """The file that is on its way."""
        return self._offers[self._file]

    def wants(self) -> dict[str, Any]:
        """Return what the browser has to do next."""
        if self.keeping:
            return {"wait": True}
        if self._file == len(self._offers):
            return {"done": True}
        return {"file": self._file, "at": self._at}

    def write(self, file: int, at: int, piece: bytes) -> bool:
        """Write a piece, and return whether its file is whole; one that is not wanted is ignored.

        Raises `ValueError`: the file is not the one that was offered.
        """
        if self.wants() != {"file": file, "at": at}:
            return False
        if not 0 < len(piece) <= self.offer.size - at:
            raise ValueError(f"{self.offer.name} has changed: choose it again")
        self.spool.write(piece)
        self._at += len(piece)
        self.keeping = self._at == self.offer.size
        return self.keeping

    def advance(self) -> None:
        """Go on to the next file; the one before is another's now."""
        self._file, self._at, self.keeping = self._file + 1, 0, False
        self.close()
        if self._file < len(self._offers):
            self.spool = Spool(self._place)

    def close(self) -> None:
        """Forget what has arrived and is not kept."""
        self.spool.close()


#: Seconds without a piece after which a transfer is given up: the page is closed, as it seems.
PATIENCE = 300.0
_GIVEN_UP = "The upload was canceled: choose the file again."

Answer = dict[str, Any] | None


class Drop(anywidget.AnyWidget):
    """A zone that takes files by drag and drop, or by a button.

    `check`: takes the files before any of them is sent; returns what is wrong with them, or None.
    `keep`: takes a file that is whole; see `Service.keep`. It runs in the background, and may read
    the content until it returns.
    `take`: takes the path of a file that is kept, unless its upload was canceled meanwhile.
    `folder`: on which disk files are until they are whole.
    `traits`: ``label`` (what the zone is for), ``call`` (what it says), ``hint``, ``accept`` (as in
    HTML), ``several`` (whether more than one file may be chosen at once).
    """

    _esm = script("kit.widgets", "make.js", "form/drop.js").default_value

    label = traitlets.Unicode().tag(sync=True)
    call = traitlets.Unicode("Drop a file here, or").tag(sync=True)
    hint = traitlets.Unicode().tag(sync=True)
    accept = traitlets.Unicode().tag(sync=True)
    several = traitlets.Bool(False).tag(sync=True)
    #: Whether it takes what is dropped anywhere on its form, but for other zones.
    whole = traitlets.Bool(False).tag(sync=True)
    #: By which a page that is loaded anew knows the zone again.
    key = traitlets.Unicode().tag(sync=True)

    def __init__(
        self,
        *,
        check: Callable[[Sequence[Offer]], str | None],
        keep: Keep,
        take: Callable[[Path], None],
        background: BackgroundRunner,
        folder: Path | None = None,
        **traits: Any,
    ) -> None:
        self._check, self._keep, self._take = check, keep, take
        self._background = background
        self._folder = folder
        self._transfer: Transfer | None = None
        self._heard: Any = None
        self._lock = threading.Lock()  # messages come in more than one thread
        self._expire = Debounced(self._end, PATIENCE, background)
        classes = ("kit-drop", *traits.pop("_dom_classes", ()))
        super().__init__(key=secrets.token_hex(4), _dom_classes=classes, **traits)
        self.on_msg(self._hear)

    def close(self) -> None:
        """Give up what is on its way, and the widget."""
        self._end()
        super().close()

    def __repr__(self) -> str:
        return f"<Drop {self.label}>" if self.label else "<Drop>"

    # ── messages ─────────────────────────────────────────────────────────────────────────────────

    def _hear(self, _: Any, message: Mapping[str, Any], buffers: Sequence[Any]) -> None:
        """Answer the browser; an error has nowhere to be seen but there."""
        with self._lock:
            self._heard = message.get("n")
            try:
                answer = self._act(message, buffers)
            except Exception as problem:  # noqa: BLE001 - whatever it is, it is shown or lost
                self._forget()
                answer = {"no": _sentence(problem)}
            self._tell(message.get("id"), answer)

    def _tell(self, name: Any, answer: Answer) -> None:
        if answer is not None:
            self.send({"id": name, "n": self._heard, **answer})

    def _act(self, message: Mapping[str, Any], buffers: Sequence[Any]) -> Answer:
        match message.get("do"):
            case "offer":
                return self._offer(message)
            case "piece":
                return self._piece(message, buffers[0])
            case "where":
                return self._wanted(message)
            case "stop" if self._of(message) is not None:
                self._forget()
        return None

    def _offer(self, message: Mapping[str, Any]) -> Answer:
        self._forget()  # of a page that is gone, or of another view of this widget
        offers = [Offer(f["name"], f["type"], f["size"]) for f in message["files"]]
        problem = self._check(offers)
        if problem:
            return {"no": problem}
        self._transfer = Transfer(message["id"], offers, self._folder)
        return self._wanted(message)

    def _piece(self, message: Mapping[str, Any], piece: bytes) -> Answer:
        transfer = self._of(message)
        if transfer is None or not transfer.write(message["file"], message["at"], piece):
            return self._wanted(message)
        self._background.begin(lambda: self._store(transfer))
        return None  # the answer comes when it is kept

    def _of(self, message: Mapping[str, Any]) -> Transfer | None:
        """Return the transfer that a message belongs to, if it is still there."""
        transfer = self._transfer
        return transfer if transfer is not None and transfer.name == message["id"] else None

    def _wanted(self, message: Mapping[str, Any]) -> Answer:
        transfer = self._of(message)
        if transfer is None:
            return {"no": _GIVEN_UP}
        self._expire()
        return transfer.wants()

    # ── files ────────────────────────────────────────────────────────────────────────────────────

    def _store(self, transfer: Transfer) -> None:
        """Keep a file that is whole, then ask for the next one."""
        problem, spool = "", transfer.spool
        try:
            with spool.content() as content:
                path = self._keep(transfer.offer.name, content, spool.settle)
            if self._transfer is transfer:
                self._take(path)
        except Exception as error:  # noqa: BLE001 - as above
            problem = f"The file was not kept: {_sentence(error)}"
        with self._lock:
            if self._transfer is not transfer:
                return
            if problem:
                self._forget()
                self._tell(transfer.name, {"no": problem})
                return
            transfer.advance()
            wanted = transfer.wants()
            (self._expire.cancel if "done" in wanted else self._expire)()
            self._tell(transfer.name, wanted)

    def _end(self) -> None:
        with self._lock:
            self._forget()

    def _forget(self) -> None:
        self._expire.cancel()
        if self._transfer is not None:
            self._transfer.close()
        self._transfer = None


def _sentence(problem: Exception) -> str:
    if isinstance(problem, OSError):
        return problem.strerror or str(problem)
    return str(problem) if isinstance(problem, (KitError, ValueError)) else repr(problem)
