"""Cards: what a screen reader makes of their tables, and what JupyterLab makes of them not."""

from __future__ import annotations

from kit.widgets import markup


def test_names_of_facts_head_their_rows_and_what_is_empty_is_left_out() -> None:
    html = markup.facts({"a <b>": "1 < 2", "gone": None})

    assert html.count('<th scope="row"') == html.count("<tr") == 1
    assert "a &lt;b&gt;</th>" in html
    assert "1 &lt; 2</td>" in html
    assert markup.facts({"gone": ""}) == ""


def test_a_column_has_a_head_unless_it_has_no_name() -> None:
    html = markup.table(["one", ""], [("1", "2")])

    assert html.count('<th scope="col"') == 1
    assert "></th>" not in html
    assert html.count("<td") == 3


def test_no_row_is_painted_by_the_page() -> None:
    html = markup.table(["one"], [("1",), ("2",)]) + markup.facts({"a": 1})

    assert html.count("<tr") == html.count('<tr style="background:transparent') == 4
