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
from tests.widgets.exhibits import photo
from tests.widgets.table.histories import history

Work = Callable[[], None]


class Later:
    """A background whose work is done when a test says so."""

    def __init__(self) -> None:
        self.waiting: list[Work] = []
        self.after: list[Work] = []

    def do(self) -> None:
        while self.waiting:
            self.waiting.pop(0)()

    def rest(self) -> None:
        """Let the time pass that something waits for."""
        while self.after:
            self.after.pop(0)()

    def background(self) -> BackgroundRunner:
        return BackgroundRunner(begin=self.waiting.append, after=self._later)

    def _later(self, seconds: float, work: Work) -> Work:
        self.after.append(work)
        return lambda: self.after.remove(work) if work in self.after else None


@pytest.fixture
def later() -> Later:
    return Later()


def table(later: Later, **given: Any) -> HistoryTable:
    return HistoryTable(
        history(), search=search_rows, size=4, background=later.background(), **given
    )


def test_a_page_holds_as_many_rows_as_asked(later: Later) -> None:
    face = table(later)

    assert (face.page, face.pages, len(face)) == (1, 2, 6)
    assert face.controls.page.value.count('class="kit-table-row"') == 4
    assert "1–4 of 6" in face.controls.words.value
    assert face.controls.back.disabled
    assert not face.controls.forward.disabled


def test_pages_are_turned_by_button_by_number_and_from_python(later: Later) -> None:
    face = table(later)

    face.controls.forward.click()
    assert (face.page, face.controls.number.value) == (2, 2)
    assert [box.layout.display for box in face.controls.boxes] == [None, None, "none", "none"]
    face.controls.number.value = 1
    assert face.page == 1
    face.page = 99
    assert face.page == 2
    assert face.controls.forward.disabled


def test_a_head_sorts_then_turns_round_then_lets_go(later: Later) -> None:
    face = table(later)
    head = face.controls.heads["net"]

    orders = []
    for _ in range(3):
        head.click()
        orders.append(("".join(face.frame.index), head.description))

    assert orders == [("cafbde", "credits ▾"), ("bdface", "credits ▴"), ("abcdef", "credits")]


def test_sorting_by_another_column_starts_with_its_own_direction(later: Later) -> None:
    face = table(later)

    face.controls.heads["net"].click()
    face.controls.heads["model_id"].click()

    assert (face.view.sort, face.view.descending) == ("model_id", False)
    assert face.controls.heads["net"].description == "credits"


def test_filters_narrow_what_is_shown(later: Later) -> None:
    face = table(later)
    face.page = 2

    face.controls.text.value = "lake"
    assert ("".join(face.frame.index), face.page) == ("acf", 1)
    face.controls.status.value = "failed"
    assert "".join(face.frame.index) == "c"
    assert "1–1 of 1 (of 6)" in face.controls.words.value
    face.controls.text.value = ""
    face.controls.status.value = ""
    face.controls.since.value = date(2026, 3, 5)
    assert "".join(face.frame.index) == "ab"


def test_a_view_set_from_python_is_seen_in_the_controls(later: Later) -> None:
    face = table(later)

    face.view = TableView(text="lake", model="poster", sort="net")

    assert face.controls.text.value == "lake"
    assert face.controls.model.value == "poster"
    assert face.controls.heads["net"].description == "credits ▴"
    assert "".join(face.frame.index) == "fa"


def test_rows_are_chosen_across_pages(later: Later) -> None:
    face = table(later)

    face.controls.boxes[2].value = True
    face.page = 2
    assert not face.controls.boxes[2].value
    face.controls.boxes[0].value = True
    face.page = 1

    assert face.ids == ["c", "e"]
    assert [box.value for box in face.controls.boxes] == [False, False, True, False]
    assert "2 chosen" in face.controls.words.value
    face.controls.boxes[2].value = False
    assert face.ids == ["e"]
    face.controls.clear.click()
    assert face.ids == []
    assert face.controls.clear.layout.visibility == "hidden"


def test_what_is_chosen_is_handed_out_as_whoever_can_get_it_has_it(later: Later) -> None:
    plain, full = table(later), table(later, get=lambda name: f"<{name}>")
    for face in (plain, full):
        face.select(["b", "a"])

    assert plain.selected == ["b", "a"]
    assert full.selected == ["<b>", "<a>"]


def test_the_last_choice_is_previewed_below(later: Later) -> None:
    face = table(later, card=lambda name: HTML(f"<p>{name}</p>"))

    face.controls.boxes[0].value = True
    assert face.controls.card.children == ()
    face.controls.boxes[1].value = True
    later.do()

    assert face.controls.card.children[0].value == "<p>b</p>"
    face.controls.boxes[1].value = False
    later.do()
    assert face.controls.card.children[0].value == "<p>a</p>"
    face.controls.boxes[0].value = False
    assert face.controls.card.children == ()


