"""A drop zone: files of any size come from the browser to the kernel, in pieces.

Nothing of a file is ever in the widget's state; see `Transfer` for where it is.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar

import anywidget
import traitlets

from kit.errors import KitError
from kit.widgets.form.service import BackgroundRunner, Debounced, Keep
from kit.widgets.form.transfer import Offer, Transfer

#: Seconds without a piece after which a transfer is given up: the page is closed, as it seems.
PATIENCE = 300.0
_GIVEN_UP = "The upload was given up: choose the file again."
_HINT = "a place to drop files, in a notebook that runs; a path does the same"

Answer = dict[str, Any] | None


class Drop(anywidget.AnyWidget):
    """A zone that takes files by drag and drop, or by a button.

    Parameters
    ----------
    check : callable
        Takes the files before any of them is sent; returns what is wrong with them, or None.
    keep : callable
        Takes a file that is whole; see `Service.keep`. It runs in the background, and may read the
        content until it returns.
    take : callable
        Takes the path of a file that is kept, unless its upload was canceled meanwhile.
    background : Background
        Where files are kept.
    folder : Path, optional
        On which disk files are until they are whole.
    traits
        ``label`` (what the zone is for), ``call`` (what it says), ``hint``, ``accept`` (as in
        HTML), ``several`` (whether more than one file may be chosen at once).
    """

    _esm = resources.files(__package__).joinpath("drop.js").read_text("utf-8")
    _css = resources.files(__package__).joinpath("drop.css").read_text("utf-8")

    label = traitlets.Unicode().tag(sync=True)
    call = traitlets.Unicode("Drop a file here, or").tag(sync=True)
    hint = traitlets.Unicode().tag(sync=True)
    accept = traitlets.Unicode().tag(sync=True)
    several = traitlets.Bool(False).tag(sync=True)
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

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """Return the widget, and what is shown of it where no widget can be."""
        data, metadata = super()._repr_mimebundle_(**options) or ({}, {})
        return {**data, "text/plain": repr(self), "text/html": f"<em>{_HINT}</em>"}, metadata

    # ── messages ─────────────────────────────────────────────────────────────────────────────────

    def _hear(self, _: Any, message: Mapping[str, Any], buffers: Sequence[Any]) -> None:
        """Answer the browser; an error has nowhere to be seen but there."""
        act = self._ACTS.get(message.get("do", ""))
        if act is None:
            return
        with self._lock:
            self._heard = message.get("n")
            try:
                answer = act(self, message, buffers)
            except Exception as problem:  # noqa: BLE001 - whatever it is, it is shown or lost
                self._forget()
                answer = {"no": _sentence(problem)}
            self._tell(message.get("id"), answer)

    def _tell(self, name: Any, answer: Answer) -> None:
        if answer is not None:
            self.send({"id": name, "n": self._heard, **answer})

    def _offer(self, message: Mapping[str, Any], _: Sequence[Any]) -> Answer:
        self._forget()  # of a page that is gone, or of another view of this widget
        offers = [Offer(f["name"], f["type"], f["size"]) for f in message["files"]]
        problem = self._check(offers)
        if problem:
            return {"no": problem}
        self._transfer = Transfer(message["id"], offers, self._folder)
        return self._wanted(message)

    def _piece(self, message: Mapping[str, Any], buffers: Sequence[Any]) -> Answer:
        transfer = self._of(message)
        if transfer is None or not transfer.write(message["file"], message["at"], buffers[0]):
            return self._wanted(message)
        self._background.begin(lambda: self._store(transfer))
        return None  # the answer comes when it is kept

    def _where(self, message: Mapping[str, Any], _: Sequence[Any]) -> Answer:
        return self._wanted(message)

    def _stop(self, message: Mapping[str, Any], _: Sequence[Any]) -> Answer:
        if self._of(message) is not None:
            self._forget()
        return None

    _ACTS: ClassVar = {"offer": _offer, "piece": _piece, "where": _where, "stop": _stop}

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
        problem = None
        try:
            spool = transfer.spool
            with spool.content() as content:
                path = self._keep(transfer.offer.name, content, spool.settle)
            if self._transfer is transfer:
                self._take(path)
        except Exception as error:  # noqa: BLE001 - as above
            problem = error
        with self._lock:
            if self._transfer is not transfer:
                return
            if problem is not None:
                self._forget()
                self._tell(transfer.name, {"no": f"The file was not kept: {_sentence(problem)}"})
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
