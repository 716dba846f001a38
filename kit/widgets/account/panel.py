"""The account panel: the account's facts at the top, then profiles and keys, if there are any."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

import ipywidgets

from kit import wire
from kit.widgets.account import Key, Keys, Profiles, Spent
from kit.widgets.account.signin import STYLE, SignIn, code
from kit.widgets.background import BackgroundRunner, Subscribe, guard
from kit.widgets.boxes import mark_open
from kit.widgets.markup import FAINT, FONT, card, credits, faint, pairs, problem
from kit.widgets.secret import OneTimeSecret
from kit.widgets.snapshots import SnapshotBox, rerun_line

#: The text for spending at a service without a ledger.
_NO_LEDGER = "not reported: this service keeps no ledger; studio.costs adds up what is known here"


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts at the top of the panel."""

    service: str
    account: wire.Account
    spent: Spent | None = None


def render_facts(found: Facts) -> str:
    """Return account, balance and spending as HTML; doubts are shown in full as a tooltip."""
    account, spent, basis = found.account, found.spent, ""
    rows = {
        "service": escape(found.service),
        "e-mail": escape(account.email or ""),
        "balance": credits(account.credits) if account.credits is not None else "not reported",
    }
    if spent is None:
        rows["spent"] = escape(_NO_LEDGER)
    else:
        why = escape(" ".join(spent.doubts))
        for name, amount in (("spent today", spent.today), ("spent this month", spent.month)):
            about = f'<span title="{why}">about {credits(amount)}</span>'
            rows[name] = about if why else credits(amount)
        words = ("Spending is summed from the service's ledger; days are in UTC.", *spent.doubts)
        basis = f"<div>{faint(' '.join(words))}</div>"
    return card(account.name or "Account", pairs((n, v) for n, v in rows.items() if v) + basis)


def key_line(item: Key) -> str:
    """Return a key in one line, without its secret."""
    words = [", ".join(item.scopes), item.state]
    if item.state == "active" and item.expires_at is not None:
        words.append(f"until {item.expires_at:%Y-%m-%d}")
    words += [f"used {item.last_used_at:%Y-%m-%d}"] if item.last_used_at else []
    words += ["in use here"] if item.in_use else []
    return (
        f'<div style="{FONT}"><code>{escape(item.prefix)}…</code> <b>{escape(item.name)}</b> '
        f'<span style="{FAINT}">{escape(" · ".join(words))}</span></div>'
    )


def heading(text: str) -> Any:
    """Return the heading of a part of the panel."""
    return ipywidgets.HTML(f'<div style="{FONT};font-weight:600">{escape(text)}</div>')


def button(text: str, click: Callable[[Any], None], **options: str) -> Any:
    """Return a button as wide as its label."""
    layout = ipywidgets.Layout(width="auto")
    widget = ipywidgets.Button(
        description=text, layout=layout, _dom_classes=("kit-click-once",), **options
    )
    widget.on_click(click)
    return widget


#: Maximum of seconds that a new key is shown.
SHOWN_SECONDS = 120.0
#: Option -> days that a key is valid.
EXPIRY: dict[str, int | None] = {
    "in 7 days": 7,
    "in 30 days": 30,
    "in 90 days": 90,
    "in a year": 365,
    "never": None,
}


