"""The writing panel: what its buttons ask for, what they cost, and what is said when it fails."""

from __future__ import annotations

from decimal import Decimal

import ipywidgets
import pytest

from kit import wire
from kit.errors import KitError, NoAnswerError
from kit.widgets.accessibility import Accessibility
from kit.widgets.writing import ScriptCard, Writing, WritingOrder, copy_button
from tests.widgets.authoring import Author, click, control, found, text
from tests.widgets.forming import Stage
from tests.widgets.tree import send


@pytest.fixture
def author() -> Author:
    return Author()


@pytest.fixture
def panel(author: Author, stage: Stage) -> Writing:
    panel = Writing(author, "SPACE", background=stage.background)
    stage.wait()
    return panel


def test_prices_are_said_before_anything_is_asked(panel: Writing, author: Author) -> None:
    assert "0.05 credits" in text(panel)
    assert "balance afterwards 9.95" in text(panel)
    assert "0.15 credits" in text(panel)
    assert author.topics == author.briefs == []

    control(panel, ipywidgets.ToggleButtons, "Variations").value = 2

    assert ">0.3 credits</b>" in text(panel)
    assert "for variations 2 · balance afterwards 9.7" in text(panel)
    assert found(panel, ipywidgets.Button, "Write 2 scripts")


def test_a_balance_that_is_too_low_is_told(author: Author, stage: Stage) -> None:
    author.funds = Decimal("0.1")
    panel = Writing(author, background=stage.background)
    stage.wait()

    assert "not enough credits: 0.15 needed, 0.1 available" in text(panel)


def test_a_price_without_a_balance_is_still_a_price(author: Author, stage: Stage) -> None:
    author.funds = None
    panel = Writing(author, background=stage.background)
    stage.wait()

    assert "0.05 credits" in text(panel)
    assert "afterwards" not in text(panel)


def test_a_suggestion_fills_title_and_hook_angle(panel: Writing, stage: Stage) -> None:
    click(panel, "Suggest")
    stage.wait()

    assert panel.title == wire.Title(title="SPACE title 1", hook_angle="angle 1")


def test_an_earlier_suggestion_can_be_taken_again(panel: Writing, stage: Stage) -> None:
    for _ in range(2):
        click(panel, "Suggest")
        stage.wait()
    choice = control(panel, ipywidgets.RadioButtons, "Suggestions")
    assert [label for label, _ in choice.options] == ["SPACE title 1", "SPACE title 2"]

    choice.index = 0

    assert panel.title.title == "SPACE title 1"


def test_each_topic_keeps_its_suggestions(panel: Writing, author: Author, stage: Stage) -> None:
    click(panel, "Suggest")
    stage.wait()
    topic = control(panel, ipywidgets.Dropdown, "Topic")
    topic.value = "FOOD"
    choice = control(panel, ipywidgets.RadioButtons, "Suggestions")
    assert choice.options == ()

    click(panel, "Suggest")
    stage.wait()
    topic.value = "SPACE"

    assert author.topics == ["SPACE", "FOOD"]
    assert [label for label, _ in choice.options] == ["SPACE title 1"]
    assert panel.title.title == "SPACE title 1"


def test_a_script_is_asked_for_as_the_switches_say(
    panel: Writing, author: Author, stage: Stage
) -> None:
    control(panel, ipywidgets.Text, "Title").value = "  A title of my own "
    control(panel, ipywidgets.IntSlider, "Seconds").value = 45
    control(panel, ipywidgets.Checkbox, "Call to action").value = True
    control(panel, ipywidgets.ToggleButtons, "Variations").value = 2

    click(panel, "Write")
    stage.wait()

    title = wire.Title(title="A title of my own")
    assert author.briefs == [WritingOrder("SPACE", title, duration=45, use_cta=True, variations=2)]
    assert [one.content for one in panel.scripts] == ["text 0", "text 1"]
    assert panel.script == panel.scripts[0]


def test_what_is_typed_right_after_the_click_still_counts(
    panel: Writing, author: Author, stage: Stage
) -> None:
    control(panel, ipywidgets.Text, "Title").value = "A tit"
    click(panel, "Write")
    control(panel, ipywidgets.Text, "Title").value = "A title"
    stage.wait()

    assert author.briefs[0].title.title == "A title"


@pytest.mark.parametrize(
    ("field", "typed", "told"),
    [
        ("Title", "x" * 201, "must have 1 to 200 characters, not 201"),
        ("Hook angle", "x" * 301, "has 301 characters, at most 300 are allowed"),
    ],
)
def test_a_text_that_is_too_long_is_told_at_its_field_while_typing(
    panel: Writing, author: Author, stage: Stage, field: str, typed: str, told: str
) -> None:
    control(panel, ipywidgets.Text, "Title").value = "A title"
    box = control(panel, ipywidgets.Text, field)
    note = panel.children[panel.children.index(box) + 1]

    box.value = typed

    assert told in note.value
    assert "kit-invalid" in box._dom_classes
    click(panel, "Write a script")
    stage.wait()
    assert author.briefs == []
    assert "characters" in text(panel)

    box.value = "short"

    assert note.value == ""
    assert "kit-invalid" not in box._dom_classes


