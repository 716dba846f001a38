"""The account panel: who pays, what is left, what was spent; keys and saved profiles.

A new key is shown in a box that is emptied when the reader is done with it, or after two minutes:
what a widget shows is part of the notebook's widget state for as long as it is shown.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

import ipywidgets

from kit import wire
from kit.errors import KitError
from kit.widgets.cards import FAINT, FONT, card, credits, facts, warning
from kit.widgets.form.service import Background
from kit.widgets.keys import Key, Keys, Spent

#: Seconds that a new key is shown at most.
SHOWN_SECONDS = 120.0
#: Seconds that what is saved beside the widget waits for the first answer.
_PATIENCE_SECONDS = 3.0
#: What can be chosen -> days that a key works.
EXPIRY: dict[str, int | None] = {
    "in 7 days": 7,
    "in 30 days": 30,
    "in 90 days": 90,
    "in a year": 365,
    "never": None,
}

_SHEET = """
.kit-account{max-width:720px;overflow:visible;gap:8px;color:var(--jp-ui-font-color1,inherit)}
.kit-account>*,.kit-account .kit-line>*{margin:0;max-width:100%}
.kit-account .widget-button{width:auto;margin:0;border-radius:4px;align-self:flex-start;
 flex:none}
.kit-account .widget-html-content{line-height:1.45}
.kit-account .kit-line{flex-wrap:wrap;gap:8px 14px;align-items:center;overflow:visible}
.kit-account .kit-line>.widget-text{flex:1 1 220px}
.kit-account .kit-line>.widget-checkbox{width:auto}
.kit-account .kit-line>.widget-dropdown{width:auto}
.kit-account .kit-line .widget-label{width:auto;margin:0 8px 0 0}
.kit-account .kit-keys{overflow:visible}
.kit-account .kit-keys>*{margin:0;padding:7px 0;gap:12px;align-items:center;overflow:visible;
 flex-wrap:nowrap;border-top:1px solid var(--jp-border-color2,#9996)}
.kit-account .kit-keys>*>*{margin:0}
.kit-account .kit-new{margin:4px 0;padding:10px 12px;gap:8px;border-radius:6px;
 border:1px solid var(--jp-brand-color1,#1976d2)}
.kit-account .kit-new>*{margin:0}
.kit-account .kit-new code{user-select:all;overflow-wrap:anywhere;font-size:13px}
.kit-account button:focus-visible,.kit-account input:focus-visible,
.kit-account select:focus-visible{outline:2px solid var(--jp-brand-color1,#1976d2);
 outline-offset:1px}
"""
_STYLE = f"<style>{' '.join(_SHEET.split())}</style>"


@dataclass(frozen=True, slots=True)
class Facts:
    """What the panel shows above all.

    Parameters
    ----------
    place : str
        Which service it is.
    spent : Spent or None
        None where the service has no ledger.
    """

    place: str
    account: wire.Account
    spent: Spent | None = None


class AccountPanel(ipywidgets.VBox):
    """An account, and where it can be managed from here, its keys.

    Parameters
    ----------
    look : callable
        Returns the facts; it may block and is called in the background.
    keys : Keys, optional
        Where keys are made and revoked.
    profiles : sequence of str
        Names of saved profiles.
    """

    def __init__(
        self,
        look: Callable[[], Facts],
        *,
        keys: Keys | None = None,
        profiles: Sequence[str] = (),
        background: Background | None = None,
    ) -> None:
        self._look = look
        self._keys = keys
        self._background = background or Background()
        self._hide: Callable[[], None] = lambda: None
        self._seen = threading.Event()
        self._head = ipywidgets.HTML(_STYLE)
        self._problem = ipywidgets.HTML()
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
        self._make = _button("Create key", self._created, tooltip="It is shown once")
        refresh = _button("Refresh", lambda _: self.refresh(), icon="refresh")
        parts = [self._head, refresh, self._problem]
        parts += self._keys_part() if keys is not None else []
        parts += self._profiles_part(profiles) if profiles else []
        super().__init__(children=parts, _dom_classes=("kit-account",))
        self.refresh()

    def __repr__(self) -> str:
        return "<AccountPanel>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Return the widget, and the account alone where no widget can be."""
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options) or {}
        self._seen.wait(_PATIENCE_SECONDS)
        return {
            **bundle,
            "text/plain": repr(self),
            "text/html": self._head.value.removeprefix(_STYLE),
        }

    def refresh(self) -> None:
        """Ask for everything anew."""
        self._begin(self._show)

    # ── what is shown ────────────────────────────────────────────────────────────────────────────

    def _show(self) -> None:
        self._head.value = _STYLE + _drawn(self._look())
        if self._keys is not None:
            self._rows.children = tuple(self._row(key) for key in self._keys.known())

    def _row(self, key: Key) -> Any:
        line = ipywidgets.HTML(_key(key), layout=ipywidgets.Layout(flex="1 1 auto", min_width="0"))
        if key.state != "active":
            return ipywidgets.HBox((line,))
        button = _button("Revoke", lambda _: None, tooltip=f"Make {key.prefix}… useless for ever")
        button.on_click(partial(self._revoked, key))
        return ipywidgets.HBox((line, button))

    def _keys_part(self) -> list[Any]:
        wishes = (self._name, self._expiry, *self._scopes, self._make)
        form = ipywidgets.HBox(wishes, _dom_classes=("kit-line",))
        return [_heading("Keys"), self._rows, self._new, _heading("A new key"), form]

    def _profiles_part(self, names: Sequence[str]) -> list[Any]:
        chosen = ipywidgets.Dropdown(options=list(names), description="Profile")
        line = ipywidgets.HTML()

        def say(_: Any = None) -> None:
            line.value = f"<code>studio = kit.connect(profile={escape(repr(chosen.value))})</code>"

        chosen.observe(say, "value")
        say()
        choice = ipywidgets.HBox((chosen, line), _dom_classes=("kit-line",))
        return [_heading("Saved profiles"), choice]

    # ── what can be done ─────────────────────────────────────────────────────────────────────────

    def _created(self, _: Any) -> None:
        name = self._name.value.strip()
        scopes = [box.description for box in self._scopes if box.value]
        days = EXPIRY[self._expiry.value]
        keys = self._keys
        if keys is None:
            return

        def make() -> None:
            self._reveal(keys.create(name, scopes, days))
            self._name.value = ""
            self._show()

        self._begin(make)

    def _revoked(self, key: Key, button: Any) -> None:
        keys = self._keys
        if button.description == "Revoke":
            button.description = "Yes, revoke"
            button.button_style = "danger"
            if key.in_use:
                self._say("This notebook works with that key and will be shut out.")
            return
        if keys is None:
            return

        def revoke() -> None:
            keys.revoke(key.id)
            self._show()

        self._begin(revoke)

    def _reveal(self, text: str) -> None:
        """Show a key once, and take every trace of it away again."""
        self._hide()
        box = ipywidgets.HTML(
            f'<div style="{FONT}" role="status">Copy the key now, it is not shown again.<br>'
            f"<code>{escape(text)}</code></div>"
        )
        done = _button("I have copied it", lambda _: hide())
        self._new.children = (box, done)
        self._new.add_class("kit-new")

        def hide() -> None:
            call_off()
            self._hide = lambda: None
            self._new.children = ()
            self._new.remove_class("kit-new")
            box.value = ""
            box.close()
            done.close()

        call_off = self._background.after(SHOWN_SECONDS, hide)
        self._hide = hide

    def _begin(self, work: Callable[[], None]) -> None:
        self._make.disabled = True
        self._background.begin(partial(self._guarded, work))

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            self._say("")
            work()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is said in the panel
            known = isinstance(error, KitError)
            self._say(str(error) if known else f"{type(error).__name__}: {error}")
        finally:
            self._make.disabled = False
            self._seen.set()

    def _say(self, sentence: str) -> None:
        self._problem.value = f'<div role="alert">{warning(sentence)}</div>' if sentence else ""


def _drawn(found: Facts) -> str:
    account, spent = found.account, found.spent
    rows = {
        "service": found.place,
        "e-mail": account.email,
        "balance": credits(account.credits) if account.credits is not None else "not told",
        "spent today": spent is not None and credits(spent.today),
        "spent this month": spent is not None and credits(spent.month),
    }
    return card(account.name or "Account", facts(rows))


def _key(key: Key) -> str:
    words = [", ".join(key.scopes), key.state]
    if key.state == "active" and key.expires_at is not None:
        words.append(f"until {key.expires_at:%Y-%m-%d}")
    words += [f"used {key.last_used_at:%Y-%m-%d}"] if key.last_used_at else []
    words += ["in use here"] if key.in_use else []
    return (
        f'<div style="{FONT}"><code>{escape(key.prefix)}…</code> <b>{escape(key.name)}</b> '
        f'<span style="{FAINT}">{escape(" · ".join(words))}</span></div>'
    )


def _heading(text: str) -> Any:
    return ipywidgets.HTML(f'<div style="{FONT};font-weight:600">{escape(text)}</div>')


def _button(text: str, click: Callable[[Any], None], **options: str) -> Any:
    button = ipywidgets.Button(description=text, layout=ipywidgets.Layout(width="auto"), **options)
    button.on_click(click)
    return button