def test_a_preview_that_fails_says_why(later: Later) -> None:
    def card(name: str) -> Any:
        raise NoAnswerError("<nobody> answers")

    face = table(later, card=card)
    face.controls.boxes[0].value = True
    later.do()

    assert "&lt;nobody&gt; answers" in face.controls.card.children[0].value


def test_thumbnails_come_in_the_background(later: Later) -> None:
    face = table(later, thumbnail=lambda name: photo(64, 64) if name == "a" else None)

    assert "<img" not in face.controls.page.value
    later.do()

    assert face.controls.page.value.count("<img") == 1
    assert 'src="data:image/webp;base64,' in face.html()


def test_nothing_is_fetched_before_it_is_shown(later: Later) -> None:
    asked: list[str] = []
    face = table(later, thumbnail=asked.append)
    face.view = TableView(text="lake")
    face.select(["a"])

    assert later.waiting == []
    assert asked == []


def test_the_error_of_a_callback_is_seen_and_goes_away(later: Later) -> None:
    naive = history()["created_at"].dt.tz_localize(None)
    frames = [history().assign(created_at=naive), history()]
    face = table(later, renew=lambda: frames.pop(0))

    face.controls.renew.click()
    later.do()
    face.controls.until.value = date(2026, 3, 5)
    assert "TypeError" in face.controls.problem.value
    face.controls.renew.click()
    later.do()
    face.controls.until.value = None

    assert face.controls.problem.value == ""


def test_everything_shown_is_escaped(later: Later) -> None:
    evil = "<script>alert(1)</script>"
    frame = history()
    frame[["prompt", "model_id", "status"]] = evil
    face = HistoryTable(frame, search=search_rows, background=later.background())

    assert "<script" not in face.controls.page.value + face.html()
    assert face.controls.boxes[0].description_allow_html is False


def test_the_twin_needs_no_trust(later: Later) -> None:
    html = table(later).html()

    assert not re.search(r"<(script|style|link|iframe|source)\b|\son\w+=|class=", html)
    assert "a misty Lake" in html
    assert "1–4 of 6" in html
    for tag in ("div", "table", "tr", "td", "th", "span", "b"):
        assert len(re.findall(rf"<{tag}[ >]", html)) == html.count(f"</{tag}>")


@pytest.mark.usefixtures("shell")
def test_a_cell_shows_the_widget_and_its_twin(later: Later) -> None:
    face = table(later)

    with capture_output() as captured:
        face._ipython_display_()

    snapshot, widget = (output.data for output in captured.outputs)
    name = re.search(r'<div class="(kit-snapshot-\w+)"', snapshot["text/html"])
    assert name
    hiding = f"<style>.{name[1]} {{ display: none }}</style>"
    assert hiding in [getattr(one, "value", "") for one in face.controls.children]
    assert repr(face) == "<HistoryTable of 6 generations>"
    assert "application/vnd.jupyter.widget-view+json" in widget


@pytest.mark.usefixtures("shell")
def test_the_twin_keeps_the_thumbnails_that_come_soon_enough() -> None:
    face = HistoryTable(history(), search=search_rows, thumbnail=lambda _: photo(64, 64))

    with capture_output() as captured:
        face._ipython_display_()

    assert captured.outputs[0].data["text/html"].count("<img") == 6


def test_an_empty_history_is_said(later: Later) -> None:
    face = HistoryTable(history().iloc[:0], search=search_rows, background=later.background())

    assert "no generations yet" in face.controls.page.value
    assert (face.pages, face.page, len(face)) == (1, 1, 0)
    assert ">0<" in face.controls.words.value


def test_a_frame_of_other_columns_shows_what_it_has(later: Later) -> None:
    frame = pd.DataFrame({"prompt": ["a", "b"], "net": [0.5, 1.25]}, index=["x", "y"])
    face = HistoryTable(frame, search=search_rows, background=later.background())

    assert list(face.controls.heads) == ["prompt", "net"]
    assert ">1.25</span>" in face.controls.page.value


def test_a_failed_row_says_why_where_its_picture_would_be(later: Later) -> None:
    frame = history().assign(error=[None, None, "no <steam>", None, "out of clay " * 99, None])
    face = HistoryTable(frame, search=search_rows, background=later.background())

    for page in (face.controls.page.value, face.html()):
        assert page.count("no &lt;steam&gt;</small>") == 1
        assert page.count("out of clay") == 3


def test_fine_charges_are_whole_and_long_prompts_are_cut(later: Later) -> None:
    frame = pd.DataFrame({"prompt": ["a" * 20_000], "net": [0.00002]}, index=["x"])
    page = HistoryTable(frame, search=search_rows, background=later.background()).html()

    assert ">0.00002</span>" in page
    assert len(page) < 3_000


def test_a_screen_reader_hears_each_row(later: Later) -> None:
    assert "a misty Lake" in table(later).controls.boxes[0].description


