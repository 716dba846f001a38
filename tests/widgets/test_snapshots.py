"""Static snapshots: a second output of a widget, which is updated with the user's input."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import ipywidgets
import pytest
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import RichOutput, capture_output

from kit import wire
from kit.explore.archive import search_rows
from kit.widgets.accessibility import Accessibility
from kit.widgets.background import BackgroundRunner
from kit.widgets.form import Form
from kit.widgets.panel import PageSet, Panel, PanelPage, render_panel
from kit.widgets.snapshots import StaticSnapshot
from kit.widgets.table import HistoryTable
from kit.widgets.writing import Writing
from tests.widgets.forms import Api, Clock, control, model
from tests.widgets.table.histories import history
from tests.widgets.tree import every, find, send
from tests.widgets.writers import FakeWriter

pytestmark = pytest.mark.usefixtures("shell")

VIEW = "application/vnd.jupyter.widget-view+json"


def shown(widget: Any) -> list[RichOutput]:
    with capture_output() as captured:
        widget._ipython_display_()
    outputs: list[RichOutput] = captured.outputs
    return outputs


def name(output: RichOutput) -> str:
    found = re.search(r'<div class="(kit-snapshot-\w+)"', output.data["text/html"])
    assert found
    return found[1]


def panel(clock: Clock) -> Panel:
    snapshot = partial(render_panel, "Panel", (), "studio.panel()")
    pages = PageSet([PanelPage("One", ipywidgets.HTML)])
    panel_ = Panel(pages, snapshot=snapshot, background=clock.background)
    clock.run()
    return panel_


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda clock: Form(model()), "studio.form("),
        (lambda clock: Writing(FakeWriter(), "SPACE"), "studio.writing("),
        (panel, "studio.panel()"),
    ],
    ids=["form", "writing", "panel"],
)
def test_a_cell_shows_a_widget_and_its_static_snapshot(clock: Clock, make: Any, code: str) -> None:
    widget = make(clock)
    snapshot, live = shown(widget)

    assert code in snapshot.data["text/html"]
    assert VIEW not in snapshot.data
    assert snapshot.data["text/plain"] == repr(widget)
    assert VIEW in live.data
    assert live.data["text/plain"] == "", "an untrusted notebook shows it below the snapshot"
    assert "text/html" not in live.data

    widget.close()
    (closed,) = shown(widget)
    assert code in closed.data["text/html"], "a closed widget shows how to bring it back"
    styles = [w.value for w in html_widgets(widget) if w.value.startswith("<style>.kit-snapshot-")]
    assert styles == [f"<style>.{name(snapshot)} {{ display: none }}</style>"]


def test_published_outputs_have_metadata() -> None:
    sent = []

    class Publisher(DisplayPublisher):
        def publish(self, data: Any, metadata: Any = None, **options: Any) -> None:
            sent.append(metadata)

    InteractiveShell.instance().display_pub = Publisher()

    Form(model())._ipython_display_()

    assert sent == [{}, {}], "null makes the notebook invalid"


def test_a_static_snapshot_needs_no_trust(clock: Clock) -> None:
    (snapshot, _) = shown(Form(model()))
    html = snapshot.data["text/html"].partition("</style>")[2]

    assert not re.search(r"<(script|style|link|iframe|source)\b|\son\w+=", html)


def test_a_static_snapshot_is_updated_by_user_input_only(clock: Clock) -> None:
    form = Form(model(), background=clock.background)
    (snapshot, _) = shown(form)

    with capture_output() as captured:
        form.value = {"prompt": "set by a cell"}
        clock.wait(5)
        assert captured.outputs == []
        control(form, "prompt").value = "a misty <lake>"
        clock.wait(5)
        InteractiveShell.instance().mainloop = input  # as in a terminal, which cannot update
        control(form, "prompt").value = "a misty sea"
        clock.wait(5)

    (update,) = captured.outputs
    assert "a misty &lt;lake&gt;" in update.data["text/html"]
    assert name(update) == name(snapshot)


def test_written_scripts_are_in_the_static_snapshot(clock: Clock) -> None:
    writing = Writing(FakeWriter(), "SPACE", background=clock.background)
    shown(writing)
    find(writing, "Title").value = "T <1>"
    find(writing, "Write a script").click()

    with capture_output() as captured:
        clock.wait(5)

    assert "T &lt;1&gt;" in captured.outputs[-1].data["text/html"]
    assert "text 0" in captured.outputs[-1].data["text/html"]
    find(writing, "Script 1").value = "changed by hand"
    with capture_output() as captured:
        clock.wait(5)
    assert "changed by hand" in captured.outputs[-1].data["text/html"]


def test_a_widget_shown_twice_hides_both_static_snapshots() -> None:
    texts = iter(["one", "two"])
    snapshot = StaticSnapshot(BackgroundRunner())
    with capture_output() as captured:
        for _ in range(2):
            html = next(texts)
            snapshot.show(lambda html=html: {"text/html": html, "text/plain": "w"})  # type: ignore[misc]
    first, second = name(captured.outputs[0]), name(captured.outputs[2])

    assert first != second
    assert first in snapshot.style.value
    assert second in snapshot.style.value


def test_a_widget_that_was_never_shown_updates_no_snapshot(clock: Clock) -> None:
    snapshot = StaticSnapshot(background=clock.background)
    with capture_output() as captured:
        snapshot.follow()
        clock.wait(5)

    assert captured.outputs == []


def test_the_snapshot_of_a_form_has_code_with_its_values() -> None:
    form = Form(model(), {"prompt": "a lake", "parameters": {"count": 4}}, awaited=True)
    html = form._repr_mimebundle_()["text/html"]

    assert "await studio.form(&quot;flat&quot;, &quot;a lake&quot;, count=4)" in html


@pytest.mark.parametrize("module", ["account", "form", "panel", "secret", "snapshots", "writing"])
def test_each_widget_can_be_imported_first(module: str) -> None:
    line = f"import kit.widgets.{module}"
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True)

    assert done.stderr == ""


def test_a_closed_widget_does_not_close_a_layout_that_is_used_elsewhere() -> None:
    layout, form = ipywidgets.Layout(width="50%"), Form(model())
    own, form.layout = form.layout, layout

    form.close()

    assert (own.comm, form.comm) == (None, None)
    assert ipywidgets.Button(layout=layout).layout.comm is not None


def test_a_new_form_does_not_show_what_runs_in_another_cell(clock: Clock, api: Api) -> None:
    kernel = SimpleNamespace(get_parent=dict)
    InteractiveShell.instance().kernel = kernel
    api.unfinished = [wire.Generation(id="gen_8", model_id="flat")]

    def run_cell(cell: str, run: str) -> Form:
        request = {"metadata": {"cellId": cell}, "header": {"msg_id": run}}
        kernel.get_parent = lambda: request
        form = Form(model(), service=api, background=clock.background)
        shown(form)
        clock.run()
        return form

    first = run_cell("a", "1")
    other = run_cell("b", "2")
    again = run_cell("a", "3")
    assert [len(form.runs) for form in (first, other, again)] == [1, 0, 1]
    first.close()
    again.close()
    last = run_cell("b", "4")
    assert len(last.runs) == 1
    last.close()

    kernel.get_parent = dict  # a click in a panel
    in_panel = Form(model(), service=api, background=clock.background)
    send(every(in_panel, Accessibility)[0], {"pages": 1})
    clock.run()
    assert len(in_panel.runs) == 1
    assert len(run_cell("c", "5").runs) == 0


def html_widgets(widget: Any) -> list[Any]:
    below = [one for child in getattr(widget, "children", ()) for one in html_widgets(child)]
    return [widget, *below] if isinstance(widget, ipywidgets.HTML) else below


@pytest.mark.parametrize(
    "make",
    [lambda: Form(model()), lambda: HistoryTable(history(), search=search_rows)],
    ids=["form", "table"],
)
def test_a_widget_is_closed_once_a_rerun_replaced_it_and_no_page_shows_it(
    make: Callable[[], Any],
) -> None:
    kernel = SimpleNamespace(get_parent=dict)
    shell = InteractiveShell.instance()
    shell.kernel = kernel

    def run_cell(cell: str, run: str) -> Any:
        request = {"metadata": {"cellId": cell}, "header": {"msg_id": run}}
        kernel.get_parent = lambda: request
        made = make()
        shown(made)
        return made

    def box(made: Any) -> Any:
        return getattr(made, "controls", made)

    def show_on(made: Any, change: int) -> None:
        send(every(box(made), Accessibility)[0], {"pages": change})

    first, other = run_cell("a", "1"), run_cell("b", "2")
    show_on(first, 1)
    show_on(first, 1)
    assert other is not run_cell("a", "3")
    show_on(first, -1)
    assert box(first).comm is not None, "another cell shows it"
    shell.user_ns["Out"][1] = shell.user_ns_hidden["_1"] = first  # as the result of each cell
    for mine in (first, [first], {"first": first}):
        shell.user_ns["mine"] = mine
        show_on(first, -1)
        assert box(first).comm is not None, "it has a name, or is in a list or dict that has one"
        show_on(first, 1)
    del shell.user_ns["mine"]
    show_on(first, -1)
    assert box(first).comm is None
    assert box(first).layout.comm is None
    assert "_1" not in shell.user_ns_hidden, "IPython would keep it without a limit"
    assert box(other).comm is not None
    (snapshot,) = shown(first)
    assert snapshot.data.keys() == {"text/plain", "text/html"}
