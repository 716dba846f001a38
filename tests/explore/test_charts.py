from __future__ import annotations

import io
import math
import sys
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from PIL import Image

from kit.errors import ConfigError
from kit.explore.charts import PALETTE, REST, Chart, CostFrame, draw, rows_to_draw, with_chart

BARS = Chart(kind="bars", x="model", y="net", title="Credits by model")
DAYS = Chart(kind="columns", x="day", y="net", color="model", title="Each day")
BAND = Chart(
    kind="band", x="day", y="net", low="low", high="high", title="Ahead", line=(3.0, "balance")
)


def make_frame(chart: Chart, count: int = 3) -> CostFrame:
    net = [float(n + 1) for n in range(count)]
    return with_chart(
        pd.DataFrame(
            {
                "model": [f"model {n}" for n in range(count)],
                "day": pd.date_range("2026-01-01", periods=count),
                "net": net,
                "low": [n / 2 for n in net],
                "high": [n * 2 for n in net],
            }
        ),
        chart,
    )


@pytest.mark.parametrize("chart", [BARS, DAYS, BAND], ids=lambda chart: chart.kind)
@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_frame_is_plotted_without_pyplot(chart: Chart, count: int) -> None:
    pytest.importorskip("matplotlib")
    figure = make_frame(chart, count).plot()
    bundle, facts = figure._repr_mimebundle_()

    with Image.open(io.BytesIO(bundle["image/png"])) as picture:
        assert picture.width == pytest.approx(facts["image/png"]["width"] * 160 / 96, abs=2)
        colors = {color for _, color in picture.convert("RGB").getcolors(10**6) or []}
    assert bundle["text/plain"] == f"<Chart {chart.title}>"
    assert (255, 255, 255) in colors
    assert (tuple(bytes.fromhex(PALETTE[0][1:])) in colors) is (count > 0)
    assert "matplotlib.pyplot" not in sys.modules


@pytest.mark.parametrize("chart", [BARS, DAYS, BAND], ids=lambda chart: chart.kind)
def test_altair_draws_a_chart_without_a_network(chart: Chart) -> None:
    altair = pytest.importorskip("altair")
    drawn = make_frame(chart).plot("altair").to_dict()

    assert drawn["title"]["text"] == chart.title
    assert altair.renderers.active not in ("default", "html")
    assert (altair.renderers.active, altair.renderers.options) == ("jupyter", {"offline": True})


def test_a_chart_has_title_and_unit() -> None:
    pytest.importorskip("matplotlib")
    axes = make_frame(BARS).plot().axes[0]

    assert axes.get_title(loc="left") == "Credits by model"
    assert axes.get_xlabel() == "credits"
    assert [text.get_text() for text in axes.get_yticklabels()] == ["model 0", "model 1", "model 2"]


def test_plots_of_pandas_are_available_too() -> None:
    pytest.importorskip("matplotlib")
    costs = make_frame(BARS)

    assert len(costs.plot.bar(x="model", y="net").patches) == 3
    assert len(costs.plot(kind="barh", x="model", y="net").patches) == 3
    chart_of_costs = costs.plot(figsize=(5, 3))
    assert chart_of_costs.axes[0].get_title(loc="left") == "Credits by model"
    assert chart_of_costs.get_size_inches().tolist() == [5, 3]
    with pytest.raises(ConfigError, match="'ax' is for plots of pandas"):
        costs.plot(ax=chart_of_costs.axes[0])


@pytest.mark.parametrize("chart", [DAYS, BAND], ids=lambda chart: chart.kind)
def test_a_day_is_drawn_in_its_own_time_zone(chart: Chart) -> None:
    costs = make_frame(chart, 4)
    tokyo = with_chart(costs.assign(day=costs["day"].dt.tz_localize("Asia/Tokyo")), chart)

    assert rows_to_draw(chart, tokyo)["x"].tolist() == costs["day"].tolist()


