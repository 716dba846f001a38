"""A secret that is shown once: it reaches the page as a message and never becomes widget state.

Text in a widget of ipywidgets is a synced trait, which a notebook that saves its widget state
writes down in the clear, and which comes back when the page is loaded again.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from kit.widgets.styles import load_style


class Revealed(anywidget.AnyWidget):
    """A secret that the first page which asks for it shows, and nobody after it.

    Parameters
    ----------
    secret : str
        Kept until a page has asked, or until `forget`.
    hint : str
        What to do with it.

    Examples
    --------
    >>> Revealed("cs_test_0123456789", hint="Copy the key now.")
    <Revealed, waiting to be seen>
    """

    _esm = Path(__file__).with_suffix(".js")
    _css = load_style(__package__, "revealed.css")
    hint = traitlets.Unicode().tag(sync=True)

    def __init__(self, secret: str, *, hint: str) -> None:
        self._lock = threading.Lock()
        self._secret: str | None = secret
        super().__init__(hint=hint)
        self.on_msg(self._asked)

    def __repr__(self) -> str:
        return f"<Revealed, {'seen' if self._secret is None else 'waiting to be seen'}>"

    def forget(self) -> None:
        """Take it away, also from a page that shows it."""
        with self._lock:
            self._secret = None
        self.send({"gone": True})

    def _asked(self, _: Any, content: Any, buffers: Any) -> None:
        if not isinstance(content, dict) or not content.get("ready"):
            return
        with self._lock:
            secret, self._secret = self._secret, None
        self.send({"secret": secret} if secret is not None else {"gone": True})
