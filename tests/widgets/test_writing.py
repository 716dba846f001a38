"""The writing panel: the requests of its buttons, their prices, and its error messages."""

from __future__ import annotations

import threading
from decimal import Decimal

import ipywidgets
import pytest
from ipywidgets.widgets.widget import _instances

from kit import wire
from kit.errors import KitError, NoAnswerError
from kit.widgets.accessibility import Accessibility
from kit.widgets.writing import ScriptCard, Writing, WritingOrder, copy_button
from tests.widgets.forms import Clock
from tests.widgets.tree import Announcements, send
from tests.widgets.writers import FakeWriter, click, control, search, text


@pytest.fixture
def writer() -> FakeWriter:
    return FakeWriter()


@pytest.fixture
def panel(writer: FakeWriter, clock: Clock) -> Writing:
    panel = Writing(writer, "SPACE", background=clock.background)
    clock.wait()
    return panel


def test_prices_are_shown_before_any_request(panel: Writing, writer: FakeWriter) -> None:
    assert "0.05 credits" in text(panel)
    assert "balance afterwards 9.95" in text(panel)
    assert "0.15 credits" in text(panel)
    assert writer.topics == writer.briefs == []

    control(panel, ipywidgets.ToggleButtons, "Variations").value = 2

    assert ">0.3 credits</b>" in text(panel)
    assert "for variations 2 · balance afterwards 9.7" in text(panel)
    assert search(panel, ipywidgets.Button, "Write 2 scripts")


def test_button_and_price_agree_if_a_click_and_the_balance_come_together(
    writer: FakeWriter, clock: Clock
) -> None:
    panel = Writing(writer, background=clock.background)
    choice = control(panel, ipywidgets.ToggleButtons, "Variations")
    click_thread = threading.Thread(target=setattr, args=(choice, "value", 2))

    def click_meanwhile(_: object) -> None:
        if not click_thread.ident:
            click_thread.start()
            click_thread.join(0.2)

    for one in search(panel, ipywidgets.HTML):
        one.observe(click_meanwhile, "value")
    clock.wait()  # the balance arrives
    click_thread.join()

    assert search(panel, ipywidgets.Button, "Write 2 scripts")
    assert ">0.3 credits</b>" in text(panel)


def test_a_balance_that_is_too_low_is_shown(writer: FakeWriter, clock: Clock) -> None:
    writer.funds = Decimal("0.1")
    panel = Writing(writer, background=clock.background)
    clock.wait()

    assert "not enough credits: 0.15 needed, 0.1 available" in text(panel)


def test_prices_are_shown_without_a_balance(writer: FakeWriter, clock: Clock) -> None:
    writer.funds = None
    panel = Writing(writer, background=clock.background)
    clock.wait()

    assert "0.05 credits" in text(panel)
    assert "afterwards" not in text(panel)


def test_a_suggestion_fills_title_and_hook_angle(panel: Writing, clock: Clock) -> None:
    click(panel, "Suggest")
    clock.wait()

    assert panel.title == wire.Title(title="SPACE title 1", hook_angle="angle 1")


def test_a_suggested_title_is_announced(panel: Writing, clock: Clock) -> None:
    announced = Announcements(panel)

    click(panel, "Suggest")
    clock.wait()

    assert announced.messages == [{"say": "suggested: SPACE title 1"}]


def test_an_earlier_suggestion_can_be_chosen_again(panel: Writing, clock: Clock) -> None:
    for _ in range(2):
        click(panel, "Suggest")
        clock.wait()
    choice = control(panel, ipywidgets.RadioButtons, "Suggestions")
    assert [label for label, _ in choice.options] == ["SPACE title 1", "SPACE title 2"]

    choice.index = 0

    assert panel.title.title == "SPACE title 1"


def test_each_topic_keeps_its_suggestions(panel: Writing, writer: FakeWriter, clock: Clock) -> None:
    click(panel, "Suggest")
    clock.wait()
    topic = control(panel, ipywidgets.Dropdown, "Topic")
    topic.value = "FOOD"
    choice = control(panel, ipywidgets.RadioButtons, "Suggestions")
    assert choice.options == ()

    click(panel, "Suggest")
    clock.wait()
    topic.value = "SPACE"

    assert writer.topics == ["SPACE", "FOOD"]
    assert [label for label, _ in choice.options] == ["SPACE title 1"]
    assert panel.title.title == "SPACE title 1"


def test_a_script_is_requested_with_the_settings_of_the_controls(
    panel: Writing, writer: FakeWriter, clock: Clock
) -> None:
    control(panel, ipywidgets.Text, "Title").value = "  A title of my own "
    control(panel, ipywidgets.IntSlider, "Seconds").value = 45
    control(panel, ipywidgets.Checkbox, "Call to action").value = True
    control(panel, ipywidgets.ToggleButtons, "Variations").value = 2

    click(panel, "Write")
    clock.wait()

    title = wire.Title(title="A title of my own")
    assert writer.briefs == [WritingOrder("SPACE", title, duration=45, use_cta=True, variations=2)]
    assert [one.content for one in panel.scripts] == ["text 0", "text 1"]
    assert panel.script == panel.scripts[0]


def test_text_that_arrives_just_after_the_click_is_used(
    panel: Writing, writer: FakeWriter, clock: Clock
) -> None:
    control(panel, ipywidgets.Text, "Title").value = "A tit"
    click(panel, "Write")
    control(panel, ipywidgets.Text, "Title").value = "A title"
    clock.wait()

    assert writer.briefs[0].title.title == "A title"


