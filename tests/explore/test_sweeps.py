from __future__ import annotations

import base64
import io
import itertools
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from kit.errors import ConfigError, ParameterError
from kit.explore.sweeps import SweepPlan, plan_rows_of, plan_values, table
from kit.explore.sweeps.sheet import Sheet, Tile, html, lay_out_sheet
from kit.wire import Generation


def test_a_grid_has_every_combination_with_the_last_axis_fastest() -> None:
    plan = plan_values({"prompt": ["a", "b"], "seed": range(2), "size": 512})

    assert [tuple(r.values()) for r in plan.requests] == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    assert plan.fixed == {"size": 512}


def test_a_zip_combines_values_in_step() -> None:
    plan = plan_values({"prompt": ["a", "b"], "seed": [1, 2], "size": 512}, "zip")

    assert plan.requests == [{"prompt": "a", "seed": 1}, {"prompt": "b", "seed": 2}]
    with pytest.raises(ConfigError, match="there are prompt 2, seed 3"):
        plan_values({"prompt": ["a", "b"], "seed": [1, 2, 3]}, "zip")


@given(st.integers(1, 60), st.integers(1, 30))
def test_a_random_plan_is_a_reproducible_part_of_the_grid(count: int, length: int) -> None:
    values = {"seed": range(length), "n": ["x", "y", "z"]}
    drawn, whole = plan_values(values, count), plan_values(values)

    assert len(drawn.requests) == min(count, 3 * length)
    assert all(request in whole.requests for request in drawn.requests)
    assert len({str(r) for r in drawn.requests}) == len(drawn.requests)
    assert plan_values(values, count).requests == drawn.requests


@pytest.mark.parametrize("values", [range(2**32), itertools.count()])
def test_more_values_than_fit_into_memory_are_refused(values: Iterable[int]) -> None:
    with pytest.raises(ConfigError, match=r"^seed has more than 100,000 values: random\.sample"):
        plan_values({"seed": values}, 20)


def test_a_random_plan_works_for_a_huge_grid() -> None:
    values = {name: range(1000) for name in "abcdef"}

    assert len(plan_values(values, 5).requests) == 5
    with pytest.raises(ConfigError, match="at most 10,000 are allowed; plan=100 draws"):
        plan_values(values)


@pytest.mark.parametrize(
    "values", [np.array([1, 2]), pd.Series([1, 2]), (1, 2), {1, 2}, (n for n in (1, 2))]
)
def test_any_collection_of_values_is_an_axis(values: Any) -> None:
    assert [r["seed"] for r in plan_values({"seed": values}).requests] == [1, 2]


