from pathlib import Path

import numpy as np
import pytest

from kit.engines.base import Asset, CanceledError, Order, Progress
from kit.engines.editing.title.inks import DARK, LEAST, LIGHT, accent_on, contrast_on, luminance
from kit.engines.editing.title.styles import STYLES
from kit.engines.models.title_card import TitleCard
from kit.errors import EngineError
from tests.engines.image.editing.pictures import pixels_of, render, saved


def card(folder: Path, prompt: str = "Saturn is losing its rings", **values: object) -> Asset:
    given: dict[str, object] = {"size": 320, "background": "navy", **values}
    return render(TitleCard(), folder, prompt=prompt, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("background", ["white", "black", "gray", "yellow to purple"])
def test_every_style_reads_on_every_ground(tmp_path: Path, style: str, background: str) -> None:
    asset = card(tmp_path, style=style, background=background, subtitle="A short story")

    assert asset.metadata["contrast"] >= LEAST - 0.05
    light = luminance(pixels_of(asset).astype(np.float32))
    high, low = np.percentile(light, 99.8), np.percentile(light, 1)
    assert (high + 0.05) / (low + 0.05) > LEAST


@pytest.mark.parametrize("aspect", ["16:9", "1:1", "9:16", "4:5"])
def test_every_shape_has_its_size_and_all_the_words(tmp_path: Path, aspect: str) -> None:
    asset = card(tmp_path, aspect_ratio=aspect, style="elegant")

    assert max(asset.width, asset.height) == 320
    assert " ".join(asset.metadata["lines"]) == "Saturn is losing its rings"


@pytest.mark.parametrize(("position", "rows"), [("top", (0, 90)), ("bottom", (90, 180))])
def test_the_title_stands_where_it_was_asked_to(
    tmp_path: Path, position: str, rows: tuple[int, int]
) -> None:
    bright = pixels_of(card(tmp_path, "Up", position=position, accent="white")).min(axis=2) > 230

    assert bright[rows[0] : rows[1]].sum() > 10 * bright.sum() / 11


def test_auto_finds_the_quiet_part_of_the_picture(tmp_path: Path) -> None:
    pixels = np.full((180, 320, 3), (30, 60, 90), np.uint8)
    noise = np.random.default_rng(1).integers(0, 255, (180, 320, 3), np.uint8)
    for name, busy in (("top", slice(90, 180)), ("bottom", slice(0, 90))):
        picture = pixels.copy()
        picture[busy] = np.repeat(np.repeat(noise[:90:6, ::6], 6, 0), 6, 1)[:90, :320]
        image = saved(picture, tmp_path / f"{name}.png")
        asset = card(tmp_path / name, "Quiet", media={"image": image})
        assert asset.metadata["position"] == name


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(tmp_path: Path) -> None:
    one, again, other = (
        card(tmp_path / name, background="foggy forest", seed=seed).path.read_bytes()
        for name, seed in (("a", 7), ("b", 7), ("c", 8))
    )

    assert one == again
    assert one != other


def test_a_card_without_a_background_paints_one(tmp_path: Path) -> None:
    asset = render(TitleCard(), tmp_path, prompt="Mountains at night", size=256, format="jpeg")

    assert asset.content_type == "image/jpeg"
    assert pixels_of(asset).std() > 8


@pytest.mark.parametrize(("text", "face"), [("שלום עולם", "rubik"), ("Привет мир", "inter-bold")])
def test_other_scripts_take_a_face_that_has_them(tmp_path: Path, text: str, face: str) -> None:
    assert card(tmp_path, text).metadata["font"] == face


@pytest.mark.parametrize(
    ("prompt", "values", "code"),
    [
        ("日本", {}, "no_letters"),
        ("word " * 170, {}, "text_too_long"),
        ("a b", {"accent": "blurple"}, "unknown_color"),
        ("a b", {"background": "somehow"}, "unknown_background"),
    ],
)
def test_what_cannot_be_set_is_refused_with_a_reason(
    tmp_path: Path, prompt: str, values: dict[str, object], code: str
) -> None:
    with pytest.raises(EngineError) as caught:
        card(tmp_path, prompt, **values)

    assert caught.value.code == code


def test_an_accent_is_lightened_on_dark_and_darkened_on_light() -> None:
    for ground, tone in ((0.02, LIGHT), (0.8, DARK)):
        accent = accent_on((0, 60, 200), ground, tone)
        assert contrast_on(accent, ground) >= LEAST
        assert accent[2] == max(accent)
    assert accent_on((255, 255, 0), 0.02, LIGHT) == (255, 255, 0)


def test_the_accent_colors_the_longest_word(tmp_path: Path) -> None:
    pixels = pixels_of(card(tmp_path, "go hamburg", accent="#00ff00")).astype(int)

    green = (pixels[..., 1] > 200) & (pixels[..., 0] < 80)
    white = pixels.min(axis=2) > 230
    assert green.sum() > white.sum() > 50


def test_progress_rises_to_1_and_a_canceled_card_is_given_up(tmp_path: Path) -> None:
    seen: list[float] = []
    card(tmp_path / "a", progress=Progress(seen.append))
    stopped = Progress()
    stopped.cancel()

    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0.0, 1.0)
    with pytest.raises(CanceledError):
        card(tmp_path / "b", progress=stopped)
    assert not list((tmp_path / "b").iterdir())


