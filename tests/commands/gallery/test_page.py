import base64
import hashlib
import re
from dataclasses import replace
from decimal import Decimal
from html.parser import HTMLParser

import pytest

from kit import wire
from kit.commands.gallery.page import Card, CardMedium, page
from kit.commands.gallery.plan import Example
from tests.commands.gallery.models import BUILT_IN, model_of

WIDE = CardMedium(kind="image", width=32, height=16, picture="data:,wide")
TALL = CardMedium(kind="image", width=16, height=32, picture="data:,tall")
FILM = CardMedium(kind="video", width=64, height=36, picture="data:,poster", file="a/b.mp4")


class ParsedPage(HTMLParser):
    """The tags of a page with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def all(self, *names: str) -> list[dict[str, str | None]]:
        return [given for tag, given in self.tags if tag in names]

    @property
    def urls(self) -> list[str]:
        names = ("src", "href", "poster")
        return [value for _, given in self.tags for name in names if (value := given.get(name))]


def new_model(name: str = "new", **more: object) -> wire.Model:
    return wire.Model(id=name, **more)  # type: ignore[arg-type]


def card(medium: CardMedium | None = WIDE, model: wire.Model | None = None, **more: object) -> Card:
    return Card(example=Example(model=model or new_model(), **more), medium=medium)  # type: ignore[arg-type]


def render_page(*cards: Card, **inputs: CardMedium) -> str:
    return page(cards, inputs)


def test_everything_on_the_page_is_escaped() -> None:
    evil = "<script>alert('x')</script>\"'&"
    setting = wire.Parameter(name=evil, default=evil, enum=[evil, "b"], description=evil)
    model = new_model(
        evil, title=evil, category=evil, description=evil, setting_parameters=[setting]
    )
    example = Example(
        model=model, caption=evil, prompt=evil, shown={evil: evil}, media={evil: (evil,)}
    )
    film = replace(FILM, file=f"a/{evil}.mp4", sound=True)
    cards = [Card(example=example, medium=film), Card(example=example, error=evil)]

    text = page(cards, {evil: WIDE})

    found = ParsedPage(text)
    assert len(found.all("script")) == 1
    assert text.count("&lt;script&gt;") >= 12
    assert not [name for _, given in found.tags for name in given if name.startswith("on")]
    assert all(url.startswith(("data:", "#", "a/")) for url in found.urls)


def test_only_the_page_s_own_script_is_allowed_to_run() -> None:
    text = render_page(card())

    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = next(m["content"] for m in ParsedPage(text).all("meta") if "http-equiv" in m)
    assert f"script-src 'sha256-{digest}'" in (policy or "")
    assert "connect-src 'none'" in (policy or "")


def test_the_page_requests_no_url_and_shows_prices_and_parameters() -> None:
    model = model_of(BUILT_IN["poster"]).model_copy(
        update={"credits_from": Decimal("0.01"), "credits_at_defaults": Decimal("0.02")}
    )
    example = card(WIDE, model, shown={"mist": 1}, prompt="a lake")
    example = replace(example, credits=Decimal("0.02"), seconds=1.25)

    text = render_page(example)

    assert not re.search(r"https?:|@import", text)
    assert "url(" not in text.partition("<script>")[0]
    assert all(url.startswith(("data:", "#")) for url in ParsedPage(text).urls)
    plain = re.sub(r"<[^>]*>", " ", text).replace("\N{NO-BREAK SPACE}", " ")
    assert "from 0.01 credits, 0.02 credits with its defaults" in plain
    assert "0.02 credits · made in 1.2 s · 32 × 16" in plain
    for parameter in model.parameters:
        assert parameter.name in plain


def test_settings_are_shown_as_a_user_types_them() -> None:
    text = "a sentence that is far too long to stand under a picture of this size"
    html = render_page(card(shown={"loop": True, "mode": "blurred_fill", "captions": text}))

    assert '<code class="set"><span>loop=</span>true</code>' in html
    assert '<code class="set"><span>mode=</span>blurred_fill</code>' in html
    assert f'title="&#34;{text}&#34;"' in html
    assert text not in re.sub(r"<[^>]*>", "", html)


def test_heading_levels_are_consecutive_and_every_link_has_a_target() -> None:
    film = new_model("film", asset_type="video")
    cards = [card(media={"image": ("picture",)}), card(FILM, film, media={"video": ("clip",)})]

    found = ParsedPage(page(cards, {"picture": WIDE, "clip": FILM}))

    headings = [tag for tag, _ in found.tags if re.fullmatch(r"h\d", tag)]
    assert headings == ["h1", "h2", "h2", "h2"]
    ids = [given["id"] for _, given in found.tags if "id" in given]
    assert len(set(ids)) == len(ids)
    targets = {str(given.get("href"))[1:] for given in found.all("a")}
    assert targets <= set(ids)
    assert {"model-new", "model-film", "inputs", "input-picture", "input-clip"} <= targets


def test_pictures_have_alternative_text_and_are_loaded_lazily() -> None:
    text = render_page(card(shown={"hue": "red"}, prompt="a lake"), card(FILM), picture=WIDE)

    found = ParsedPage(text)
    pictures = found.all("img")
    assert pictures[0]["alt"] == "new: hue=red; a lake"
    assert all(picture["alt"] and picture["loading"] == "lazy" for picture in pictures)
    assert found.all("video")[0]["aria-label"] == "new: as it comes"


def test_videos_play_without_a_script_and_are_not_preloaded() -> None:
    (video,) = ParsedPage(render_page(card(FILM))).all("video")

    assert {"controls", "muted", "loop", "playsinline"} <= video.keys()
    assert "autoplay" not in video
    assert (video["preload"], video["poster"]) == ("none", "data:,poster")


def test_only_videos_with_sound_have_a_sound_switch() -> None:
    frames = ParsedPage(render_page(card(FILM), card(replace(FILM, sound=True)))).all("div")

    assert ["data-sound" in given for given in frames if given["class"] == "frame"] == [False, True]


def test_an_input_is_shown_once_before_its_first_output() -> None:
    first, second = {"image": ("picture",)}, {"image": ("portrait",), "audio": ("voice",)}
    cards = [card(media=media) for media in (first, first, second)]
    voice = CardMedium(kind="audio", file="a/voice.wav")

    text = render_page(*cards, picture=WIDE, portrait=TALL, voice=voice)

    kinds = re.findall(r'<figure class="(\w+)"', text)
    assert kinds == ["given", "made", "made", "given", "made"]
    assert text.count('<span class="tag">Input</span>') == 2


def test_a_close_up_replaces_its_input() -> None:
    close = replace(WIDE, picture="data:,close", close=True)

    text = render_page(card(close, media={"image": ("picture",)}), picture=WIDE)

    assert '<figure class="given"' not in text
    assert '<span class="left">input</span><span class="right">result</span>' in text
    assert "data-before" not in text.partition("<script>")[0]


@pytest.mark.parametrize(("source", "same"), [(WIDE, True), (TALL, False), (FILM, False)])
def test_pictures_of_one_shape_can_be_compared_in_place(source: CardMedium, same: bool) -> None:
    text = render_page(card(media={"image": ("picture",)}), picture=source).partition("<script>")[0]

    assert ('data-before="input-picture"' in text) is same


@pytest.mark.parametrize(
    ("media", "shape"),
    [
        ([WIDE, WIDE, TALL], ("wide", "1.778")),
        ([TALL, TALL], ("tall", "0.750")),
        ([WIDE, TALL], ("wide", "1.250")),
        ([WIDE, TALL, FILM], ("wide", "1.778")),
        ([None], ("wide", "1.500")),
    ],
)
def test_frames_have_the_median_aspect_ratio_of_the_examples(
    media: list[CardMedium | None], shape: tuple[str, str]
) -> None:
    kind, ratio = shape

    assert f'<div class="cards {kind}" style="--shape:{ratio}">' in render_page(*map(card, media))


def test_a_page_without_inputs_has_no_section_for_them() -> None:
    text = render_page(card()).partition("<script>")[0]

    assert 'href="#inputs"' not in text
    assert 'id="inputs"' not in text
    assert 'class="hint"' not in text
