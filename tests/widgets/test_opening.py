"""Opening a result out of static HTML: one card at a time, the last one asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ipywidgets import HTML

from kit.errors import NoAnswerError
from kit.widgets.boxes import OpenedBox
from kit.widgets.compare import Comparison
from kit.widgets.gallery import Gallery
from kit.widgets.result import OpenButtons, ResultOpener
from tests.widgets.exhibits import exhibit, photo
from tests.widgets.forming import Stage
from tests.widgets.tree import every, send


def card(number: int) -> Any:
    if number > 1:
        raise NoAnswerError("<it> is gone")
    return HTML("ab"[number])


@pytest.fixture
def opener(stage: Stage) -> ResultOpener:
    return ResultOpener("kit-snapshot-1", card, background=stage.background)


def click(opener: ResultOpener, number: int | None) -> None:
    send(every(opener, OpenButtons)[0], {"open": number})


def shown(opener: ResultOpener) -> list[str]:
    return [one.value for one in every(every(opener, OpenedBox)[0], HTML)]


def test_a_click_opens_a_result_in_the_place_of_the_one_before(
    opener: ResultOpener, stage: Stage
) -> None:
    click(opener, 0)
    click(opener, 1)
    stage.run()
    assert shown(opener) == ["b"]

    click(opener, None)
    assert shown(opener) == []


def test_what_cannot_be_opened_says_why(opener: ResultOpener, stage: Stage) -> None:
    click(opener, 2)
    stage.run()

    assert "&lt;it&gt; is gone" in shown(opener)[0]


@pytest.mark.parametrize("kind", [Gallery, Comparison])
def test_only_what_can_be_opened_has_a_place_for_a_button(kind: Any) -> None:
    plain = exhibit("gen_1", small=photo(64, 64))
    opens = replace(exhibit("gen_2", small=photo(64, 64)), card=lambda: HTML("card"))

    assert kind([plain, opens]).html().count("data-kit-result=") == 1
    assert 'data-kit-result="1"' in kind([plain, opens]).html()
    with pytest.raises(NotImplementedError):
        kind([plain, plain])._ipython_display_()
