"""The account panel itself: the facts above all, then profiles and keys where there are any."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import ipywidgets

from kit.widgets.account import markup
from kit.widgets.account.markup import Facts
from kit.widgets.account.ring import Ring
from kit.widgets.account.switch import Switch
from kit.widgets.form.service import BackgroundRunner
from kit.widgets.keys import Keys, Profiles
from kit.widgets.reach import Reach
from kit.widgets.snapshots import StaticSnapshot, rerun_line

#: Seconds that what is saved beside the widget waits for the first answer.
_PATIENCE_SECONDS = 3.0


class AccountPanel(ipywidgets.VBox):
    """An account, the profiles to go over to, and its keys where they can be managed from here.

    Parameters
    ----------
    look : callable
        Returns the facts; it may block and is called in the background.
    keys : Keys, optional
        Where keys are made and revoked.
    profiles : Profiles, optional
        The accounts to choose from.
    code : str
        The statement that brings the panel back.
    on_close : callable
        Called when the panel is closed.
    """

    def __init__(
        self,
        look: Callable[[], Facts],
        *,
        keys: Keys | None = None,
        profiles: Profiles | None = None,
        code: str = "studio.account_panel()",
        on_close: Callable[[], None] = lambda: None,
        background: BackgroundRunner | None = None,
    ) -> None:
        self._look = look
        self._code = code
        self._on_close = on_close
        self._background = background or BackgroundRunner()
        self._seen = threading.Event()
        self._head = ipywidgets.HTML(markup.STYLE)
        self._problem = ipywidgets.HTML(_dom_classes=("kit-said",))
        self._refresh = markup.button("Refresh", lambda _: self.refresh(), icon="refresh")
        self._snapshot = StaticSnapshot(background=self._background)
        begin, say, later = self._begin, self._say, self._background
        self.ring = None if keys is None else Ring(keys, begin=begin, say=say, background=later)
        self.switch = (
            None
            if profiles is None
            else Switch(profiles, begin=begin, went=self._went, background=later)
        )
        parts = [self._head, self._refresh, self._problem]
        parts += [part for part in (self.switch, self.ring) if part is not None]
        parts += [self._snapshot.style, reach := Reach()]
        super().__init__(children=parts, _dom_classes=("kit-account",))
        reach.belong(self)
        self.refresh()

    def __repr__(self) -> str:
        return "<AccountPanel>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Return the widget, and the account alone where no widget can be."""
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options) or {}
        self._seen.wait(_PATIENCE_SECONDS)
        html = self._head.value.removeprefix(markup.STYLE) + rerun_line(self._code)
        return {**bundle, "text/plain": repr(self), "text/html": html}

    def _ipython_display_(self) -> None:
        self._snapshot.show(self._repr_mimebundle_)

    def refresh(self) -> None:
        """Ask for everything anew."""
        self._begin(self._show)

    def close(self) -> None:
        """Take the panel away, and let go of what it holds."""
        super().close()
        self._on_close()

    def _show(self) -> None:
        if self.switch is not None:
            self.switch.show()  # first: where a key is refused, another can be chosen
        self._head.value = markup.STYLE + markup.render_facts(self._look())
        if self.ring is not None:
            abroad = self.switch is not None and not self.switch.home
            self.ring.layout.display = "none" if abroad else None
            self.ring.show()

    def _went(self) -> None:
        """Show the account that was gone over to; what is kept of the panel follows."""
        self._show()
        self._snapshot.follow()

    def _begin(self, work: Callable[[], None]) -> None:
        self._busy(True)
        self._background.begin(partial(self._guarded, work))

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            self._say("")
            work()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is said in the panel
            self._say(markup.error_sentence(error))
        finally:
            self._busy(False)
            self._seen.set()

    def _busy(self, busy: bool) -> None:
        self._refresh.disabled = busy
        if self.ring is not None:
            self.ring.make.disabled = busy

    def _say(self, sentence: str) -> None:
        self._problem.value = markup.problem(sentence)