@pytest.mark.parametrize(
    ("field", "typed", "message"),
    [
        ("Title", "x" * 201, "must have 1 to 200 characters, not 201"),
        ("Hook angle", "x" * 301, "has 301 characters, at most 300 are allowed"),
    ],
)
def test_a_text_that_is_too_long_is_reported_while_typing(
    panel: Writing, writer: FakeWriter, clock: Clock, field: str, typed: str, message: str
) -> None:
    control(panel, ipywidgets.Text, "Title").value = "A title"
    box = control(panel, ipywidgets.Text, field)
    note = panel.children[panel.children.index(box) + 1]

    box.value = typed

    assert message in note.value
    assert "kit-invalid" in box._dom_classes
    click(panel, "Write a script")
    clock.wait()
    assert writer.briefs == []
    assert "characters" in text(panel)

    box.value = "short"

    assert note.value == ""
    assert "kit-invalid" not in box._dom_classes


def test_an_adjusted_length_is_reported_at_its_field(panel: Writing) -> None:
    (script,) = (one for one in panel.children if isinstance(one, Accessibility))
    send(script, {"field": 2, "text": "500", "used": "180"})

    assert "500 is more than 180, the most; 180 is used" in text(panel)


def test_two_clicks_send_one_request(panel: Writing, writer: FakeWriter, clock: Clock) -> None:
    (button,) = search(panel, ipywidgets.Button, "Suggest")
    (other,) = search(panel, ipywidgets.Button, "Write")

    button.click()
    assert button.disabled
    button.click()
    other.click()  # both clicks were sent before the page disabled the buttons
    clock.wait()

    assert not button.disabled
    assert (len(writer.topics), writer.briefs) == (1, [])


def test_a_script_without_a_title_is_not_requested(
    panel: Writing, writer: FakeWriter, clock: Clock
) -> None:
    click(panel, "Write")
    clock.wait()

    assert "a script needs a title" in text(panel)
    assert writer.briefs == []


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (NoAnswerError("no answer <b>came</b>"), "no answer &lt;b&gt;came"),
        (OSError("x"), "OSError"),
    ],
)
def test_an_error_is_shown_and_the_buttons_are_enabled_again(
    panel: Writing, writer: FakeWriter, clock: Clock, error: Exception, sentence: str
) -> None:
    writer.error = error
    click(panel, "Suggest")
    clock.wait()

    assert sentence in text(panel)
    assert not search(panel, ipywidgets.Button, "Suggest")[0].disabled
    writer.error = None
    click(panel, "Suggest")
    clock.wait()
    assert sentence not in text(panel)


def test_newer_scripts_are_first_and_the_oldest_are_removed(panel: Writing, clock: Clock) -> None:
    count = 0
    for number in range(8):
        control(panel, ipywidgets.Text, "Title").value = f"title {number}"
        click(panel, "Write")
        clock.wait()

        count = len(_instances) if number == 5 else count

    assert [one.title for one in panel.scripts] == [f"title {n}" for n in (7, 6, 5, 4, 3, 2)]
    assert len(_instances) <= count + 2 * 2, "those removed are closed; boxes are kept"


def test_an_edited_script_is_measured_again_and_becomes_the_captions(
    panel: Writing, writer: FakeWriter, clock: Clock
) -> None:
    control(panel, ipywidgets.Text, "Title").value = "T"
    click(panel, "Write")
    clock.wait()
    assert "4 s to speak · 8 words" in text(panel)

    control(panel, ipywidgets.Textarea, "Script 1").value = "four words of mine"
    click(panel, "Make captions")
    clock.wait()

    assert "about 2 s to speak · 4 words" in text(panel)
    assert writer.captioned == ["four words of mine"]
    assert panel.script is not None
    assert panel.script.content == "four words of mine"
    captions = search(panel, ipywidgets.HTML, "")[-2]
    assert captions.value == "four words of mine"

    click(panel, "Make captions")
    clock.wait()
    assert captions.comm is None


def test_an_error_while_making_captions_is_shown(
    panel: Writing, writer: FakeWriter, clock: Clock
) -> None:
    control(panel, ipywidgets.Text, "Title").value = "T"
    click(panel, "Write")
    clock.wait()
    writer.error = KitError("no model takes captions")

    click(panel, "Make captions")
    clock.wait()

    assert "no model takes captions" in text(panel)


def test_the_repr_of_a_writing_panel_is_the_same_in_each_run(panel: Writing, clock: Clock) -> None:
    bundle = panel._repr_mimebundle_()

    assert repr(panel) == bundle["text/plain"] == "<Writing SPACE>"
    assert "studio.writing(&quot;SPACE&quot;)" in bundle["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_written_scripts_are_in_the_saved_html(panel: Writing, clock: Clock) -> None:
    control(panel, ipywidgets.Text, "Title").value = "T <1>"
    click(panel, "Write")
    clock.wait()

    html = panel._repr_mimebundle_()["text/html"]

    assert "T &lt;1&gt;" in html
    assert "text 0" in html


@pytest.mark.parametrize("duration", ["", "soon", "-3"])
def test_an_edited_script_without_a_valid_duration_has_an_estimate(duration: str) -> None:
    script = wire.Script(id="s", content="one two", metrics=wire.Metrics(duration=duration))
    card = ScriptCard(script, name="script 1", on_captions=print, on_change=lambda: None)
    card.children[0].value = "one two three four five"

    assert "about 2 s to speak · 5 words" in text(card)


def test_the_copy_button_holds_no_text_of_the_script() -> None:
    assert '"' not in copy_button("script 1").partition('onclick="')[2].partition('">')[0]
