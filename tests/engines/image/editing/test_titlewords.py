import pytest

from kit.engines.base import Order
from kit.engines.editing.title.styles import STYLES
from kit.engines.editing.title.words import headline_of, subtitle_of
from kit.engines.models.restyle import Restyle


@pytest.mark.parametrize("style", STYLES)
def test_titles_are_written_as_their_style_has_them(style: str) -> None:
    large = STYLES[style].capitals

    assert headline_of("Πώς 🌅", "auto", style).text == ("ΠΩΣ" if large else "Πώς")
    assert subtitle_of("Πώς", style).text == ("ΠΩΣ" if STYLES[style].tracked else "Πώς")
    assert subtitle_of(" ", style).text == ""


@pytest.mark.parametrize(
    ("text", "fields"), [("Good morning 🌅", []), ("", []), ("日本", ["text"]), ("🌅", ["text"])]
)
def test_a_title_that_no_font_has_is_refused_before_a_picture_is_restyled(
    text: str, fields: list[str]
) -> None:
    engine = Restyle()
    values = {s.name: s.default for s in engine.definition.settings if s.default is not None}
    order = Order(prompt="warm", parameters={**values, "text": text}, media={"image": 1})

    assert [name for name, _ in engine.check(order)] == fields
