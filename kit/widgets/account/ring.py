"""The keys of an account: what there is, what can be made, what can be revoked.

A new key is shown in a box of its own that is emptied when the reader is done with it, or after two
minutes; see `Revealed` for why it is no text of a widget.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import ipywidgets

from kit import wire
from kit.widgets.account import markup
from kit.widgets.account.markup import button, heading
from kit.widgets.form.service import BackgroundRunner
from kit.widgets.keys import Key, Keys
from kit.widgets.revealed import Revealed

#: Seconds that a new key is shown at most.
SHOWN_SECONDS = 120.0
#: What can be chosen -> days that a key works.
EXPIRY: dict[str, int | None] = {
    "in 7 days": 7,
    "in 30 days": 30,
    "in 90 days": 90,
    "in a year": 365,
    "never": None,
}


class Ring(ipywidgets.VBox):
    """Keys to look at, to make and to revoke.

    Parameters
    ----------
    begin : callable
        Runs what takes time elsewhere, and tells what goes wrong.
    say : callable
        Tells a sentence.
    """

    def __init__(
        self,
        keys: Keys,
        *,
        begin: Callable[[Callable[[], None]], None],
        say: Callable[[str], None],
        background: BackgroundRunner,
    ) -> None:
        self._keys = keys
        self._begin = begin
        self._say = say
        self._background = background
        self._hide: Callable[[], None] = lambda: None
        self._rows = ipywidgets.VBox(_dom_classes=("kit-keys",))
        self._new = ipywidgets.VBox()
        self._name = ipywidgets.Text(
            description="Name", placeholder="what the key is for", continuous_update=False
        )
        self._scopes = [
            ipywidgets.Checkbox(value=True, description=scope, indent=False)
            for scope in wire.SCOPES
            if scope != "read"
        ]
        self._expiry = ipywidgets.Dropdown(
            options=list(EXPIRY), value="in 90 days", description="Expires"
        )
        self.make = button("Create key", self._created, tooltip="It is shown once")
        form = [
            ipywidgets.HBox(wishes, _dom_classes=("kit-line",))
            for wishes in ((self._name, self._expiry), (*self._scopes, self.make))
        ]
        parts = (heading("Keys"), self._rows, self._new, heading("A new key"), *form)
        super().__init__(children=parts, _dom_classes=("kit-part",))

    def show(self) -> None:
        """Ask for the keys anew and show them; it may block."""
        self._rows.children = tuple(self._row(key) for key in self._keys.known())

    def _row(self, key: Key) -> Any:
        layout = ipywidgets.Layout(flex="1 1 auto", min_width="0")
        line = ipywidgets.HTML(markup.key(key), layout=layout)
        if key.state != "active":
            return ipywidgets.HBox((line,))
        revoke = button("Revoke", lambda _: None, tooltip=f"Make {key.prefix}… useless for ever")
        revoke.on_click(partial(self._revoked, key))
        return ipywidgets.HBox((line, revoke))

    def _created(self, _: Any) -> None:
        if self.make.disabled:
            return  # it was sent before the page knew that the button rests
        name = self._name.value.strip()
        scopes = [box.description for box in self._scopes if box.value]
        days = EXPIRY[self._expiry.value]

        def make() -> None:
            self._reveal(self._keys.create(name, scopes, days))
            if self._name.value.strip() == name:  # else the next one is being named
                self._name.value = ""
            self.show()

        self._begin(make)

    def _revoked(self, key: Key, pressed: Any) -> None:
        if pressed.description == "Revoke":
            pressed.description = "Yes, revoke"
            pressed.button_style = "danger"
            if key.in_use:
                self._say("This notebook works with that key and will be shut out.")
            return

        def revoke() -> None:
            self._keys.revoke(key.id)
            self.show()

        self._begin(revoke)

    def _reveal(self, text: str) -> None:
        """Show a key once, and take every trace of it away again."""
        self._hide()
        box = Revealed(text, hint="Copy the key now, it is not shown again.")
        done = button("I have copied it", lambda _: hide())
        self._new.children = (box, done)
        self._new.add_class("kit-new")

        def hide() -> None:
            call_off()
            self._hide = lambda: None
            self._new.children = ()
            self._new.remove_class("kit-new")
            box.forget()
            box.close()
            done.close()

        call_off = self._background.after(SHOWN_SECONDS, hide)
        self._hide = hide
