"""Markup of cards: table headers for screen readers, and rows without JupyterLab's stripes."""

from __future__ import annotations

from kit.widgets import markup


def test_facts_have_row_headers_and_empty_ones_are_left_out() -> None:
    html = markup.facts({"a <b>": "1 < 2", "gone": None})

    assert html.count('<th scope="row"') == html.count("<tr") == 1
    assert "a &lt;b&gt;</th>" in html
    assert "1 &lt; 2</td>" in html
    assert markup.facts({"gone": ""}) == ""


def test_a_named_column_has_a_header() -> None:
    html = markup.table(["one", ""], [("1", "2")])

    assert html.count('<th scope="col"') == 1
    assert "></th>" not in html
    assert html.count("<td") == 3


def test_every_row_has_a_transparent_background() -> None:
    html = markup.table(["one"], [("1",), ("2",)]) + markup.facts({"a": 1})

    assert html.count("<tr") == html.count('<tr style="background:transparent') == 4
