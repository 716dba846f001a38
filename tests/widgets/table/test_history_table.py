from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Any

import pandas as pd
import pytest
from IPython.utils.capture import capture_output
from ipywidgets import HTML

from kit.errors import NoAnswerError
from kit.explore.archive import search_rows
from kit.widgets.background import BackgroundRunner
from kit.widgets.table import HistoryTable
from kit.widgets.table.rows import TableView
from tests.widgets.gallery_items import photo
from tests.widgets.table.histories import history
from tests.widgets.tree import Announcements

Work = Callable[[], None]


class Tasks:
    """A background whose work and timers run when the test says so."""

    def __init__(self) -> None:
        self.pending: list[Work] = []
        self.after: list[Work] = []

    def run(self) -> None:
        while self.pending:
            self.pending.pop(0)()

    def pass_time(self) -> None:
        """Run all timers."""
        while self.after:
            self.after.pop(0)()

    def background(self) -> BackgroundRunner:
        return BackgroundRunner(begin=self.pending.append, after=self._later)

    def _later(self, seconds: float, work: Work) -> Work:
        self.after.append(work)
        return lambda: self.after.remove(work) if work in self.after else None


@pytest.fixture
def tasks() -> Tasks:
    return Tasks()


def make_table(tasks: Tasks, **given: Any) -> HistoryTable:
    return HistoryTable(
        history(), search=search_rows, size=4, background=tasks.background(), **given
    )


def test_a_page_has_the_requested_number_of_rows(tasks: Tasks) -> None:
    table = make_table(tasks)

    assert (table.page, table.pages, len(table)) == (1, 2, 6)
    assert table.controls.page.value.count('class="kit-table-row"') == 4
    assert "1–4 of 6" in table.controls.words.value
    assert table.controls.back.disabled
    assert not table.controls.forward.disabled


def test_pages_are_changed_by_button_number_and_from_python(tasks: Tasks) -> None:
    table = make_table(tasks)

    table.controls.forward.click()
    assert (table.page, table.controls.number.value) == (2, 2)
    assert [box.layout.display for box in table.controls.boxes] == [None, None, "none", "none"]
    table.controls.number.value = 1
    assert table.page == 1
    table.page = 99
    assert table.page == 2
    assert table.controls.forward.disabled


def test_a_header_sorts_then_reverses_then_resets_the_order(tasks: Tasks) -> None:
    table = make_table(tasks)
    head = table.controls.heads["net"]

    orders = []
    for _ in range(3):
        head.click()
        orders.append(("".join(table.frame.index), head.description))

    assert orders == [("cafbde", "credits ▾"), ("bdface", "credits ▴"), ("abcdef", "credits")]


def test_each_column_starts_with_its_own_sort_direction(tasks: Tasks) -> None:
    table = make_table(tasks)

    table.controls.heads["net"].click()
    table.controls.heads["model_id"].click()

    assert (table.view.sort, table.view.descending) == ("model_id", False)
    assert table.controls.heads["net"].description == "credits"


def test_filters_reduce_the_rows(tasks: Tasks) -> None:
    table = make_table(tasks)
    table.page = 2

    table.controls.text.value = "lake"
    assert ("".join(table.frame.index), table.page) == ("acf", 1)
    table.controls.status.value = "failed"
    assert "".join(table.frame.index) == "c"
    assert "1–1 of 1 (of 6)" in table.controls.words.value
    table.controls.text.value = ""
    table.controls.status.value = ""
    table.controls.since.value = date(2026, 3, 5)
    assert "".join(table.frame.index) == "ab"


def test_a_view_set_from_python_is_shown_in_the_controls(tasks: Tasks) -> None:
    table = make_table(tasks)

    table.view = TableView(text="lake", model="poster", sort="net")

    assert table.controls.text.value == "lake"
    assert table.controls.model.value == "poster"
    assert table.controls.heads["net"].description == "credits ▴"
    assert "".join(table.frame.index) == "fa"