def test_a_length_that_was_made_to_fit_is_told_at_its_field(panel: Writing) -> None:
    (script,) = (one for one in panel.children if isinstance(one, Accessibility))
    send(script, {"field": 2, "text": "500", "used": "180"})

    assert "500 is more than 180, the most; 180 is used" in text(panel)


def test_nothing_is_asked_twice_by_two_clicks(panel: Writing, author: Author, stage: Stage) -> None:
    (button,) = found(panel, ipywidgets.Button, "Suggest")
    (other,) = found(panel, ipywidgets.Button, "Write")

    button.click()
    assert button.disabled
    button.click()
    other.click()  # both were sent before the page knew
    stage.wait()

    assert not button.disabled
    assert (len(author.topics), author.briefs) == (1, [])


def test_a_script_without_a_title_costs_a_sentence_and_nothing_else(
    panel: Writing, author: Author, stage: Stage
) -> None:
    click(panel, "Write")
    stage.wait()

    assert "a script needs a title" in text(panel)
    assert author.briefs == []


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (NoAnswerError("no answer <b>came</b>"), "no answer &lt;b&gt;came"),
        (OSError("x"), "OSError"),
    ],
)
def test_what_goes_wrong_is_said_and_the_buttons_come_back(
    panel: Writing, author: Author, stage: Stage, error: Exception, sentence: str
) -> None:
    author.error = error
    click(panel, "Suggest")
    stage.wait()

    assert sentence in text(panel)
    assert not found(panel, ipywidgets.Button, "Suggest")[0].disabled
    author.error = None
    click(panel, "Suggest")
    stage.wait()
    assert sentence not in text(panel)


def test_newer_scripts_stand_above_and_the_oldest_go(panel: Writing, stage: Stage) -> None:
    for number in range(8):
        control(panel, ipywidgets.Text, "Title").value = f"title {number}"
        click(panel, "Write")
        stage.wait()

    assert [one.title for one in panel.scripts] == [f"title {n}" for n in (7, 6, 5, 4, 3, 2)]


def test_a_changed_text_is_measured_anew_and_becomes_the_captions(
    panel: Writing, author: Author, stage: Stage
) -> None:
    control(panel, ipywidgets.Text, "Title").value = "T"
    click(panel, "Write")
    stage.wait()
    assert "4 s to speak · 8 words" in text(panel)

    control(panel, ipywidgets.Textarea, "Script 1").value = "four words of mine"
    click(panel, "Make captions")
    stage.wait()

    assert "about 2 s to speak · 4 words" in text(panel)
    assert author.captioned == ["four words of mine"]
    assert panel.script is not None
    assert panel.script.content == "four words of mine"
    assert found(panel, ipywidgets.HTML, "")[-2].value == "four words of mine"


def test_captions_that_cannot_be_made_are_told(
    panel: Writing, author: Author, stage: Stage
) -> None:
    control(panel, ipywidgets.Text, "Title").value = "T"
    click(panel, "Write")
    stage.wait()
    author.error = KitError("no model takes captions")

    click(panel, "Make captions")
    stage.wait()

    assert "no model takes captions" in text(panel)


def test_a_panel_prints_the_same_in_each_run(panel: Writing, stage: Stage) -> None:
    bundle = panel._repr_mimebundle_()

    assert repr(panel) == bundle["text/plain"] == "<Writing SPACE>"
    assert "studio.writing(&quot;SPACE&quot;)" in bundle["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_what_was_written_is_in_the_static_twin(panel: Writing, stage: Stage) -> None:
    control(panel, ipywidgets.Text, "Title").value = "T <1>"
    click(panel, "Write")
    stage.wait()

    html = panel._repr_mimebundle_()["text/html"]

    assert "T &lt;1&gt;" in html
    assert "text 0" in html


@pytest.mark.parametrize("told", ["", "soon", "-3"])
def test_a_script_that_nobody_measured_is_still_told_in_words(told: str) -> None:
    script = wire.Script(id="s", content="one two", metrics=wire.Metrics(duration=told))
    card = ScriptCard(script, name="script 1")
    card.children[0].value = "one two three four five"

    assert "about 2 s to speak · 5 words" in text(card)


def test_a_card_without_captions_has_no_such_button() -> None:
    card = ScriptCard(wire.Script(id="s", content="x"), name="script 1")

    assert found(card, ipywidgets.Button) == []
    assert "Copy script 1" in text(card)


def test_the_copy_button_holds_no_text_of_the_script() -> None:
    assert '"' not in copy_button("script 1").partition('onclick="')[2].partition('">')[0]
