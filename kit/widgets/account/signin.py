"""Signing in: an address, a key that is never shown, and a name to save both under."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape
from typing import Any

import ipywidgets

from kit.errors import ConfigError
from kit.widgets import markup
from kit.widgets.accessibility import Accessibility
from kit.widgets.background import BackgroundRunner
from kit.widgets.markup import FAINT, FONT, card, faint, style_element
from kit.widgets.secret import SecretInput
from kit.widgets.snapshots import StaticSnapshot, rerun_line

#: Seconds between sending the key and reading the fields: what was typed last may arrive after it.
SETTLING = 0.12

STYLE = style_element(__package__, "account.css")
_CODE = "login = kit.login(form=True)\nlogin"


def code(sentence: str, statement: str) -> str:
    """Return what a statement is for, and the statement."""
    shown = f"<br><code>{escape(statement)}</code>" if statement else ""
    return f'<div style="{FONT}"><span style="{FAINT}">{escape(sentence)}</span>{shown}</div>'


class SignIn(ipywidgets.VBox):
    """A form that signs in to a service; the key is tried and is in no widget, page or notebook.

    Parameters
    ----------
    enter : callable
        Takes address, key and name, tries them, and returns what was signed in to; it may block and
        is called in the background. An empty name saves nothing.
    address, name : str
        What the fields begin with.
    describe : callable
        Takes what `enter` returned and returns a sentence about it.

    Examples
    --------
    ``login = kit.login(form=True)`` and, when it is done, ``studio = login.studio``
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
        self._background = background or BackgroundRunner()
        self._result: Any = None
        self._address = ipywidgets.Text(
            address, description="Address", placeholder="https://...", continuous_update=False
        )
        self._name = ipywidgets.Text(
            name,
            description="Save as",
            placeholder="empty: not saved",
            continuous_update=False,
            tooltip="The name of the profile; kit.connect(profile=...) finds it",
        )
        self._key = SecretInput("API key", action="Sign in", on_submit=self._key_submitted)
        self._message = ipywidgets.HTML(_dom_classes=("kit-status",))
        self._snapshot = StaticSnapshot(background=self._background)
        fields = ipywidgets.VBox(
            (self._address, self._name, self._key, self._message), _dom_classes=("kit-signing",)
        )
        parts = (ipywidgets.HTML(STYLE), fields, self._snapshot.style, reach := Accessibility())
        super().__init__(children=parts, _dom_classes=("kit-account",))
        reach.belong(self)

    @property
    def studio(self) -> Any:
        """What was signed in to last.

        Raises
        ------
        ConfigError
            Not signed in yet.
        """
        if self._result is None:
            raise ConfigError("not signed in yet: enter the key in the form and send it")
        return self._result

    def __repr__(self) -> str:
        return f"<SignIn {self._address.value.strip() or 'to a service'}>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options) or {}
        where = faint(self._address.value or "A service of your choice")
        html = card("Sign in", where) + rerun_line(_CODE)
        return {**bundle, "text/plain": repr(self), "text/html": html}

    def _ipython_display_(self) -> None:
        self._snapshot.show(self._repr_mimebundle_)

    def _key_submitted(self, key: str) -> None:
        self._key.disabled = True
        self._background.after(SETTLING, partial(self._try, key))

    def _try(self, key: str) -> None:
        address, name = self._address.value.strip(), self._name.value.strip()
        self._message.value = code("loading …", "")
        try:
            if not address:
                raise ConfigError("a service has an address, such as https://studio.example")
            self._result = self._enter(address, key, name)
            self._message.value = code(self._describe(self._result), "")
        except Exception as error:  # noqa: BLE001 - whatever it is, it is said in the form
            self._message.value = markup.problem(markup.error_text(error))
        finally:
            self._key.hint = ""
            self._key.disabled = False
