"""Static snapshots: what stays of a widget in a notebook that is opened again, or not trusted.

A widget and its snapshot are two outputs (decision 23): a page that cannot show a widget says so
in its place, and takes whatever else stands in the same output along.
"""

from __future__ import annotations

import hashlib
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import ipywidgets

from kit.widgets.accessibility import Accessibility
from kit.widgets.background import FOLLOWING, BackgroundRunner, Debounced, Subscribe, Throttled
from kit.widgets.boxes import close_all
from kit.widgets.hosts import find_host
from kit.widgets.markup import COLOR, FONT, faint

#: Seconds of quiet before what is kept follows what is shown.
QUIET = 1.0

Bundle = Callable[[], Mapping[str, Any]]
_CODE = (
    "font:12px/1.5 var(--jp-code-font-family,monospace);margin:2px 0 0;padding:6px 10px;"
    "white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere;border-radius:4px;color:inherit;"
    "background:var(--jp-layout-color2,#8881)"
)


class StaticSnapshot:
    """Shows a widget and its snapshot, and lets the snapshot follow."""

    def __init__(self, background: BackgroundRunner) -> None:
        #: Part of what is shown; while it lives, it takes the snapshot away.
        self.style = ipywidgets.HTML(layout=ipywidgets.Layout(display="none"))
        self.follow = Debounced(self._follow, QUIET, background)
        self._lock = threading.Lock()
        self._names: list[str] = []
        self._bundle: Bundle | None = None
        self._last = self._place = self._words = ""

    def show(self, bundle: Bundle) -> None:
        """Show both: the snapshot first, and below it the widget.

        `bundle`: returns the MIME bundle of the widget, whose ``text/html`` is its snapshot. It is
        asked again, on any thread, when the snapshot follows.
        """
        whole = dict(bundle())
        html, self._words = whole.pop("text/html"), whole.pop("text/plain", "")
        place = name(html)
        with self._lock:
            self._bundle, self._last, self._place = bundle, html, uuid.uuid4().hex
            self._names = [*(n for n in self._names if n != place), place]
            hidden = (f"<style>.{name} {{ display: none }}</style>" for name in self._names)
            self.style.value = "".join(hidden)
        publish(self._output(html), transient={"display_id": self._place})
        publish({**whole, "text/plain": ""})

    def _follow(self) -> None:
        """Put into the notebook what is shown now: what was written in a widget is kept."""
        bundle = self._bundle
        if bundle is None:
            return
        whole = bundle()
        html = whole["text/html"]
        with self._lock:
            if html == self._last:
                return
            self._last, self._words = html, whole.get("text/plain", "")
        publish(self._output(html), transient={"display_id": self._place}, update=True)

    def stop(self) -> None:
        """Leave it as it is now."""
        self._bundle = None

    def _output(self, html: str) -> dict[str, str]:
        """Return the snapshot as an output, which also has the words for the widget.

        Where a notebook is not trusted, the page passes over the widget and shows its words.
        """
        return {"text/plain": self._words, "text/html": render_snapshot(self._names[-1], html)}


class SnapshotBox(ipywidgets.VBox):
    """A box of widgets with a snapshot in the notebook, and with what its page does for it."""

    children: Any

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
        self._changes = Throttled(lambda: None, FOLLOWING, self._background)
        self.snapshot = StaticSnapshot(self._background)
        self._script = Accessibility()
        parts = (*children, self.snapshot.style, self._script)
        super().__init__(children=parts, _dom_classes=(kind,))
        self._script.box = self.model_id

    def _html(self) -> str:
        """Return what is kept of it."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options) or {}
        return {**bundle, "text/plain": repr(self), "text/html": self._html()}

    def _ipython_display_(self) -> None:
        self.snapshot.show(self._repr_mimebundle_)

    def close(self) -> None:
        """Take it away, and let go of what it holds; what was started goes on."""
        self.snapshot.stop()
        self._changes.pause(True)
        for child in self.children:
            close_all(child)
        super().close()
        self._on_close()

    def follow(self, subscribe: Subscribe, call: Callable[[], None]) -> None:
        """Have something called a moment after each change at a service, while a page has it."""
        self._changes = changes = Throttled(call, FOLLOWING, self._background)
        self._script.follow(subscribe(changes.request), changes.pause)


def publish(data: Mapping[str, Any], **options: Any) -> None:
    """Show a MIME bundle in the notebook."""
    from IPython.display import publish_display_data

    show: Callable[..., None] = publish_display_data
    show(dict(data), {}, **options)


def name(html: str) -> str:
    """Return the class of kept HTML; that of two runs of a cell is the same."""
    return f"kit-snapshot-{hashlib.sha256(html.encode()).hexdigest()[:12]}"


def render_snapshot(name: str, html: str) -> str:
    """Return kept HTML that stands in for a widget where there is no kernel.

    While the widget lives, its style sheet takes this away. In a notebook that was opened again the
    widget is only a line: that it is loading, for as long as there is no kernel, or that its model
    was not found. The style sheet in here hides such a line, and nothing else: it is text without
    any element, which neither a widget is, nor one that broke, nor any other output. Where a
    notebook is not trusted, the style sheet is taken out, and the words of the widget are shown
    instead: there are none (see `StaticSnapshot`).
    """
    lost = ".jp-OutputArea-output:not(:has(*))"
    after = f".jp-OutputArea-child:has(.{name}) + .jp-OutputArea-child {lost}"
    # JupyterLab paints every other row of a table in the color of the page: bars across a card.
    plain = f".{name} tr {{ background: none !important }}"
    return f'<style>{after} {{ display: none }} {plain}</style><div class="{name}">{html}</div>'


def rerun_line(code: str) -> str:
    """Return the statement that brings a widget back, as it stands below its snapshot."""
    words = faint(find_host().instead)
    return (
        f'<div style="{FONT};{COLOR};max-width:746px;margin-top:6px">{words}'
        f'<pre style="{_CODE}">{escape(code)}</pre></div>'
    )
