"""The switch between accounts: saved profiles to choose from, and a form to sign in with a key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets

from kit.widgets.account import markup
from kit.widgets.account.markup import button, heading
from kit.widgets.form.service import BackgroundRunner
from kit.widgets.keys import Profiles


class Switch(ipywidgets.VBox):
    """Saved profiles to choose from; choosing one goes over to it.

    Parameters
    ----------
    begin : callable
        Runs what takes time elsewhere, and tells what goes wrong.
    went : callable
        Called after going over, in the background.
    """

    def __init__(
        self,
        profiles: Profiles,
        *,
        begin: Callable[[Callable[[], None]], None],
        went: Callable[[], None],
        background: BackgroundRunner,
    ) -> None:
        self._profiles = profiles
        self._begin = begin
        self._went = went
        self._background = background
        #: Whether the account that is shown is that of the studio in the user's cells.
        self.home = True
        self._quiet = False
        self._pick = ipywidgets.Dropdown(description="Profile")
        self._line = ipywidgets.HTML(_dom_classes=("kit-said",))
        self._open = button(
            "Sign in with a key …", self._asked, tooltip="To another service, or with a new key"
        )
        self._form = ipywidgets.VBox(_dom_classes=("kit-part",))
        row = ipywidgets.HBox((self._pick, self._open), _dom_classes=("kit-line",))
        parts = (heading("Profiles"), row, self._line, self._form)
        super().__init__(children=parts, _dom_classes=("kit-part",))
        self._pick.observe(self._chosen, "value")

    def show(self) -> None:
        """Show which profiles there are and which is active."""
        places = self._profiles.known()
        active = self._profiles.active
        self._quiet = True
        try:
            self._pick.options = [(place.label, place.name) for place in places]
            self._pick.value = active
        finally:
            self._quiet = False
        here = next(place for place in places if place.name == active)
        self.home = here.own
        self._line.value = markup.code(here.remark, here.code) if here.remark else ""

    def _chosen(self, change: Any) -> None:
        name = change.new
        if self._quiet or name is None:
            return

        def go() -> None:
            try:
                self._profiles.choose(name)
            finally:
                self.show()  # what cannot be opened is not chosen
            self._went()

        self._begin(go)

    def _asked(self, _: Any) -> None:
        """Open the form to sign in, or close it; the field for the key is made on demand."""
        if self._form.children:
            self._form.children = ()
            return
        from kit.widgets.account.signing import SignIn

        active = next(p for p in self._profiles.known() if p.name == self._profiles.active)
        form = SignIn(
            self._entered,
            address=active.address,
            name=active.saved,
            tell=str,
            background=self._background,
        )
        self._form.children = (form,)

    def _entered(self, address: str, key: str, name: str) -> str:
        told = self._profiles.enter(address, key, name)
        self.show()
        self._went()
        return told