def test_rows_are_chosen_across_pages(tasks: Tasks) -> None:
    table = make_table(tasks)

    table.controls.boxes[2].value = True
    table.page = 2
    assert not table.controls.boxes[2].value
    table.controls.boxes[0].value = True
    table.page = 1

    assert table.ids == ["c", "e"]
    assert [box.value for box in table.controls.boxes] == [False, False, True, False]
    assert "2 chosen" in table.controls.words.value
    table.controls.boxes[2].value = False
    assert table.ids == ["e"]
    table.controls.clear.click()
    assert table.ids == []
    assert table.controls.clear.layout.visibility == "hidden"


def test_selected_rows_are_ids_or_what_the_get_function_returns(tasks: Tasks) -> None:
    plain, full = make_table(tasks), make_table(tasks, get=lambda name: f"<{name}>")
    for table in (plain, full):
        table.select(["b", "a"])

    assert plain.selected == ["b", "a"]
    assert full.selected == ["<b>", "<a>"]


def test_the_last_selected_row_is_previewed(tasks: Tasks) -> None:
    table = make_table(tasks, card=lambda name: HTML(f"<p>{name}</p>"))

    table.controls.boxes[0].value = True
    assert table.controls.card.children == ()
    table.controls.boxes[1].value = True
    tasks.run()

    assert table.controls.card.children[0].value == "<p>b</p>"
    table.controls.boxes[1].value = False
    tasks.run()
    assert table.controls.card.children[0].value == "<p>a</p>"
    table.controls.boxes[0].value = False
    assert table.controls.card.children == ()


def test_a_preview_that_fails_says_why(tasks: Tasks) -> None:
    def card(name: str) -> Any:
        raise NoAnswerError("<nobody> answers")

    table = make_table(tasks, card=card)
    table.controls.boxes[0].value = True
    tasks.run()

    assert "&lt;nobody&gt; answers" in table.controls.card.children[0].value


def test_thumbnails_are_loaded_in_the_background(tasks: Tasks) -> None:
    table = make_table(tasks, thumbnail=lambda name: photo(64, 64) if name == "a" else None)

    assert "<img" not in table.controls.page.value
    tasks.run()

    assert table.controls.page.value.count("<img") == 1
    assert 'src="data:image/webp;base64,' in table.html()


def test_no_thumbnail_is_fetched_before_the_table_is_shown(tasks: Tasks) -> None:
    fetched: list[str] = []
    table = make_table(tasks, thumbnail=fetched.append)
    table.view = TableView(text="lake")
    table.select(["a"])

    assert tasks.pending == []
    assert fetched == []


def test_an_error_in_a_callback_is_shown_until_the_next_change(tasks: Tasks) -> None:
    naive = history()["created_at"].dt.tz_localize(None)
    frames = [history().assign(created_at=naive), history()]
    table = make_table(tasks, renew=lambda: frames.pop(0))

    table.controls.renew.click()
    tasks.run()
    table.controls.until.value = date(2026, 3, 5)
    assert "TypeError" in table.controls.problem.value
    table.controls.renew.click()
    tasks.run()
    table.controls.until.value = None

    assert table.controls.problem.value == ""


def test_everything_shown_is_escaped(tasks: Tasks) -> None:
    evil = "<script>alert(1)</script>"
    frame = history()
    frame[["prompt", "model_id", "status"]] = evil
    table = HistoryTable(frame, search=search_rows, background=tasks.background())

    assert "<script" not in table.controls.page.value + table.html()
    assert table.controls.boxes[0].description_allow_html is False


def test_the_static_snapshot_needs_no_trust(tasks: Tasks) -> None:
    html = make_table(tasks).html()

    assert not re.search(r"<(script|style|link|iframe|source)\b|\son\w+=|class=", html)
    assert "a misty Lake" in html
    assert "1–4 of 6" in html
    for tag in ("div", "table", "tr", "td", "th", "span", "b"):
        assert len(re.findall(rf"<{tag}[ >]", html)) == html.count(f"</{tag}>")


@pytest.mark.usefixtures("shell")
def test_a_cell_shows_the_widget_and_its_static_snapshot(tasks: Tasks) -> None:
    table = make_table(tasks)

    with capture_output() as captured:
        table._ipython_display_()

    snapshot, widget = (output.data for output in captured.outputs)
    name = re.search(r'<div class="(kit-snapshot-\w+)"', snapshot["text/html"])
    assert name
    hiding = f"<style>.{name[1]} {{ display: none }}</style>"
    assert hiding in [getattr(one, "value", "") for one in table.controls.children]
    assert repr(table) == "<HistoryTable of 6 generations>"
    assert "application/vnd.jupyter.widget-view+json" in widget


