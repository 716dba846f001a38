"""A field for a secret: typed text is sent to Python once and never becomes widget state.

A `Password` of ipywidgets keeps its text in a synced trait, which is saved as plain text in a
notebook with widget state.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import anywidget
import traitlets

from kit.widgets.accessibility import script

#: Maximum of characters of a secret: longer text was pasted by mistake.
MAX_CHARACTERS = 4096
_SCRIPT = script(__package__, "elements.js", "secret.js").default_value


class SecretInput(anywidget.AnyWidget):
    """A password field with a button; the page clears the secret when it is sent."""

    _esm = _SCRIPT
    label = traitlets.Unicode().tag(sync=True)
    placeholder = traitlets.Unicode("not shown, not saved").tag(sync=True)
    action = traitlets.Unicode("Set").tag(sync=True)
    hint = traitlets.Unicode().tag(sync=True)
    disabled = traitlets.Bool(False).tag(sync=True)

    def __init__(self, label: str, *, on_submit: Callable[[str], None], **traits: Any) -> None:
        self._on_submit = on_submit
        super().__init__(label=label, **traits)
        self.on_msg(self._receive)

    def __repr__(self) -> str:
        return f"<SecretInput {self.label!r}>"

    def _receive(self, _: Any, content: Any, buffers: Any) -> None:
        """Remove the secret from the message, so that it is not kept there."""
        secret = content.pop("secret", None) if isinstance(content, dict) else None
        if not isinstance(secret, str):
            return
        secret = secret.strip()
        if not 0 < len(secret) <= MAX_CHARACTERS:
            self.hint = "nothing was typed" if not secret else "that is too long for a key"
        else:
            self.hint = f"sent, {len(secret)} characters"
            self._on_submit(secret)
        self.send({"heard": True})  # an unchanged hint sends no message, and the page waits for one


class OneTimeSecret(anywidget.AnyWidget):
    """A secret that is shown once: by the first page that requests it."""

    _esm = _SCRIPT
    hint = traitlets.Unicode().tag(sync=True)

    def __init__(self, secret: str, *, hint: str) -> None:
        self._lock = threading.Lock()
        self._secret: str | None = secret
        super().__init__(hint=hint)
        self.on_msg(self._send_once)

    def __repr__(self) -> str:
        return f"<OneTimeSecret, {'seen' if self._secret is None else 'waiting to be seen'}>"

    def forget(self) -> None:
        """Delete it, also in a page that shows it."""
        with self._lock:
            self._secret = None
        self.send({"gone": True})

    def _send_once(self, _: Any, content: Any, buffers: Any) -> None:
        if not isinstance(content, dict) or not content.get("ready"):
            return
        with self._lock:
            secret, self._secret = self._secret, None
        self.send({"secret": secret} if secret is not None else {"gone": True})