class KeyList(ipywidgets.VBox):
    """A list of keys, with controls to create and revoke them."""

    def __init__(
        self,
        keys: Keys,
        begin: Callable[[Callable[[], None]], None],
        show_problem: Callable[[str], None],
        background: BackgroundRunner,
    ) -> None:
        self._keys = keys
        self._begin = begin
        self._show_problem = show_problem
        self._background = background
        self._hide: Callable[[], None] = lambda: None
        self._shown: dict[Key, Any] = {}
        self._rows = ipywidgets.VBox(_dom_classes=("kit-keys",))
        self._new = ipywidgets.VBox()
        self._name = ipywidgets.Text(
            description="Name", placeholder="name of the key", continuous_update=False
        )
        self._scopes = [
            ipywidgets.Checkbox(value=True, description=scope, indent=False)
            for scope in wire.SCOPES
            if scope != "read"
        ]
        self._expiry = ipywidgets.Dropdown(
            options=list(EXPIRY), value="in 90 days", description="Expires"
        )
        self.make = button("Create key", self._create_key, tooltip="It is shown once")
        form = [
            ipywidgets.HBox(row, _dom_classes=("kit-line",))
            for row in ((self._name, self._expiry), (*self._scopes, self.make))
        ]
        parts = (heading("Keys"), self._rows, self._new, heading("A new key"), *form)
        super().__init__(children=parts, _dom_classes=("kit-part",))

    def show(self) -> None:
        """Fetch the keys again and show them; may block."""
        # Unchanged rows are kept: the user may be answering whether to revoke a key.
        self._shown = {key: self._shown.get(key) or self._row(key) for key in self._keys.list_all()}
        self._rows.children = tuple(self._shown.values())

    def _row(self, key: Key) -> Any:
        layout = ipywidgets.Layout(flex="1 1 auto", min_width="0")
        line = ipywidgets.HTML(key_line(key), layout=layout)
        if key.state != "active":
            return ipywidgets.HBox((line,))

        def ask_back(asking: bool) -> None:
            # The focused button is hidden last: then the one that takes the focus is visible.
            answers, question = (yes, keep), (ask,)
            for one in answers if asking else question:
                one.layout.display = None
            for one in question if asking else answers:
                one.layout.display = "none"
            if asking and key.in_use:
                self._show_problem("This notebook uses this key and will lose access.")

        def revoke() -> None:
            self._keys.revoke(key.id)
            self.show()

        ask = button("Revoke", lambda _: ask_back(True), tooltip=f"Revoke {key.prefix}… forever")
        yes = button("Yes, revoke", lambda _: self._begin(revoke), button_style="danger")
        keep = button("Keep", lambda _: ask_back(False))
        ask_back(False)
        # the safe choice appears under the pointer, and gets the focus
        return ipywidgets.HBox((line, yes, ask, keep))

    def _create_key(self, _: Any) -> None:
        if self.make.disabled:
            return  # sent before the page disabled the button
        name = self._name.value.strip()
        scopes = [box.description for box in self._scopes if box.value]
        days = EXPIRY[self._expiry.value]

        def make() -> None:
            try:
                self._show_new_key(self._keys.create(name, scopes, days))
                if self._name.value.strip() == name:  # otherwise the user is typing the next name
                    self._name.value = ""
                self.show()
            finally:
                self.make.disabled = False

        self.make.disabled = True
        self._begin(make)

    def _show_new_key(self, text: str) -> None:
        """Show a key once, then remove all traces of it."""
        self._hide()
        box = OneTimeSecret(text, hint="Copy the key now, it is not shown again.")
        done = button("I have copied it", lambda _: hide())
        self._new.children = (box, done)
        self._new.add_class("kit-new")

        def hide() -> None:
            cancel_hide()
            self._hide = lambda: None
            self._new.children = ()
            self._new.remove_class("kit-new")
            box.forget()
            box.close()
            done.close()

        cancel_hide = self._background.after(SHOWN_SECONDS, hide)
        self._hide = hide