@pytest.mark.usefixtures("shell")
def test_the_static_snapshot_has_the_thumbnails_that_load_in_time() -> None:
    table = HistoryTable(history(), search=search_rows, thumbnail=lambda _: photo(64, 64))

    with capture_output() as captured:
        table._ipython_display_()

    assert captured.outputs[0].data["text/html"].count("<img") == 6


def test_an_empty_history_shows_a_message(tasks: Tasks) -> None:
    table = HistoryTable(history().iloc[:0], search=search_rows, background=tasks.background())

    assert "no generations yet" in table.controls.page.value
    assert (table.pages, table.page, len(table)) == (1, 1, 0)
    assert ">0<" in table.controls.words.value


def test_a_frame_with_other_columns_shows_the_known_ones(tasks: Tasks) -> None:
    frame = pd.DataFrame({"prompt": ["a", "b"], "net": [0.5, 1.25]}, index=["x", "y"])
    table = HistoryTable(frame, search=search_rows, background=tasks.background())

    assert list(table.controls.heads) == ["prompt", "net"]
    assert ">1.25</span>" in table.controls.page.value


def test_a_failed_row_shows_its_error_in_place_of_the_picture(tasks: Tasks) -> None:
    frame = history().assign(error=[None, None, "no <steam>", None, "out of clay " * 99, None])
    table = HistoryTable(frame, search=search_rows, background=tasks.background())

    for page in (table.controls.page.value, table.html()):
        assert page.count("no &lt;steam&gt;</small>") == 1
        assert page.count("out of clay") == 3


def test_small_charges_are_shown_in_full_and_long_prompts_are_cut(tasks: Tasks) -> None:
    frame = pd.DataFrame({"prompt": ["a" * 20_000], "net": [0.00002]}, index=["x"])
    page = HistoryTable(frame, search=search_rows, background=tasks.background()).html()

    assert ">0.00002</span>" in page
    assert len(page) < 3_000


def test_each_checkbox_is_labeled_with_its_prompt(tasks: Tasks) -> None:
    assert "a misty Lake" in make_table(tasks).controls.boxes[0].description


