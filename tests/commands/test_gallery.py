import re
from collections.abc import Iterable
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path

import pytest
import typer

from kit import parameters, wire
from kit.commands import models
from kit.commands.gallery import make
from kit.commands.gallery.page import Card, Medium, page
from kit.commands.gallery.plan import MOST, Example, plan
from kit.commands.gallery.taste import TASTES
from kit.engines import samples
from kit.engines.base import Definition
from kit.engines.registry import installed
from tests.commands.conftest import Kit

BUILT_IN = {
    name: engine.definition
    for name, engine in installed().items()
    if type(engine).__module__.startswith("kit.")
}
#: Samples that are no pictures.
KINDS = {**dict.fromkeys(("clip", "clip-1", "clip-2"), "video"), "voice": "audio", "music": "audio"}


def model_of(definition: Definition) -> wire.Model:
    return wire.Model(
        id=definition.id,
        title=definition.title,
        asset_type=definition.asset_type,
        supports_prompt=definition.supports_prompt,
        prompt_required=definition.prompt_required,
        setting_parameters=list(definition.settings),
        media_parameters=list(definition.media),
        pricing=definition.pricing,
    )


def choice(name: str, *values: str) -> wire.Parameter:
    return wire.Parameter(name=name, default=values[0], enum=list(values))