def test_progress_goes_on_while_letters_are_set(tmp_path: Path) -> None:
    seen: list[float] = []
    card(tmp_path, subtitle="And nobody knows why", progress=Progress(seen.append))

    steps = sorted({share for share in seen if 0.3 < share < 0.8})
    assert len(steps) >= 3
    assert np.diff([0.3, *steps, 0.8]).max() < 0.25


def test_a_neon_title_shines_in_its_color_on_a_darkened_picture(tmp_path: Path) -> None:
    image = saved(np.full((180, 320, 3), 230, np.uint8), tmp_path / "white.png")

    asset = card(tmp_path, "Open", style="neon", accent="#ff00aa", media={"image": image})

    pixels = pixels_of(asset).astype(int)
    assert (pixels[..., 0] > pixels[..., 1] + 60).sum() > 300
    assert np.median(pixels) < 130


@pytest.mark.parametrize(
    "text", ["12345678901234567890 1", ".", "A\u0301 b", "tabs\tand\nlines\n\n"]
)
@pytest.mark.parametrize("style", STYLES)
def test_odd_texts_are_set_in_every_style(tmp_path: Path, text: str, style: str) -> None:
    assert card(tmp_path, text, style=style, subtitle=text, size=256).width == 256


def test_emoji_are_left_out_and_told(tmp_path: Path) -> None:
    plain = card(tmp_path / "a", "Good morning", subtitle="at home")
    asset = card(tmp_path / "b", "Good morning 🌅", subtitle="at home 🏡")

    assert asset.metadata["left_out"] == ["🌅", "🏡"]
    assert asset.path.read_bytes() == plain.path.read_bytes()
    assert "left_out" not in plain.metadata


@pytest.mark.parametrize(
    ("prompt", "subtitle", "field"),
    [("日本", "", "prompt"), ("🌅", "", "prompt"), ("a b", "नमस्ते", "subtitle")],
)
def test_letters_that_no_font_has_are_refused_before_the_charge(
    prompt: str, subtitle: str, field: str
) -> None:
    engine = TitleCard()
    values = {s.name: s.default for s in engine.definition.settings if s.default is not None}
    order = Order(prompt=prompt, parameters={**values, "subtitle": subtitle})

    ((name, sentence),) = engine.check(order)

    assert (name, sentence.partition(":")[0]) == (field, "no font has these characters")


def test_a_greek_headline_in_capitals_has_no_accents(tmp_path: Path) -> None:
    assert "".join(card(tmp_path, "Πώς").metadata["lines"]) == "ΠΩΣ"