class ProfileSelector(ipywidgets.VBox):
    """Saved profiles to choose from; choosing one switches to it."""

    def __init__(
        self,
        profiles: Profiles,
        begin: Callable[[Callable[[], None]], None],
        on_switch: Callable[[], None],
        background: BackgroundRunner,
    ) -> None:
        self._profiles = profiles
        self._begin = begin
        self._account_changed = on_switch
        self._background = background
        #: Whether the account shown is that of the studio in the user's cells.
        self.is_own = True
        self._updating = False
        self._dropdown = ipywidgets.Dropdown(description="Profile")
        self._line = ipywidgets.HTML(_dom_classes=("kit-status",))
        self._open = button(
            "Sign in with a key …",
            self._toggle_sign_in,
            tooltip="To another service, or with a new key",
        )
        self._open.add_class("kit-opens")
        self._form = ipywidgets.VBox(_dom_classes=("kit-part",))
        row = ipywidgets.HBox((self._dropdown, self._open), _dom_classes=("kit-line",))
        parts = (heading("Profiles"), row, self._line, self._form)
        super().__init__(children=parts, _dom_classes=("kit-part",))
        self._dropdown.observe(self._switch_account, "value")

    def show(self) -> None:
        """Show the profiles, and which one is active."""
        choices = self._profiles.list_all()
        active = self._profiles.active
        self._updating = True
        try:
            self._dropdown.options = [(choice.label, choice.name) for choice in choices]
            self._dropdown.value = active
        finally:
            self._updating = False
        current = next(choice for choice in choices if choice.name == active)
        self.is_own = current.own
        self._line.value = code(current.remark, current.code) if current.remark else ""

    def _switch_account(self, change: Any) -> None:
        name = change.new
        if self._updating or name is None:
            return

        def switch() -> None:
            try:
                self._profiles.choose(name)
            finally:
                self.show()  # an account that cannot be opened is not selected
            self._account_changed()

        self._begin(switch)

    def _toggle_sign_in(self, _: Any) -> None:
        """Open or close the login form; the key field is created when needed."""
        mark_open(self._open, not self._form.children)
        if self._form.children:
            self._form.children = ()
            return
        active = next(p for p in self._profiles.list_all() if p.name == self._profiles.active)
        form = SignIn(
            self._sign_in,
            address=active.address,
            name=active.saved,
            describe=str,
            background=self._background,
        )
        self._form.children = (form,)

    def _sign_in(self, address: str, key: str, name: str) -> str:
        sentence = self._profiles.enter(address, key, name)
        self.show()
        self._account_changed()
        return sentence


#: Seconds that the snapshot waits for the first response.
_WAIT_SECONDS = 3.0


class AccountPanel(SnapshotBox):
    """An account, the profiles to switch to, and its API keys if they can be managed here."""

    def __init__(
        self,
        load: Callable[[], Facts],
        *,
        keys: Keys | None = None,
        profiles: Profiles | None = None,
        on_close: Callable[[], None] = lambda: None,
        subscribe: Subscribe = lambda _: None,
        background: BackgroundRunner | None = None,
    ) -> None:
        self._load = load
        later = background or BackgroundRunner()
        self._loaded = threading.Event()
        self._one_at_a_time = threading.RLock()
        self._head = ipywidgets.HTML(STYLE)
        self._problem = ipywidgets.HTML(_dom_classes=("kit-status",))
        self._refresh = button("Refresh", lambda _: self.refresh(), icon="refresh")
        self._refresh.add_class("kit-refresh")
        begin, show_problem, changed = self._begin, self._show_problem, self._account_changed
        self.key_list = KeyList(keys, begin, show_problem, later) if keys else None
        self.profile_selector = (
            ProfileSelector(profiles, begin, changed, later) if profiles else None
        )
        parts = (self._head, self._refresh, self._problem, self.profile_selector, self.key_list)
        super().__init__([*filter(None, parts)], "kit-account", later, on_close=on_close)
        self.follow(subscribe, partial(self._work, self._show_facts))
        self.refresh()

    def __repr__(self) -> str:
        return "<AccountPanel>"

    def _html(self) -> str:
        self._loaded.wait(_WAIT_SECONDS)
        return str(self._head.value).removeprefix(STYLE) + rerun_line("studio.account_panel()")

    def refresh(self) -> None:
        """Fetch and show everything again."""
        self._begin(self._show)

    def _show(self) -> None:
        if self.profile_selector is not None:
            self.profile_selector.show()  # first: if a key is refused, another can be chosen
        self._show_facts()
        if self.key_list is not None:
            elsewhere = self.profile_selector is not None and not self.profile_selector.is_own
            self.key_list.layout.display = "none" if elsewhere else None
            self.key_list.show()

    def _show_facts(self) -> None:
        self._head.value = STYLE + render_facts(self._load())

    def _account_changed(self) -> None:
        """Show the new account; the snapshot follows."""
        self._show()
        self.snapshot.follow()

    def _begin(self, work: Callable[[], None]) -> None:
        self._refresh.disabled = True
        self._background.begin(partial(self._work, work))

    def _work(self, work: Callable[[], None]) -> None:
        with self._one_at_a_time:  # otherwise an earlier request might be shown later
            self._show_problem("")
            guard(work, self._show_problem)()
        self._refresh.disabled = False
        self._loaded.set()

    def _show_problem(self, sentence: str) -> None:
        self._problem.value = problem(sentence)