@pytest.mark.parametrize("rows", [10, 20_000])
def test_only_one_page_is_sent_however_long_the_history(tasks: Tasks, rows: int) -> None:
    frame = pd.concat([history()] * (rows // 6 + 1)).iloc[:rows]
    table = HistoryTable(frame, search=search_rows, size=10, background=tasks.background())

    assert len(table.controls.page.value) < 12_000
    assert len(table.html()) < 12_000


def test_a_refresh_keeps_the_page_the_order_and_the_selection(tasks: Tasks) -> None:
    now = history().assign(status="completed")
    table = make_table(tasks, renew=lambda: now.iloc[1:])
    table.select([str(now.index[0]), str(now.index[1])])
    table.view = TableView(sort="prompt")
    table.page = 2

    table.controls.renew.click()
    assert len(table) == 6
    tasks.run()

    assert (len(table), table.page, table.view.sort) == (5, 2, "prompt")
    assert table.ids == [str(now.index[1])]
    assert [value for _, value in table.controls.status.options] == ["", "completed"]


def test_a_refresh_shows_pictures_of_completed_generations(tasks: Tasks) -> None:
    done, now = False, history().assign(status="processing")
    table = HistoryTable(
        now,
        search=search_rows,
        thumbnail=lambda _: photo(64, 64) if done else None,
        renew=lambda: now.assign(status="completed"),
        background=tasks.background(),
    )
    shown = table.controls
    tasks.run()
    assert "<img" not in shown.page.value

    done = True
    shown.renew.click()
    tasks.run()

    assert shown.page.value.count("<img") == 6


def test_a_refresh_without_new_choices_leaves_the_filter_unchanged(tasks: Tasks) -> None:
    table = make_table(tasks, renew=history)
    status = table.controls.status
    status.value = "completed"
    moves: list[Any] = []
    status.observe(moves.append, ["index", "_options_labels"])

    table.controls.renew.click()
    tasks.run()

    assert moves == []
    assert status.value == "completed"


def test_a_failed_refresh_is_reported_and_the_rows_stay(tasks: Tasks) -> None:
    def renew() -> pd.DataFrame:
        raise NoAnswerError("nobody answers")

    table = make_table(tasks, renew=renew)
    table.controls.renew.click()
    tasks.run()

    assert "nobody answers" in table.controls.problem.value
    assert len(table) == 6


def test_only_a_refreshable_table_has_the_refresh_button(tasks: Tasks) -> None:
    assert make_table(tasks).controls.renew.layout.display == "none"
    assert make_table(tasks, renew=history).controls.renew.layout.display is None


def test_a_narrow_page_hides_some_columns(tasks: Tasks) -> None:
    table = make_table(tasks)
    style, page = table.controls.sheet.value, table.controls.page.value

    (names,) = re.findall(r"class='?\"?kit-table-row", page)[:1]
    assert names
    assert page.count("kit-table-spare") == 4
    assert "kit-table-spare" in table.controls.heads["seconds"]._dom_classes
    assert set(table.controls._dom_classes) == {"kit-table", "kit-table-0-1-2-3-4-5"}
    assert ".kit-table-0-1-2-3-4-5 .kit-table-row" in style


@pytest.mark.usefixtures("shell")
def test_the_static_snapshot_is_updated_by_user_input_only(tasks: Tasks) -> None:
    table = make_table(tasks)
    with capture_output() as captured:
        table._ipython_display_()
        table.page = 2
        tasks.run()
        first = len(captured.outputs)
        table.controls.text.value = "town"
        tasks.pass_time()

    assert first == 2
    (update,) = captured.outputs[2:]
    assert "a town" in update.data["text/html"]
    assert "1–1 of 1 (of 6)" in update.data["text/html"]


@pytest.mark.usefixtures("shell")
def test_thumbnails_that_load_late_are_added_to_the_static_snapshot(tasks: Tasks) -> None:
    table = make_table(tasks, thumbnail=lambda _: photo(64, 64), wait_seconds=0)
    with capture_output() as captured:
        table._ipython_display_()
        tasks.run()
        tasks.pass_time()

    assert "<img" not in captured.outputs[0].data["text/html"]
    assert captured.outputs[-1].data["text/html"].count("<img") == 4


def test_the_refresh_button_fetches_missing_thumbnails_again(tasks: Tasks) -> None:
    made: list[bytes] = []
    found: Any = {"thumbnail": lambda _: next(iter(made), None), "renew": history}
    controls = make_table(tasks, **found).controls
    tasks.run()
    assert "<img" not in controls.page.value

    made.append(photo(64, 64))  # such as of a video that was downloaded meanwhile
    controls.renew.click()
    tasks.run()

    assert controls.page.value.count("<img") == 4


def test_the_sort_order_is_announced_to_screen_readers(tasks: Tasks) -> None:
    table = make_table(tasks)
    head = table.controls.heads["net"]
    announced = Announcements(table.controls)
    assert "aria-sort" not in table.controls.page.value
    assert head.tooltip == "sort by credits"

    head.click()

    assert '<span role="columnheader" aria-sort="descending">credits</span>' in (
        table.controls.page.value
    )
    assert head.tooltip == "sorted, descending"
    assert announced.texts == ["1–4 of 6, sorted by credits, descending"]
    head.click()
    assert 'aria-sort="ascending">credits' in table.controls.page.value
    head.click()
    assert "sorted" not in table.controls.words.value + head.tooltip


def test_every_control_has_an_accessible_name(tasks: Tasks) -> None:
    parts = make_table(tasks).controls

    for control in (parts.text, parts.status, parts.model, parts.since, parts.until, parts.number):
        assert control.description
    for button in (parts.back, parts.forward, parts.renew):
        assert button.tooltip


def test_only_the_paging_buttons_are_marked_as_paging(tasks: Tasks) -> None:
    parts = make_table(tasks).controls
    step = {
        one for one in (parts.back, parts.forward, parts.renew) if "kit-paging" in one._dom_classes
    }

    assert step == {parts.back, parts.forward}
