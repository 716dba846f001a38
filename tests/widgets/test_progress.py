from __future__ import annotations

import io
import os
from collections.abc import Sequence
from contextlib import redirect_stderr
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.interactiveshell import InteractiveShell

from kit.widgets.progress import (
    NotebookLine,
    TerminalLine,
    TimeEstimate,
    bar,
    line_of_cell,
    progress,
)
from kit.wire import Generation


class Recorder:
    """A progress line that records its calls."""

    def __init__(self) -> None:
        self.shown: list[tuple[str, float | None, float]] = []
        self.closed = 0

    def show(
        self, label: str, fraction: float | None, seconds: float, pictures: Sequence[str] = ()
    ) -> None:
        self.shown.append((label, fraction, seconds))

    def close(self) -> None:
        self.closed += 1


class Display:
    """IPython's display function, as far as a progress line uses it."""

    def __init__(self) -> None:
        self.published: list[dict[str, str]] = []
        self.created = 0

    def __call__(self, bundle: dict[str, str], *, raw: bool, display_id: bool) -> Display:
        assert raw
        assert display_id
        self.created += 1
        self.published.append(bundle)
        return self

    def update(self, bundle: dict[str, str], *, raw: bool) -> None:
        assert raw
        self.published.append(bundle)


def running(fraction: float | None = None) -> Generation:
    return Generation(id="g", progress=fraction)


def test_updates_are_throttled() -> None:
    line, now = Recorder(), iter([0.0, 0.0, 0.05, 0.5, 0.9])

    with progress("paint", line=line, clock=lambda: next(now)) as update:
        for fraction in (0.1, 0.2, 0.3):
            update(running(fraction))
        update(Generation(id="g", status="completed"))

    assert line.shown == [("paint", 0.1, 0.0), ("paint", 0.3, 0.5)]
    assert line.closed == 1


def test_the_progress_line_is_closed_after_an_error() -> None:
    line = Recorder()

    with pytest.raises(ValueError, match="x"), progress("paint", line=line):
        raise ValueError("x")

    assert line.closed == 1


def test_progress_can_be_disabled() -> None:
    line = Recorder()

    with progress("paint", enabled=False, line=line) as update:
        update(running())

    assert (line.shown, line.closed) == ([], 0)


@pytest.mark.parametrize("updates", [0, 1, 3])
def test_a_notebook_keeps_an_empty_output_after_any_number_of_updates(updates: int) -> None:
    display = Display()
    line = NotebookLine(display)

    for n in range(updates):
        line.show("paint", n / 3, float(n))
    line.close()

    empty = {"text/plain": "", "text/html": ""}
    assert display.published[0] == display.published[-1] == empty
    assert len(display.published) == 2 + updates


def test_a_terminal_line_is_overwritten_and_cleared() -> None:
    stream = io.StringIO()
    line = TerminalLine(stream)

    line.show("paint", 0.5, 3.2)
    line.close()

    shown, blank, _ = stream.getvalue().lstrip("\r").split("\r")
    assert shown == "paint ██████████░░░░░░░░░░ 50 % · 3 s"
    assert blank == " " * len(shown)


@pytest.mark.parametrize(
    ("columns", "shown"),
    [(50, "sending holidays- ██████████░░░░░░░░░░ 50 % · 3 s"), (9, " ███████")],
)
def test_a_line_fits_the_width_of_the_terminal(
    monkeypatch: pytest.MonkeyPatch, columns: int, shown: str
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    stream = io.StringIO()

    TerminalLine(stream).show("sending holidays-at-the-sea.mp4", 0.5, 3.2)

    assert stream.getvalue() == f"\r{shown}"


@pytest.mark.parametrize(
    ("fraction", "width", "text"),
    [(None, 0, ">4 s<"), (0.25, 25, ">25 % · 4 s<"), (7.0, 100, ">100 % · 4 s<"), (-1.0, 0, "0 %")],
)
def test_a_bar_stays_within_its_bounds(fraction: float | None, width: int, text: str) -> None:
    html = bar("<b>", fraction, 4.0)

    assert f"width:{width}%" in html
    assert text in html
    assert "&lt;b&gt;" in html


def test_a_program_without_a_terminal_prints_nothing(capsys: pytest.CaptureFixture[Any]) -> None:
    with progress("paint") as update:
        update(running(0.5))

    assert capsys.readouterr() == ("", "")


def test_a_redirected_stderr_gets_no_progress() -> None:
    written: list[str] = []
    with redirect_stderr(SimpleNamespace(write=written.append)), progress("paint") as update:  # type: ignore[type-var]
        update(running(0.5))

    assert not written


@pytest.mark.parametrize("forked", [True, False])
@pytest.mark.usefixtures("shell")
def test_a_process_forked_from_a_kernel_publishes_nothing(forked: bool) -> None:
    shell, sent = InteractiveShell.instance(), list[Any]()
    session = SimpleNamespace(pid=os.getpid() + forked)
    shell.kernel = SimpleNamespace(session=session, get_parent=dict)
    shell.display_pub = SimpleNamespace(publish=lambda **_: sent.append(1), is_publishing=False)
    with progress("paint") as update:
        update(running(0.5))

    assert bool(sent) is not forked


def test_a_loop_in_a_cell_uses_one_progress_line() -> None:
    display = Display()
    line = NotebookLine(display)
    for _ in range(51):
        with progress("paint", line=line) as update:
            update(running(0.5))

    assert display.created == 1
    assert display.published[-1]["text/html"] == ""
    assert line_of_cell("one") is line_of_cell("one")
    assert line_of_cell("one") is not line_of_cell("two")


def test_pictures_are_shown_as_they_arrive() -> None:
    display = Display()
    with progress("sweep", line=NotebookLine(display)) as update:
        update.show_text("sweep · 1 of 2", 0.5, ["data:image/webp;base64,AAAA"])

    assert "sweep · 1 of 2" in display.published[-2]["text/html"]
    shown = '<img src="data:image/webp;base64,AAAA" alt="" style="display:inline-block;'
    assert shown in display.published[-2]["text/html"], "in a row"


@given(
    st.one_of(st.none(), st.floats(0, 600)),
    st.lists(st.tuples(st.one_of(st.none(), st.floats(0, 1)), st.floats(0, 20)), max_size=40),
)
def test_an_estimate_never_rises_by_more_than_it_fell_before(
    expected: float | None, steps: list[tuple[float | None, float]]
) -> None:
    estimate, seconds, times = TimeEstimate(), 0.0, list[float]()
    estimate.expected = expected
    for fraction, passed in steps:
        seconds += passed
        if (left := estimate.seconds_left(fraction, seconds)) is not None:
            times.append(left)

    for before, last, now in zip(times, times[1:], times[2:], strict=False):
        assert now - last <= max(0.0, before - last) + 1e-6
    assert all(now <= times[0] + 1e-6 for now in times[1:2])


def test_an_estimate_moves_from_the_usual_duration_to_the_actual_pace() -> None:
    estimate = TimeEstimate()
    estimate.expected = 10.0

    assert estimate.seconds_left(None, 2.0) == 8.0
    assert estimate.seconds_left(0.1, 2.0) == pytest.approx(
        8.0
    )  # the pace gives 18, weighted a tenth
    assert estimate.seconds_left(0.9, 5.0) == pytest.approx(1.0)
    assert estimate.seconds_left(1.0, 6.0) is None
    assert TimeEstimate().seconds_left(None, 5.0) is None
