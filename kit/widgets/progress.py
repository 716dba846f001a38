"""Progress while waiting: one line that disappears in the end.

In a notebook it is an output that updates itself and ends as the empty text that it began as. So a
saved notebook contains no durations, and no widgets that a reopened one would miss; it needs no
ipywidgets. In a terminal it is one line on standard error; elsewhere nothing.
"""

from __future__ import annotations

import functools
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import Any, Protocol, TextIO

from kit import wire
from kit.widgets.hosts import find_run, find_shell

#: Minimum of seconds between two updates; Jupyter drops messages if there are too many.
UPDATE_SECONDS = 0.1

#: Fraction of a run from which its own pace is used.
_MIN_OWN_PACE = 0.05
_BAR = (
    '<div style="display:flex;align-items:center;gap:8px;max-width:480px;'
    'font:13px var(--jp-ui-font-family,system-ui);color:var(--jp-ui-font-color1,inherit)">'
    "<span>{label}</span>"
    '<span style="flex:1;height:6px;border-radius:3px;overflow:hidden;forced-color-adjust:none;'
    'background:var(--jp-layout-color3,#bdbdbd)"><span style="display:block;height:100%;'
    'width:{percent:.0f}%;background:var(--jp-brand-color1,#1976d2)"></span></span>'
    "<span>{text}</span></div>"
)
# JupyterLab shows pictures as blocks, each in a row of its own.
_THUMBNAIL = (
    '<img src="{}" alt="" '
    'style="display:inline-block;height:64px;margin:6px 6px 0 0;border-radius:4px">'
)


class ProgressDisplay(Protocol):
    """Displays a line of progress."""

    def show(
        self, label: str, fraction: float | None, seconds: float, pictures: Sequence[str] = ()
    ) -> None:
        """Show the progress, and thumbnails of results if pictures can be shown."""

    def close(self) -> None:
        """Remove the line."""


class ProgressUpdates:
    """Receives the updates of one wait: call it with each response."""

    def __init__(
        self, label: str, line: ProgressDisplay | None, clock: Callable[[], float]
    ) -> None:
        self._label = label
        self._line = line
        self._clock = clock
        self._began = clock()
        self._last = -UPDATE_SECONDS

    def __call__(self, generation: wire.Generation) -> None:
        """Show the progress of a generation."""
        if not generation.finished:
            self.show_text(self._label, generation.progress)

    def show_text(
        self, words: str, fraction: float | None = None, pictures: Sequence[str] = ()
    ) -> None:
        """Show a text with the progress in place of the label."""
        seconds = self._clock() - self._began
        if self._line is not None and seconds - self._last >= UPDATE_SECONDS:
            self._last = seconds
            self._line.show(words, fraction, seconds, pictures)


@contextmanager
def progress(
    label: str,
    *,
    enabled: bool = True,
    line: ProgressDisplay | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[ProgressUpdates]:
    """Show progress inside a ``with`` block; yields an object that receives updates."""
    shown = (line or _find_display()) if enabled else None
    updates = ProgressUpdates(label, shown, clock)
    try:
        yield updates
    finally:
        if shown is not None:
            shown.close()


class TimeEstimate:
    """The remaining time of a run, from usual durations, then increasingly from its own pace.

    An estimate never rises by more than it fell just before.
    """

    def __init__(self) -> None:
        #: Usual total seconds of such runs, if known.
        self.expected: float | None = None
        self._last: float | None = None
        self._last_drop = 0.0

    def seconds_left(self, fraction: float | None, seconds: float) -> float | None:
        """Return the remaining seconds; None if unknown."""
        done = fraction or 0.0
        usual = None if self.expected is None else max(0.0, self.expected - seconds)
        pace = seconds * (1 - done) / done if done >= _MIN_OWN_PACE and seconds >= 1 else usual
        if pace is None or done >= 1:
            return None
        guess = pace if usual is None else done * pace + (1 - done) * usual
        if self._last is not None:
            guess = min(guess, self._last + self._last_drop)
            self._last_drop = max(0.0, self._last - guess)
        self._last = guess
        return guess

    def text(self, fraction: float | None, seconds: float) -> str:
        """Return the same as text; empty if unknown."""
        left = self.seconds_left(fraction, seconds) or 0.0
        slow = self.expected is not None and seconds > 1.5 * self.expected + 2
        amount = f"{left:.0f} s" if left < 90 else f"{left / 60:.0f} min"
        words = (f"about {amount} left" if left >= 1 else "", "longer than usual" if slow else "")
        return ", ".join(filter(None, words))


class NotebookLine:
    """A display output that updates itself, created when there is something to show."""

    def __init__(self, display: Callable[..., Any]) -> None:
        self._display = display
        self._handle: Any = None

    def show(
        self, label: str, fraction: float | None, seconds: float, pictures: Sequence[str] = ()
    ) -> None:
        """Show the progress."""
        self._update(bar(label, fraction, seconds) + "".join(map(_THUMBNAIL.format, pictures)))

    def close(self) -> None:
        """Leave an empty output, the same in each run."""
        self._update("")

    def _update(self, html: str) -> None:
        if self._handle is None:
            self._handle = self._display(_bundle(""), raw=True, display_id=True)
        if self._handle is not None:
            self._handle.update(_bundle(html), raw=True)


@functools.lru_cache(maxsize=1)
def line_of_cell(cell: str) -> NotebookLine:
    """Return the line of a run of a cell: JupyterLab hides the outputs after the fiftieth."""
    from IPython.display import display

    return NotebookLine(display)


class TerminalLine:
    """One line of a terminal, overwritten each time."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._width = 0

    def show(
        self, label: str, fraction: float | None, seconds: float, pictures: Sequence[str] = ()
    ) -> None:
        """Show the progress."""
        done = round(20 * (fraction or 0.0))
        text = f" {'█' * done}{'░' * (20 - done)} {_text(fraction, seconds)}"
        width = shutil.get_terminal_size().columns - 1  # a wrapped line could not be overwritten
        self._write((label[: max(width - len(text), 0)] + text)[:width])

    def close(self) -> None:
        """Clear the line."""
        self._write("")
        self._stream.write("\r")
        self._stream.flush()

    def _write(self, text: str) -> None:
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = len(text)


def bar(label: str, fraction: float | None, seconds: float) -> str:
    """Return the HTML of a progress bar; it is empty if the fraction is unknown."""
    percent = 100.0 * min(max(fraction or 0.0, 0.0), 1.0)
    return _BAR.format(label=escape(label), percent=percent, text=_text(fraction, seconds))


def _text(fraction: float | None, seconds: float) -> str:
    known = "" if fraction is None else f"{100 * min(max(fraction, 0.0), 1.0):.0f} % · "
    return f"{known}{seconds:.0f} s"


def _bundle(html: str) -> dict[str, str]:
    return {"text/plain": "", "text/html": html}


def _find_display() -> ProgressDisplay | None:
    """Return the display to use."""
    if (kernel := getattr(find_shell(), "kernel", None)) is not None:
        if getattr(getattr(kernel, "session", None), "pid", os.getpid()) != os.getpid():
            return None  # a fork of a kernel cannot send to it
        return line_of_cell(find_run()[1])
    # missing streams, and those that write to a log, have no such method
    return TerminalLine(sys.stderr) if getattr(sys.stderr, "isatty", bool)() else None
