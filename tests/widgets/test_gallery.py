from __future__ import annotations

import base64
import io
import re
from pathlib import Path

import pytest
from PIL import Image

from kit.errors import NoAnswerError
from kit.widgets.gallery import MAX_TILES, Fetched, Gallery, GalleryItem
from tests.widgets.gallery_items import new_item, photo

EVIL = "<script>alert('x')</script>\"'&"


def test_fifty_pictures_stay_below_a_megabyte_and_a_half() -> None:
    many = [new_item(f"gen_{n}", small=photo(seed=n % 4), prompt="a lake " * 20) for n in range(50)]

    html = Gallery(many).html()

    assert html.count("<img ") == 50
    assert 500_000 < len(html) < 1_500_000


def test_a_single_picture_is_larger_than_one_of_many() -> None:
    one = Gallery([new_item(small=photo())]).html()
    many = Gallery([new_item(small=photo())] * 40).html()

    assert len(one) > 1.5 * len(many) / 40


def test_a_large_gallery_shows_how_many_items_are_left_out() -> None:
    html = Gallery([new_item(small=photo(64, 64))] * (MAX_TILES + 7)).html()

    assert html.count("<details") == MAX_TILES
    assert "7 more are not shown" in html


def test_a_tile_opens_without_script_or_style_sheet() -> None:
    html = Gallery([new_item(small=photo(64, 64), prompt=EVIL, parameters={"seed": EVIL})]).html()

    assert not re.search(r"<(script|style|link|iframe|source)\b|\son\w+=|class=|id=", html)
    assert html.count("&lt;script&gt;") >= 3
    assert re.search(r"<details><summary", html)


def test_each_html_tag_is_closed() -> None:
    html = Gallery([new_item(small=photo(64, 64)), new_item(status="failed", error="no")]).html()

    for tag in ("div", "table", "tr", "td", "span", "b", "details", "summary"):
        assert len(re.findall(rf"<{tag}[ >]", html)) == html.count(f"</{tag}>")


def test_a_caption_has_the_prompt_the_price_and_the_size() -> None:
    shown = new_item(
        small=photo(64, 64), prompt="a lake", output={"width": 640, "height": 360}, charged="0.40"
    )

    assert "0.4 credits · m · 640×360" in Gallery([shown]).html()
    assert ">a lake</div>" in Gallery([shown]).html()


def test_a_failed_generation_shows_its_error() -> None:
    html = Gallery([new_item(status="failed", error="the clay is too dry")]).html()

    assert "the clay is too dry" in html
    assert ">failed</b>" in html
    assert "<img" not in html
    # the text is as wide as a tile, however long it is
    assert re.search(r'style="[^"]*width:0;min-width:100%[^"]*">the clay is too dry<', html)


def test_a_missing_file_does_not_hide_the_others() -> None:
    def fail(whole: bool) -> Fetched:
        raise NoAnswerError("the output could not be fetched")

    missing = GalleryItem(new_item().facts, None, fail)

    html = Gallery([new_item(small=photo(64, 64)), missing]).html()

    assert "the output could not be fetched" in html
    assert html.count("<img ") == 1


def test_the_output_file_is_shown_if_there_is_no_thumbnail(tmp_path: Path) -> None:
    path = tmp_path / "x.jpg"
    path.write_bytes(photo(900, 600))

    html = Gallery([new_item(path=path)]).html()

    address = re.search(r'src="data:image/\w+;base64,([^"]+)"', html)
    assert address
    with Image.open(io.BytesIO(base64.b64decode(address[1]))) as shown:
        assert shown.width / shown.height == pytest.approx(1.5, abs=0.02)
    assert str(tmp_path) not in html


@pytest.mark.parametrize(
    ("embed", "start"), [(False, "outputs/gen_v.mp4"), (True, "data:video/mp4;base64,")]
)
def test_videos_are_files_beside_the_notebook_unless_embedded(
    tmp_path: Path, embed: bool, start: str
) -> None:
    path = tmp_path / "cache.mp4"
    path.write_bytes(b"\0\0\0\x18ftypmp42" + bytes(500))
    shown = new_item("gen_v", path=path, small=photo(64, 64), asset_type="video")

    html = Gallery([shown], embed=embed, folder=tmp_path).html()

    assert f'<video src="{start}' in html
    assert html.index("</video>") < html.index("<summary"), "a button contains no other control"
    assert 'poster="data:image/jpeg' in html
    assert (tmp_path / "outputs" / "gen_v.mp4").exists() is not embed


def test_columns_share_the_width() -> None:
    tile = new_item(small=photo(64, 64))

    assert "min-width:31.33%" in Gallery([tile], columns=3).html()
    assert "min-width:220px" in Gallery([tile]).html()


def test_the_repr_has_the_number_and_the_price() -> None:
    known, unknown = new_item(), new_item(charged=None)

    assert repr(Gallery([known, known])) == "<Gallery 2 generations · 0.04 credits>"
    assert repr(Gallery([known, unknown])) == "<Gallery 2 generations>"
    assert repr(Gallery([])) == "<Gallery 0 generations>"
    assert len(Gallery([known])) == 1


def test_a_refund_is_subtracted_from_the_total() -> None:
    failed = new_item(status="failed", credits_refunded="0.02")

    assert repr(Gallery([new_item(), failed])) == "<Gallery 2 generations · 0.02 credits>"


def test_a_gallery_is_an_html_list() -> None:
    html = Gallery([new_item(small=photo(64, 64))] * 3).html()

    assert html.count("<ul ") == html.count("</ul>") == 1
    assert html.count("<li ") == html.count("</li>") == 3