@pytest.mark.parametrize("rows", [10, 20_000])
def test_what_travels_is_one_page_however_long_the_history(later: Later, rows: int) -> None:
    frame = pd.concat([history()] * (rows // 6 + 1)).iloc[:rows]
    face = HistoryTable(frame, search=search_rows, size=10, background=later.background())

    assert len(face.controls.page.value) < 12_000
    assert len(face.html()) < 12_000


def test_a_table_is_asked_for_anew_and_stays_where_it_is(later: Later) -> None:
    now = history().assign(status="completed")
    face = table(later, renew=lambda: now.iloc[1:])
    face.select([str(now.index[0]), str(now.index[1])])
    face.view = TableView(sort="prompt")
    face.page = 2

    face.controls.renew.click()
    assert len(face) == 6
    later.do()

    assert (len(face), face.page, face.view.sort) == (5, 2, "prompt")
    assert face.ids == [str(now.index[1])]
    assert [value for _, value in face.controls.status.options] == ["", "completed"]


def test_what_was_running_has_its_picture_when_it_is_done(later: Later) -> None:
    done, now = False, history().assign(status="processing")
    face = HistoryTable(
        now,
        search=search_rows,
        thumbnail=lambda _: photo(64, 64) if done else None,
        renew=lambda: now.assign(status="completed"),
        background=later.background(),
    )
    shown = face.controls
    later.do()
    assert "<img" not in shown.page.value

    done = True
    shown.renew.click()
    later.do()

    assert shown.page.value.count("<img") == 6


def test_a_choice_is_left_alone_where_there_is_nothing_new_to_choose(later: Later) -> None:
    face = table(later, renew=history)
    status = face.controls.status
    status.value = "completed"
    moves: list[Any] = []
    status.observe(moves.append, ["index", "_options_labels"])

    face.controls.renew.click()
    later.do()

    assert moves == []
    assert status.value == "completed"


def test_what_fails_while_it_is_asked_for_anew_is_told_and_the_rows_stay(later: Later) -> None:
    def renew() -> pd.DataFrame:
        raise NoAnswerError("nobody answers")

    face = table(later, renew=renew)
    face.controls.renew.click()
    later.do()

    assert "nobody answers" in face.controls.problem.value
    assert len(face) == 6


def test_only_a_table_that_can_be_asked_for_anew_has_the_button(later: Later) -> None:
    assert table(later).controls.renew.layout.display == "none"
    assert table(later, renew=history).controls.renew.layout.display is None


def test_a_narrow_page_does_without_some_columns(later: Later) -> None:
    face = table(later)
    style, page = face.controls.sheet.value, face.controls.page.value

    (names,) = re.findall(r"class='?\"?kit-table-row", page)[:1]
    assert names
    assert page.count("kit-table-spare") == 4
    assert "kit-table-spare" in face.controls.heads["seconds"]._dom_classes
    assert set(face.controls._dom_classes) == {"kit-table", "kit-table-0-1-2-3-4-5"}
    assert ".kit-table-0-1-2-3-4-5 .kit-table-row" in style


@pytest.mark.usefixtures("shell")
def test_what_is_kept_follows_what_the_user_does_and_not_what_python_sets(later: Later) -> None:
    face = table(later)
    with capture_output() as captured:
        face._ipython_display_()
        face.page = 2
        later.do()
        first = len(captured.outputs)
        face.controls.text.value = "town"
        later.rest()

    assert first == 2
    (update,) = captured.outputs[2:]
    assert "a town" in update.data["text/html"]
    assert "1–1 of 1 (of 6)" in update.data["text/html"]


@pytest.mark.usefixtures("shell")
def test_thumbnails_that_come_late_are_kept_too(later: Later) -> None:
    face = table(later, thumbnail=lambda _: photo(64, 64), wait_seconds=0)
    with capture_output() as captured:
        face._ipython_display_()
        later.do()
        later.rest()

    assert "<img" not in captured.outputs[0].data["text/html"]
    assert captured.outputs[-1].data["text/html"].count("<img") == 4


def test_the_order_is_told_to_who_does_not_see_the_arrow(later: Later) -> None:
    face = table(later)
    head = face.controls.heads["net"]
    assert "aria-sort" not in face.controls.page.value
    assert head.tooltip == "sort by credits"

    head.click()

    assert '<span role="columnheader" aria-sort="descending">credits</span>' in (
        face.controls.page.value
    )
    assert head.tooltip == "sorted, descending"
    assert "sorted by credits, descending" in face.controls.words.value
    head.click()
    assert 'aria-sort="ascending">credits' in face.controls.page.value
    head.click()
    assert "sorted" not in face.controls.words.value + head.tooltip


def test_every_control_has_a_name(later: Later) -> None:
    made = table(later).controls

    for control in (made.text, made.status, made.model, made.since, made.until, made.number):
        assert control.description
    for button in (made.back, made.forward, made.renew):
        assert button.tooltip


def test_at_an_end_the_page_knows_which_button_goes_the_other_way(later: Later) -> None:
    made = table(later).controls
    step = {
        one for one in (made.back, made.forward, made.renew) if "kit-paging" in one._dom_classes
    }

    assert step == {made.back, made.forward}