def test_a_set_has_the_same_order_and_draws_in_every_process() -> None:
    code = (
        "from kit.explore.sweeps import plan_values\n"
        "words = {f'word {n}' for n in range(9)}\n"
        "print([plan_values({'a': words, 'b': (n for n in range(9))}, how).requests\n"
        "       for how in ('grid', 5)])"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(found) == 1


def test_a_list_parameter_varies_by_lists_of_lists() -> None:
    assert plan_values({"tags": ["a", "b"]}, lists=["tags"]).fixed == {"tags": ["a", "b"]}
    assert len(plan_values({"tags": [["a"], ["b", "c"]]}, lists=["tags"]).requests) == 2


@pytest.mark.parametrize("one", [np.zeros((2, 2, 3)), io.BytesIO(b"a\nb"), bytearray(b"ab"), b"ab"])
def test_a_picture_or_an_open_file_is_one_value(one: object) -> None:
    assert len(plan_values({"image": one, "look": ["a", "b"]}).requests) == 2
    assert len(plan_values({"image": [one, one, one]}).requests) == 3


def test_frames_have_ids_and_names_of_files(tmp_path: Path) -> None:
    made, (dark, light) = Generation(id="g1"), (np.zeros((2, 2, 3)), Image.new("RGB", (2, 2)))
    files = [made, tmp_path / "a.png", "b.png", b"ab", dark, light, (made, "b.png")]
    plan = plan_values({"image": files, "size": (np.float64(0.5),)})
    planned = [(None, "planned", "")] * len(files)
    frame = table(plan, [None] * len(files), planned, {}, {})

    names = ["g1", str(tmp_path / "a.png"), "b.png", "bytes", "ndarray", "Image", ("g1", "b.png")]
    assert frame["parameters.image"].tolist() == names
    assert len(frame.groupby("parameters.image")) == len(files)
    assert frame["parameters.size"].tolist() == [0.5] * len(files)
    frame[:-1].to_parquet(tmp_path / "sweep.parquet")


@pytest.mark.parametrize(
    ("values", "how", "message"),
    [
        ({"prompt": []}, "grid", "prompt has no values"),
        ({"a": [1]}, "random", "a 'grid', a 'zip' or a number"),
        ({"a": [1, 2]}, 0, "plan must be a whole number, 1 or more"),
        ({"a": [1, 2]}, True, "a 'grid', a 'zip' or a number"),
    ],
)
def test_an_invalid_plan_is_reported(values: Any, how: Any, message: str) -> None:
    with pytest.raises((ConfigError, ParameterError), match=message):
        plan_values(values, how)


def test_axes_of_rows_are_the_varying_values() -> None:
    plan = plan_rows_of([{"model": "m", "seed": 1}, {"model": "m", "seed": 2, "size": 9}])

    assert plan.axes["seed"] == [1, 2]
    assert plan.fixed == {"model": "m"}
    assert plan.requests == [{"seed": 1}, {"seed": 2, "size": 9}]


# ── sheets ────────────────────────────────────────────────────────────────────────────────────────


def url(color: str, size: tuple[int, int] = (60, 40)) -> str:
    buffer = io.BytesIO()
    Image.new("RGB", size, color).save(buffer, "PNG")
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"


PLAN = plan_values({"prompt": ["a <lake>", "b"], "seed": [1, 2], "size": ["s", "m", "l"]})
TILES = [Tile(url("#cc0000"), f"{n} credits", "label") for n in range(12)]


def sheet(plan: SweepPlan = PLAN, tiles: Any = TILES, **axes: Any) -> Sheet:
    return lay_out_sheet(plan, tiles, "T", **{"x": None, "y": None, "size": 60, **axes})


def test_the_last_axis_is_columns_and_the_others_are_rows() -> None:
    found = sheet()

    assert found.columns == ["size s", "size m", "size l"]
    assert found.rows == ["a <lake> · seed 1", "a <lake> · seed 2", "b · seed 1", "b · seed 2"]
    assert found.tiles[1, 2].caption == "5 credits"
    assert repr(found) == "<Sheet 4 × 3: T>"


def test_axes_can_be_chosen() -> None:
    found = sheet(x="prompt", y="size")

    assert found.columns == ["a <lake>", "b"]
    assert found.rows[0] == "size s · seed 1"
    assert 'alt="size s · seed 1 · a &lt;lake&gt;"' in found.html()
    with pytest.raises(ConfigError, match="'color' does not vary in this sweep; there is prompt"):
        sheet(x="color")
    with pytest.raises(ConfigError, match="'seed' cannot be both x and y"):
        sheet(x="seed", y="seed")


def test_a_sheet_escapes_everything_and_loads_nothing() -> None:
    page = sheet().html()

    assert "<lake>" not in page
    assert page.count("<img") == page.count("data:image") == 12
    assert "<script" not in page


def test_amounts_in_tables_have_all_digits() -> None:
    page = html(pd.DataFrame({"charged": [123456789.5, 0.00002, 0.1 + 0.2]}), "T", "", new=False)

    assert [text in page for text in (">123456789.5<", ">0.00002<", ">0.3<")] == [True] * 3


@pytest.mark.parametrize("axis", ["x", "y"])
def test_prompts_with_the_same_start_have_separate_tiles(axis: str) -> None:
    prompts = [f"{'a lake ' * 9}{light}" for light in ("at dawn", "at dusk")]
    found = sheet(plan_values({"prompt": prompts, "seed": [1, 2]}), TILES[:4], **{axis: "prompt"})

    assert len(found.tiles) == 4


def test_tiles_of_a_random_plan_are_wrapped_with_labels() -> None:
    found = sheet(plan_values({"seed": range(99)}, 5), TILES[:5])

    assert len(found.tiles) == 5
    assert found.html().count("label</div>") == 5


def test_texts_are_left_and_numbers_right_below_their_heads() -> None:
    frame = pd.DataFrame({"prompt": ["a lake", "b"], "size": [512, 1024]})

    shown = html(frame, "poster × 2", "2 requests", new=True)

    assert re.findall(r'<t[hd] style="text-align:(\w+)[^>]*>([^<]+)', shown) == [
        *[("left", "prompt"), ("right", "size")],
        *[("left", "a lake"), ("right", "512"), ("left", "b"), ("right", "1024")],
    ]


def test_a_sheet_is_saved_as_picture_or_html(tmp_path: Path) -> None:
    tiles = [*TILES[:11], None]
    found = sheet(tiles=tiles)
    with Image.open(found.save(tmp_path / "sheets" / "s.png")) as picture:
        counts = {color: n for n, color in picture.getcolors(10**6) or []}

    assert counts[(204, 0, 0)] == 11 * 60 * 40
    assert found.save(tmp_path / "s.html").read_text().startswith("<!doctype html>")
    with pytest.raises(ConfigError, match=r"as .png or .html, not as '.gif'"):
        found.save(tmp_path / "s.gif")


def test_wide_pictures_leave_no_gaps_below_them() -> None:
    wide = sheet().png()
    tall = sheet(tiles=[Tile(url("#cc0000", (40, 60)), "", "") for _ in range(12)]).png()

    with Image.open(io.BytesIO(wide)) as low, Image.open(io.BytesIO(tall)) as high:
        assert high.height - low.height == 4 * (60 - 40)
        assert high.width == low.width


def test_a_title_wider_than_the_tiles_is_not_cut() -> None:
    found = lay_out_sheet(PLAN, TILES, "a long title " * 9, x="prompt", y="size", size=60)

    with Image.open(io.BytesIO(found.png())) as picture:
        assert (
            picture.convert("L").crop((picture.width - 10, 0, picture.width, 50)).getextrema()[0]
            == 255
        )
