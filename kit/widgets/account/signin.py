"""The login form: an address, a key that is never shown, and a profile name."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from html import escape
from typing import Any

import ipywidgets

from kit.errors import ConfigError
from kit.widgets import markup
from kit.widgets.background import SETTLE_SECONDS, BackgroundRunner, guard
from kit.widgets.form.fields import watch_field
from kit.widgets.markup import FAINT, FONT, card, faint, style_element
from kit.widgets.secret import SecretInput
from kit.widgets.snapshots import SnapshotBox, rerun_line
from kit.wire import Parameter

STYLE = style_element(__package__, "account.css")
_CODE = "login = kit.login(form=True)\nlogin"


def code(sentence: str, statement: str) -> str:
    """Return a sentence about a statement, and the statement."""
    shown = f"<br><code>{escape(statement)}</code>" if statement else ""
    return f'<div style="{FONT}"><span style="{FAINT}">{escape(sentence)}</span>{shown}</div>'


class SignIn(SnapshotBox):
    """A form to log in to a service; the key is not kept in widgets, the page or the notebook.

    `enter`: takes address, key and name, tries them, and returns the studio or account; it may
    block and is called in the background. An empty name saves nothing.
    `describe`: takes the result of `enter` and returns a sentence about it.

    Examples
    --------
    ``login = kit.login(form=True)`` and, after the login, ``studio = login.studio``
    """

    def __init__(
        self,
        enter: Callable[[str, str, str], Any],
        *,
        address: str = "",
        name: str = "",
        describe: Callable[[Any], str] = lambda _: "signed in",
        background: BackgroundRunner | None = None,
    ) -> None:
        self._enter = enter
        self._describe = describe
        self._result: Any = None
        self._address = ipywidgets.Text(address, description="Address", placeholder="https://...")
        self._name = ipywidgets.Text(
            name,
            description="Save as",
            placeholder="empty: not saved",
            tooltip="The name of the profile; kit.connect(profile=...) finds it",
        )
        self._key = SecretInput("API key", action="Sign in", on_submit=self._key_submitted)
        self._message = ipywidgets.HTML(_dom_classes=("kit-status",))
        field = watch_field(self._address, Parameter(name="address"), address_problem)
        fields = ipywidgets.VBox(
            (self._address, field.note, self._name, self._key, self._message),
            _dom_classes=("kit-signing",),
        )
        super().__init__((ipywidgets.HTML(STYLE), fields), "kit-account", background)

    @property
    def studio(self) -> Any:
        """The result of the last login; raises `ConfigError` before the first."""
        if self._result is None:
            raise ConfigError("not signed in yet: enter the key in the form and send it")
        return self._result

    def __repr__(self) -> str:
        return f"<SignIn {self._address.value.strip() or 'to a service'}>"

    def _html(self) -> str:
        address = faint(self._address.value or "A service of your choice")
        return card("Sign in", address) + rerun_line(_CODE)

    def _key_submitted(self, key: str) -> None:
        self._key.disabled = True
        self._background.after(SETTLE_SECONDS, partial(self._try, key))

    def _try(self, key: str) -> None:
        def show(sentence: str) -> None:
            self._message.value = markup.problem(sentence)

        self._message.value = code("loading …", "")
        guard(partial(self._sign_in, key), show)()
        self._key.hint = ""
        self._key.disabled = False

    def _sign_in(self, key: str) -> None:
        address, name = self._address.value.strip(), self._name.value.strip()
        if not address:
            raise ConfigError("a service has an address, such as https://studio.example")
        self._result = self._enter(address, key, name)
        self._message.value = code(self._describe(self._result), "")


def address_problem(text: str) -> str:
    """Return the problem with a service's address, if it can be seen."""
    if not (text := text.strip()):
        return ""
    if not re.match(r"https?://[^/]", text, re.IGNORECASE):
        return "must be a whole address, such as https://studio.example"
    return "may not contain '@', '?', '#' or spaces" if re.search(r"[?#\s]|//[^/]*@", text) else ""
