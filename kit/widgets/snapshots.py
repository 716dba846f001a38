"""Static snapshots: what a reopened or untrusted notebook shows instead of a widget.

A widget and its snapshot are two outputs (decision 23): a page that cannot show a widget shows an
error in its place, and hides everything else in the same output.
"""

from __future__ import annotations

import hashlib
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from html import escape
from itertools import chain
from typing import Any

import ipywidgets

from kit.widgets.accessibility import Accessibility
from kit.widgets.background import (
    FOLLOW_SECONDS,
    BackgroundRunner,
    ChangeCheck,
    Debounced,
    Subscribe,
    Throttled,
)
from kit.widgets.boxes import close_with_styles
from kit.widgets.hosts import MARIMO, check_page, find_host, find_run, find_shell
from kit.widgets.markup import COLOR, FONT, faint

#: Items of a list or dict that is searched for a widget: data of users may be large.
_MAX_HELD = 1000
#: Seconds without a change before the snapshot is updated.
QUIET_SECONDS = 1.0

Bundle = Callable[[], Mapping[str, Any]]
_CODE = (
    "font:12px/1.5 var(--jp-code-font-family,monospace);margin:2px 0 0;padding:6px 10px;"
    "white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere;border-radius:4px;color:inherit;"
    "background:var(--jp-layout-color2,#8881)"
)


class StaticSnapshot:
    """Shows a widget and its snapshot, and keeps the snapshot current."""

    def __init__(self, background: BackgroundRunner) -> None:
        #: Part of the widget; while the widget is alive, it hides the snapshot.
        self.style = ipywidgets.HTML(layout=ipywidgets.Layout(display="none"))
        self._follow_soon = Debounced(self._follow, QUIET_SECONDS, background)
        self._lock = threading.Lock()
        self._names: list[str] = []
        self._bundle: Bundle | None = None
        self._last = self._display_id = ""

    def show(self, bundle: Bundle) -> None:
        """Show both: the snapshot first, and below it the widget.

        `bundle`: returns the MIME bundle of the widget, whose ``text/html`` is its snapshot. It is
        called again, on any thread, to update the snapshot.
        """
        self._bundle = bundle  # first: later changes are followed
        content = bundle()
        html = content["text/html"]
        place = name(html)
        with self._lock:
            self._last, self._display_id = html, uuid.uuid4().hex
            self._names = [*(n for n in self._names if n != place), place]
            hidden = (f"<style>.{name} {{ display: none }}</style>" for name in self._names)
            self.style.value = "".join(hidden)
        self._publish(content)
        publish(
            {kind: v for kind, v in content.items() if kind != "text/html"} | {"text/plain": ""}
        )

    def follow(self) -> None:
        """Update it a moment after the last change, if it is shown."""
        if self._bundle is not None:
            self._follow_soon()

    def _follow(self) -> None:
        """Update the snapshot in the notebook, with the user's input."""
        bundle = self._bundle
        if bundle is None or not self._names:
            return
        content = bundle()
        with self._lock:
            before, self._last = self._last, content["text/html"]
        if before != content["text/html"]:
            self._publish(content, update=True)

    def stop(self) -> None:
        """Stop updating it."""
        self._bundle = None

    def _publish(self, content: Mapping[str, Any], **options: Any) -> None:
        """Show the snapshot with the widget's text, which an untrusted notebook shows instead."""
        html = render_snapshot(self._names[-1], content["text/html"])
        data = {"text/plain": content.get("text/plain", ""), "text/html": html}
        publish(data, transient={"display_id": self._display_id}, **options)


