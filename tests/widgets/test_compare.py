from __future__ import annotations

import base64
import io
import re
from pathlib import Path

import pytest
from PIL import Image

from kit.widgets.compare import Comparison
from kit.widgets.gallery import Fetched, GalleryItem
from tests.widgets.gallery_items import new_item, photo

EVIL = "<script>alert('x')</script>\"'&"


def shapes(html: str) -> list[tuple[int, int]]:
    found = []
    for address in re.findall(r'src="data:image/\w+;base64,([^"]+)"', html):
        with Image.open(io.BytesIO(base64.b64decode(address))) as shown:
            found.append(shown.size)
    return found


NIGHT = new_item(
    "gen_1",
    small=photo(400, 300),
    prompt="night",
    parameters={"seed": 7, "size": 512, "grain": 0.1},
    output={"width": 400, "height": 300, "sizeBytes": 20_000},
    charged="0.40",
)
DAY = new_item(
    "gen_2",
    small=photo(300, 400, seed=2),
    prompt="day",
    parameters={"seed": 7, "size": 1024},
    output={"width": 300, "height": 400},
    charged="0.60",
)


def test_differing_rows_are_marked_and_equal_ones_collapsed() -> None:
    html = Comparison([NIGHT, DAY]).html()

    differing = re.findall(r">≠ (\w+)</th>", html)
    assert differing == ["prompt", "size", "grain"]
    assert "the same: model, seed</summary>" in html


def test_many_columns_are_scrolled() -> None:
    html = Comparison([NIGHT, DAY] * 10).html()

    assert '<div style="overflow-x:auto"><table' in html
    assert "min-width:1910px" in html


def test_a_setting_of_only_one_generation_is_a_dash_in_the_other() -> None:
    rows = {row.name: row for row in Comparison([NIGHT, DAY]).rows()}

    assert rows["grain"].values == ("0.1", "—")
    assert rows["seed"].differs is False


def test_price_differences_are_relative_to_the_first_generation() -> None:
    free = new_item("gen_3", small=photo(64, 64), charged=None)
    html = Comparison([DAY, NIGHT, DAY, free]).html()

    prices = re.findall(r">credits</th>(.*?)</tr>", html)[0]
    cells = [re.sub(r"<[^>]+>", "", cell) for cell in prices.split("</td>")]
    assert cells[:4] == ["0.6", "0.4 (-0.2)", "0.6", "—"]


def test_a_refunded_generation_costs_nothing() -> None:
    failed = new_item("gen_3", status="failed", charged="0.60", credits_refunded="0.60")
    html = Comparison([DAY, failed]).html()

    prices = re.findall(r">credits</th>(.*?)</tr>", html)[0]
    assert [re.sub(r"<[^>]+>", "", cell) for cell in prices.split("</td>")][1] == "0 (-0.6)"


def test_pictures_are_not_cropped() -> None:
    assert shapes(Comparison([NIGHT, DAY]).html()) == [(400, 300), (300, 400)]


def test_eight_pictures_stay_below_a_megabyte() -> None:
    html = Comparison([new_item(f"g{n}", small=photo(seed=n)) for n in range(8)]).html()

    assert len(html) < 1_000_000
    assert len(shapes(html)) == 8


def test_all_text_is_escaped_and_nothing_needs_trust() -> None:
    evil = new_item(small=photo(64, 64), prompt=EVIL, parameters={EVIL: EVIL})

    html = Comparison([evil, NIGHT]).html()

    assert not re.search(r"<(script|style|link|iframe|source)\b|\son\w+=|class=", html)
    for tag in ("div", "table", "tr", "td", "th", "b", "details", "summary"):
        assert len(re.findall(rf"<{tag}[ >]", html)) == html.count(f"</{tag}>")


def test_the_repr_names_the_differing_settings() -> None:
    assert repr(Comparison([NIGHT, DAY])) == (
        "<Comparison of 2 generations · differ in prompt, size, grain>"
    )
    assert repr(Comparison([NIGHT, NIGHT])) == "<Comparison of 2 generations · no differences>"


def test_each_generation_is_a_column_header() -> None:
    html = Comparison([NIGHT, DAY]).html()

    assert html.count('<th scope="col"') == 2
    assert html.index('<th scope="col"') < html.index('<th scope="row"')


@pytest.mark.parametrize("problem", [Image.DecompressionBombError("x"), SyntaxError("broken PNG")])
def test_an_unreadable_picture_does_not_hide_the_others(problem: Exception) -> None:
    def fail(_: bool) -> Fetched:
        raise problem

    html = Comparison([NIGHT, GalleryItem(DAY.facts, DAY.charged, fail)]).html()

    assert len(shapes(html)) == 1
    assert "no preview" in html
    assert ("too large" in html) == isinstance(problem, Image.DecompressionBombError)


def test_a_picture_above_the_pixel_limit_of_pillow_is_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    huge = tmp_path / "huge.png"
    huge.write_bytes(photo(640, 640))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 320 * 640 - 1)

    html = Comparison([NIGHT, new_item("gen_3", path=huge)]).html()

    assert "no preview (too large)" in html
    assert len(shapes(html)) == 1


def test_a_hebrew_prompt_is_aligned_at_its_start() -> None:
    hebrew = new_item("gen_3", small=photo(), prompt="\u05d0\u05d2\u05dd <b>")

    html = Comparison([NIGHT, hebrew]).html()

    assert re.search(r'<div dir="auto" [^>]*>\u05d0\u05d2\u05dd &lt;b&gt;</div>', html)
    assert html.count('dir="auto"') == 1