def medium(name: str, kind: str, **more: object) -> wire.Parameter:
    return wire.Parameter(name=name, type=kind, media=True, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("definition", BUILT_IN.values(), ids=BUILT_IN)
def test_every_model_has_examples_that_the_service_would_take(definition: Definition) -> None:
    model = model_of(definition)

    examples = plan([model])

    assert 1 <= len(examples) <= MOST[model.asset_type]
    takes = {p.name: p.type for p in model.media_parameters}
    for example in examples:
        parameters.check(
            model, prompt=example.prompt, parameters=example.settings, media=example.media
        )
        for name, files in example.media.items():
            assert set(files) <= samples.SAMPLES.keys()
            assert {KINDS.get(file, "image") for file in files} == {takes[name]}


@pytest.mark.parametrize("definition", BUILT_IN.values(), ids=BUILT_IN)
def test_no_two_examples_of_a_model_are_alike(definition: Definition) -> None:
    examples = plan([model_of(definition)])

    asked = [(e.prompt, dict(e.settings), dict(e.media)) for e in examples]
    assert all(one not in asked[:place] for place, one in enumerate(asked))
    assert len({example.caption for example in examples}) == len(examples)
    assert len(examples) > 1


def test_words_are_chosen_for_models_that_exist() -> None:
    assert TASTES.keys() <= BUILT_IN.keys()


def test_one_setting_changes_at_a_time_and_technical_ones_stay() -> None:
    settings = [choice("format", "png", "jpeg"), choice("hue", "red", "blue", "green")]
    model = wire.Model(id="new", supports_prompt=True, setting_parameters=settings)

    examples = plan([model])

    assert [e.caption for e in examples] == ["", "hue: blue", "hue: green"]


def test_technical_settings_are_shown_where_there_is_nothing_else() -> None:
    model = wire.Model(id="new", setting_parameters=[choice("format", "png", "jpeg")])

    assert [e.caption for e in plan([model])] == ["", "format: jpeg"]


def test_the_telling_settings_of_a_picture_come_first() -> None:
    settings = [choice("hue", *"abcdefghijklmnop"), choice("operation", "cut", "paste")]
    model = wire.Model(id="new", setting_parameters=settings)

    captions = [e.caption for e in plan([model])]

    assert captions[:3] == ["", "operation: paste", "hue: b"]
    assert len(captions) == 12


def test_a_video_shows_something_of_every_setting_small_and_short() -> None:
    settings = [
        choice("hue", "a", "b", "c", "d", "e", "f"),
        choice("camera", "push", "pull"),
        choice("resolution", "720p", "480p"),
        wire.Parameter(name="duration", type="number", default=8, minimum=1, maximum=12),
    ]
    model = wire.Model(id="new", asset_type="video", setting_parameters=settings)

    examples = plan([model])

    assert [e.caption for e in examples] == ["", "hue: b", "camera: pull", "hue: c", "hue: d"]
    assert {(e.settings["resolution"], e.settings["duration"]) for e in examples} == {("480p", 3)}


def test_media_are_filled_by_name_and_kind() -> None:
    media = [
        medium("portrait", "image"),
        medium("video", "video"),
        medium("audio", "audio", required=True),
        medium("music", "audio"),
    ]
    several = medium("clips", "video", required=True, max_items=10)

    alternatives = plan([wire.Model(id="new", media_parameters=media)])[0]
    joined = plan([wire.Model(id="new", media_parameters=[several])])[0]
    optional = plan([wire.Model(id="new", media_parameters=[medium("image", "image")])])[0]

    assert alternatives.media == {"portrait": ("portrait",), "audio": ("voice",)}
    assert joined.media == {"clips": ("clip", "clip-1", "clip-2")}
    assert optional.media == {}


def test_a_prompt_is_given_where_it_is_needed_and_nowhere_else() -> None:
    needed = wire.Model(id="new", prompt_required=True)
    refused = wire.Model(id="new", supports_prompt=False)

    assert plan([needed])[0].prompt
    assert plan([refused])[0].prompt is None


class Words(HTMLParser):
    """The tags of a page and the addresses that it names."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        given = dict(attrs)
        names = ("src", "href", "poster")
        self.addresses += [value for name in names if (value := given.get(name))]


def test_everything_on_the_page_is_escaped() -> None:
    evil = "<script>alert('x')</script>\"'&"
    setting = choice(evil, evil, "b").model_copy(update={"description": evil})
    model = wire.Model(
        id=evil, title=evil, category=evil, description=evil, setting_parameters=[setting]
    )
    example = Example(model=model, caption=evil, prompt=evil, media={"image": (evil,)})
    shown = Medium(kind="video", width=4, height=3, picture="data:,x", file=f"a/{evil}.mp4")
    cards = [Card(example=example, medium=shown), Card(example=example, error=evil)]

    text = page([(model, cards)], {evil: Medium(kind="image", picture="data:,x")})

    found = Words(text)
    assert "script" not in found.tags
    assert text.count("&lt;script&gt;") >= 8
    assert all(address.startswith(("data:", "#", "a/")) for address in found.addresses)


def test_the_page_asks_nobody_and_shows_prices_and_parameters() -> None:
    model = model_of(BUILT_IN["poster"]).model_copy(
        update={"credits_from": Decimal("0.01"), "credits_at_defaults": Decimal("0.02")}
    )
    example = Example(model=model, caption="mist: 1", prompt="a lake")
    card = Card(
        example=example,
        medium=Medium(kind="image", width=32, height=16, picture="data:,x"),
        credits=Decimal("0.02"),
        seconds=1.25,
    )

    text = page([(model, [card])], {})

    assert not re.search(r"https?:|//|@import|url\(", text)
    plain = re.sub(r"<[^>]*>", " ", text).replace("\N{NO-BREAK SPACE}", " ")
    assert "from 0.01 credits, 0.02 credits with its defaults" in plain
    assert "0.02 credits · made in 1.2 s · 32 × 16" in plain
    for parameter in model.parameters:
        assert parameter.name in plain


def test_a_gallery_is_made_through_the_service(kit: Kit, tmp_path: Path) -> None:
    done = kit("models", "--gallery", "page.html", "--model", "clay")

    assert done.code == 0
    assert done.out.strip() == "page.html"
    assert "[1/1] clay: 0.2 credits" in done.err
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "data:image/" in text
    assert 'href="#input-portrait"' in text
    assert "1 models" not in text


def test_an_example_that_fails_is_a_card_with_its_sentence(kit: Kit, tmp_path: Path) -> None:
    def planned(found: Iterable[wire.Model]) -> list[Example]:
        (flat,) = found
        deeds: list[dict[str, object]] = [{"does": "works"}, {"does": "fails"}, {"count": 99}]
        return [Example(model=flat, prompt="a lake", settings=deed) for deed in deeds]

    target = tmp_path / "page.html"
    told: list[str] = []

    assert make(target, ["flat"], say=told.append, planned=planned) == 2
    text = target.read_text(encoding="utf-8")
    assert text.count('<figure class="failed"') == 2
    assert "the clay is too dry" in text
    assert "must be at most 10" in text
    assert any("the clay is too dry" in line for line in told)
    with pytest.raises(typer.Exit) as end:
        models.show(target, ["flat"], planned=planned)
    assert end.value.exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--gallery", "no/such/page.html"), "no/such does not exist"),
        (("--gallery", "page.html", "--model", "postr"), "did you mean 'poster'?"),
        (("--model", "poster"), "--model goes with --gallery"),
    ],
)
def test_a_gallery_that_cannot_be_made_is_refused(
    kit: Kit, arguments: tuple[str, ...], sentence: str
) -> None:
    done = kit("models", *arguments)

    assert done.code in (1, 2)
    assert sentence in done.err