def test_days_have_no_hours_in_a_legend_or_on_a_short_axis() -> None:
    pytest.importorskip("matplotlib")
    days = pd.to_datetime(["2026-01-01", "2026-01-02"]).tz_localize("Asia/Tokyo")
    rows = pd.DataFrame({"model": ["clay", "flat"], "day": days, "net": [2.0, 1.0]})
    few = draw(replace(DAYS, color=None), rows).axes[0]
    legend = draw(replace(BARS, color="day"), rows).axes[0].get_legend()

    assert [text.get_text() for text in few.get_xticklabels()] == ["2026-01-01", "2026-01-02"]
    assert [text.get_text() for text in legend.get_texts()] == ["2026-01-01", "2026-01-02"]


def test_many_bars_and_colors_are_grouped() -> None:
    rows = rows_to_draw(BARS, make_frame(BARS, 40))
    assert len(rows) == 24
    assert rows["y"].sum() == sum(range(1, 41))
    assert REST in set(rows["x"])

    colored = rows_to_draw(DAYS, make_frame(DAYS, 12))
    assert colored["color"].nunique() <= len(PALETTE)


def test_similar_long_names_have_separate_bars() -> None:
    pytest.importorskip("matplotlib")
    why = [f"the vendor has {many:04} errors{' and more' * 9}" for many in (1, 2)]
    rows = pd.DataFrame({"model": [*why, "clay"], "net": [1.0, 2.0, 4.0]})
    [axes] = draw(BARS, rows).axes

    assert [text.get_text() for text in axes.texts] == ["1", "2", "4"]
    assert len({text.get_text() for text in axes.get_yticklabels()}) == 3
    assert max(len(text.get_text()) for text in axes.get_yticklabels()) <= 40


def test_filtering_and_sorting_keep_the_chart() -> None:
    costs = make_frame(BARS)
    kept = costs[costs["net"] > 1].sort_values("net")

    assert isinstance(kept, CostFrame)
    assert kept.chart == BARS


def test_a_missing_chart_package_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "kit.explore.charts.figures", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)

    with pytest.raises(ConfigError, match=r"pip install 'creative-studio-kit\[charts\]'"):
        make_frame(BARS).plot()
    with pytest.raises(ConfigError, match="matplotlib or altair, not by 'excel'"):
        make_frame(BARS).plot("excel")


def test_a_band_has_a_label_for_the_balance() -> None:
    pytest.importorskip("matplotlib")
    texts: list[Any] = [t.get_text() for t in make_frame(BAND).plot().axes[0].texts]

    assert "balance 3" in texts


@pytest.mark.parametrize("engine", ["matplotlib", "altair"])
def test_a_band_uses_the_columns_of_its_chart(engine: str) -> None:
    pytest.importorskip(engine)
    chart = replace(BAND, y="running", low="running_low", high="running_high")
    costs = make_frame(BAND).assign(
        running=[1.0, 3, 6], running_low=[1.0, 2, 4], running_high=[2.0, 4, 8]
    )

    assert rows_to_draw(chart, costs)["high"].tolist() == [2, 4, 8]
    assert with_chart(costs, chart).plot(engine) is not None


def test_equal_names_are_separate_bars_in_a_ranked_chart() -> None:
    rows = pd.DataFrame({"what": ["a lake", "a lake"], "net": [2.0, 1.0]})
    chart = Chart(kind="bars", x="what", y="net", title="t", ranked=True)

    assert rows_to_draw(chart, rows)[["x", "y"]].values.tolist() == [
        ["1. a lake", 2.0],
        ["2. a lake", 1.0],
    ]


def test_bars_without_an_amount_are_labeled_as_zero() -> None:
    rows = pd.DataFrame({"check": ["balance", "chain"], "difference": [0.0, 0.0]})
    chart = Chart(kind="bars", x="check", y="difference", title="t")

    assert draw(chart, rows).axes[0].texts[0].get_text() == "0 credits in all 2 rows"


def test_the_label_of_a_stacked_bar_stays_inside_the_chart() -> None:
    pytest.importorskip("matplotlib")
    rows = pd.DataFrame({"model": ["m", "m"], "status": ["done", "failed"], "net": [100.0, 0.0]})
    chart = Chart(kind="bars", x="model", y="net", color="status", title="t")

    assert draw(chart, rows).axes[0].get_xlim() == pytest.approx((0, 116))


