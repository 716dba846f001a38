"""A field for a secret: what is typed reaches Python once and never becomes widget state.

A `Password` of ipywidgets keeps its text in a synced trait, which a notebook that saves its widget
state writes down in the clear.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from kit.errors import ConfigError
from kit.widgets.markup import card, faint, load_style

#: Characters of a secret at most: what is longer was pasted by mistake.
LONGEST = 4096


class SecretInput(anywidget.AnyWidget):
    """A password field with a button; the page forgets the secret as it is sent.

    Parameters
    ----------
    label : str
        What stands before the field.
    action : str
        What stands on the button.
    on_submit : callable, optional
        Called with the secret, on any thread; nothing is kept here then.

    Examples
    --------
    >>> field = SecretInput("API key")
    >>> field
    <SecretInput 'API key', nothing set>
    """

    _esm = Path(__file__).with_suffix(".js")
    _css = load_style(__package__, "secret.css")
    label = traitlets.Unicode().tag(sync=True)
    placeholder = traitlets.Unicode().tag(sync=True)
    action = traitlets.Unicode().tag(sync=True)
    hint = traitlets.Unicode().tag(sync=True)
    disabled = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self,
        label: str = "API key",
        *,
        placeholder: str = "not shown, not saved",
        action: str = "Set",
        on_submit: Callable[[str], None] | None = None,
    ) -> None:
        self._on_submit = on_submit
        self._lock = threading.Lock()
        self._secret: str | None = None
        super().__init__(label=label, placeholder=placeholder, action=action)
        self.on_msg(self._receive)

    def __repr__(self) -> str:
        state = "nothing set" if self._secret is None else "set"
        return f"<SecretInput {self.label!r}, {state}>"

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the widget, and what is said where no widget can be."""
        data, facts = super()._repr_mimebundle_(**options) or ({}, {})
        html = card(self.label, faint("Run this cell where widgets are shown to type it."))
        return {**data, "text/plain": repr(self), "text/html": html}, facts

    def take(self) -> str:
        """Return the secret and forget it.

        Raises
        ------
        ConfigError
            Nothing was typed yet.
        """
        with self._lock:
            secret, self._secret = self._secret, None
        self.hint = ""
        if secret is None:
            raise ConfigError(f"nothing was typed into {self.label!r} yet")
        return secret

    def _receive(self, _: Any, content: Any, buffers: Any) -> None:
        """Take the secret out of a message, so that it does not lie about in there."""
        secret = content.pop("secret", None) if isinstance(content, dict) else None
        if not isinstance(secret, str):
            return
        secret = secret.strip()
        if not 0 < len(secret) <= LONGEST:
            self.hint = "nothing was typed" if not secret else "that is too long for a key"
        elif self._on_submit is not None:
            self.hint = f"sent, {len(secret)} characters"
            self._on_submit(secret)
        else:
            with self._lock:
                self._secret = secret
            self.hint = f"set, {len(secret)} characters"
        self.send({"heard": True})  # an unchanged hint is no news, and the page waits for some


class OneTimeSecret(anywidget.AnyWidget):
    """A secret that is shown once: by the first page that asks for it.

    Parameters
    ----------
    secret : str
        Kept until a page has asked, or until `forget`.
    hint : str
        What to do with it.

    Examples
    --------
    >>> OneTimeSecret("cs_test_0123456789", hint="Copy the key now.")
    <OneTimeSecret, waiting to be seen>
    """

    _esm = Path(__file__).with_name("one_time_secret.js")
    _css = load_style(__package__, "one_time_secret.css")
    hint = traitlets.Unicode().tag(sync=True)

    def __init__(self, secret: str, *, hint: str) -> None:
        self._lock = threading.Lock()
        self._secret: str | None = secret
        super().__init__(hint=hint)
        self.on_msg(self._send_once)

    def __repr__(self) -> str:
        return f"<OneTimeSecret, {'seen' if self._secret is None else 'waiting to be seen'}>"

    def forget(self) -> None:
        """Take it away, also from a page that shows it."""
        with self._lock:
            self._secret = None
        self.send({"gone": True})

    def _send_once(self, _: Any, content: Any, buffers: Any) -> None:
        if not isinstance(content, dict) or not content.get("ready"):
            return
        with self._lock:
            secret, self._secret = self._secret, None
        self.send({"secret": secret} if secret is not None else {"gone": True})