class SnapshotBox(ipywidgets.VBox):
    """A box of widgets with a snapshot in the notebook, and with page scripts."""

    children: Any

    def __new__(cls, *args: Any, **options: Any) -> Any:
        """Refuse pages that lose results, before there is something to close."""
        check_page()
        return super().__new__(cls, *args, **options)

    def __init__(
        self,
        children: Sequence[Any],
        kind: str,
        background: BackgroundRunner | None = None,
        *,
        on_close: Callable[[], None] = lambda: None,
    ) -> None:
        self._background = background or BackgroundRunner()
        self._on_close = on_close
        self._check: ChangeCheck = None
        self._made_in = find_run()
        self._replaced = False
        self._owner: Any = None
        #: Number of pages that show it; None until the first one does.
        self._pages: int | None = None
        self._changes = Throttled(lambda: None, FOLLOW_SECONDS, self._background)
        self.snapshot = StaticSnapshot(self._background)
        self._script = Accessibility()
        parts = (*children, self.snapshot.style, self._script)
        super().__init__(children=parts, _dom_classes=(kind,))
        self._own_layout = self.layout  # users may set another one, and use it elsewhere, too
        self._script.box = self.model_id
        self._script.on_msg(self._receive_page)

    def _html(self) -> str:
        """Return the snapshot as HTML."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        view = (find_host() is not MARIMO and super()._repr_mimebundle_(**options)) or {}
        return {**view, "text/plain": repr(self), "text/html": self._html()}

    def _ipython_display_(self) -> None:
        self.show(self._repr_mimebundle_, self)

    def show(self, bundle: Bundle, owner: Any) -> None:
        """Show the widget of an object, or only its snapshot if the widget is closed."""
        if self.comm is None:
            publish({"text/plain": repr(owner), "text/html": self._html()})
            return
        self._owner = owner
        self.snapshot.show(bundle)
        if self._made_in == find_run():
            call_when_replaced(self._replace)

    def is_shown_by_another_cell(self, box: SnapshotBox) -> bool:
        """Return whether it is shown by another cell than the one that has made a box."""
        is_shown = self._owner is not None if self._pages is None else self._pages > 0
        return is_shown and self.comm is not None and box._made_in[0] not in ("", self._made_in[0])

    def _replace(self) -> None:
        self._replaced = True
        self._close_unused()

    def _close_unused(self) -> None:
        """Close it once a rerun has replaced it, and no page, name, named list or dict has it."""
        if not self._replaced or self._pages:
            return
        shell = find_shell()
        hidden = getattr(shell, "user_ns_hidden", {})  # such as the results of all cells
        names = getattr(shell, "user_ns", {}).copy().items()
        held = [v for name, v in names if not name.startswith("_") and name not in hidden]
        groups = [v for v in held if isinstance(v, (list, tuple, dict)) and len(v) <= _MAX_HELD]
        parts = [[*v.values()] if isinstance(v, dict) else v for v in groups]
        if not any(v is self._owner for v in chain(held, *parts)):
            self.close()
            # IPython would keep it there also when it drops its oldest results
            for name in [name for name, value in hidden.items() if value is self._owner]:
                del hidden[name]

    def close(self) -> None:
        """Close the widget and free its resources; running generations continue."""
        self.snapshot.stop()
        self._changes.pause(True)
        for one in (*self.children, self._own_layout):
            close_with_styles(one)
        super().close()
        self._on_close()

    def follow(self, subscribe: Subscribe, call: Callable[[], None]) -> None:
        """Call a function a moment after each change at a service, while a page shows the box."""
        self._changes = changes = Throttled(call, FOLLOW_SECONDS, self._background)
        self._check = subscribe(changes.request)
        self._script.follows = self._check is not None

    def _receive_page(self, _: Any, message: Any, __: Any) -> None:
        match message:
            case {"look": True} if self._check is not None:
                self._check()
            case {"pages": 1 | -1 as change}:
                self._pages = (self._pages or 0) + change
                self._changes.pause(self._pages <= 0)
                self._close_unused()


#: For each cell, what to call once another run of it replaces its widgets, with their run.
_shown: dict[str, list[tuple[str, Callable[[], None]]]] = {}


def call_when_replaced(call: Callable[[], None]) -> None:
    """Call a function when the running cell, run again, shows a widget; call earlier ones now."""
    cell, run = find_run()
    if cell:
        shown = _shown.get(cell, [])
        _shown[cell] = [*(one for one in shown if one[0] == run), (run, call)]
        for earlier, replace in shown:
            if earlier != run:
                replace()


def publish(data: Mapping[str, Any], **options: Any) -> None:
    """Show a MIME bundle in the notebook; in a terminal, its text, once."""
    from IPython.display import publish_display_data

    show: Callable[..., None] = publish_display_data
    if not hasattr(find_shell(), "mainloop") or ("update" not in options and data["text/plain"]):
        show(dict(data), {}, **options)


def name(html: str) -> str:
    """Return the CSS class of a snapshot; the same for equal HTML in another run of the cell."""
    return f"kit-snapshot-{hashlib.sha256(html.encode()).hexdigest()[:12]}"


def render_snapshot(name: str, html: str) -> str:
    """Return the snapshot that replaces a widget without a kernel.

    While the widget is alive, its style sheet hides the snapshot. In a reopened notebook the widget
    is only a line of text: that it is loading, as long as there is no kernel, or that its model was
    not found. The style sheet here hides such a line and nothing else: it is text without any HTML
    element, unlike widgets, broken widgets and all other outputs. In an untrusted notebook the
    style sheet is removed, and the plain text of the widget is shown instead: it is empty (see
    `StaticSnapshot`).
    """
    lost = ".jp-OutputArea-output:not(:has(*))"
    after = f".jp-OutputArea-child:has(.{name}) + .jp-OutputArea-child {lost}"
    # JupyterLab paints every other row of a table in the page's color: stripes across a card.
    plain = f".{name} tr {{ background: none !important }}"
    return f'<style>{after} {{ display: none }} {plain}</style><div class="{name}">{html}</div>'


def rerun_line(code: str) -> str:
    """Return the statement that shows a widget again, displayed below its snapshot."""
    words = faint(find_host().rerun_text)
    return (
        f'<div style="{FONT};{COLOR};max-width:746px;margin-top:6px">{words}'
        f'<pre style="{_CODE}">{escape(code)}</pre></div>'
    )