def test_negative_amounts_are_stacked_below_zero() -> None:
    pytest.importorskip("matplotlib")
    parts = {"day": pd.to_datetime(["2026-01-01"] * 3), "model": ["a", "b", "c"]}
    rows = pd.DataFrame({**parts, "net": [1.0, -0.5, 0.25]})
    columns = draw(DAYS, rows).axes[0].patches
    bars = draw(replace(BARS, x="day", color="model"), rows).axes[0]

    assert [(part.get_y(), part.get_height()) for part in columns] == [(0, 1), (0, -0.5), (1, 0.25)]
    assert [part.get_x() for part in bars.patches] == [0, 0, 1]
    assert (bars.texts[0].get_text(), bars.texts[0].get_position()[0] > 1.25) == ("0.75", True)


def test_altair_stacks_negative_amounts_below_zero() -> None:
    pytest.importorskip("altair")
    rows = pd.DataFrame({"day": ["1", "1"], "model": ["a", "b"], "net": [1.0, -0.4]})
    (lines,) = draw(DAYS, rows, "altair").to_dict()["datasets"].values()

    assert [(line["low"], line["high"]) for line in lines] == [(0, 1), (0, -0.4)]


def test_small_charges_are_not_labeled_as_zero() -> None:
    pytest.importorskip("matplotlib")
    axes = draw(BARS, pd.DataFrame({"model": ["clay"], "net": [0.00004]})).axes[0]

    assert [text.get_text() for text in axes.texts] == ["0.00004"]


def test_altair_labels_bars_with_their_amounts() -> None:
    pytest.importorskip("altair")
    rows = pd.DataFrame({"model": ["a", "b"], "net": [1234.5, -2.0]})
    found = draw(BARS, rows, "altair").to_dict()

    texts = [line.get("text") for data in found["datasets"].values() for line in data]
    assert {"1,234.5", "-2"} <= set(texts)
    low, high = found["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert (low < -2, high > 1234.5) == (True, True)


@pytest.mark.parametrize(("level", "is_drawn"), [(3.0, True), (900.0, False)])
def test_altair_names_a_level_that_would_flatten_the_chart(level: float, is_drawn: bool) -> None:
    pytest.importorskip("altair")
    found = draw(replace(BAND, line=(level, "balance")), make_frame(BAND), "altair").to_dict()

    marks = [layer["mark"]["type"] for layer in found["layer"]]
    assert ("rule" in marks) is is_drawn
    beyond = ["balance, above this chart: 900"]
    assert found["title"].get("subtitle", []) == ([] if is_drawn else beyond)


def test_a_level_above_a_band_is_inside_the_chart() -> None:
    pytest.importorskip("matplotlib")
    axes = draw(replace(BAND, line=(12.0, "balance")), make_frame(BAND)).axes[0]

    assert make_frame(BAND)["high"].max() == 6.0
    assert axes.get_ylim()[1] > 12.0


def test_altair_stacks_columns_and_reads_times_as_utc() -> None:
    pytest.importorskip("altair")
    rows = pd.DataFrame(
        {
            "day": pd.to_datetime([f"2026-01-0{day}" for day in (1, 1, 2, 3, 4)], utc=True),
            "model": ["small", "large", "large", "large", "large"],
            "net": [1.0, 5.0, 2.0, 2.0, 2.0],
        }
    )
    found = draw(DAYS, rows, "altair").to_dict()

    (lines,) = found["datasets"].values()
    stacks = [(line["color"], line["low"], line["high"]) for line in lines[:3]]
    assert stacks == [("large", 0, 5), ("small", 5, 6), ("large", 0, 2)]
    assert [line["when"] for line in lines[:3]] == ["2026-01-01", "2026-01-01", "2026-01-02"]
    assert found["encoding"]["x"]["scale"] == {"type": "utc"}


@pytest.mark.parametrize(
    ("net", "words"),
    [([], "nothing to draw"), ([0.0], "0 credits in all"), ([math.nan], "nothing to draw")],
)
def test_altair_labels_an_empty_chart(net: list[float], words: str) -> None:
    pytest.importorskip("altair")
    rows = pd.DataFrame({"model": ["m"] * len(net), "net": pd.Series(net, dtype="float64")})

    (lines,) = draw(BARS, rows, "altair").to_dict()["datasets"].values()
    assert lines[0]["text"].startswith(words)
