"""Charts by Altair, interactive, and displayed offline."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from kit.explore.charts import (
    GRID,
    INK,
    PALETTE,
    UNIT,
    Chart,
    bar_range,
    bar_width,
    empty_text,
    is_drawable,
    name_times,
    number,
    rows_to_draw,
    sort_colors,
)

#: Renderers that load scripts from the network; offline, JupyterLab shows an error for them.
_ONLINE_RENDERERS = ("default", "html")


def draw(chart: Chart, frame: pd.DataFrame, *, width: int = 560, height: int | None = None) -> Any:
    """Return an Altair chart; switches to the offline renderer unless the user chose another.

    `width`, `height`: pixels of the plot; by default bars are 24 pixels high.
    """
    if alt.renderers.active in _ONLINE_RENDERERS:
        alt.renderers.enable("jupyter", offline=True)
    rows = rows_to_draw(chart, frame)
    if words := empty_text(chart, rows):
        text = alt.Chart(pd.DataFrame({"text": [words]})).mark_text(fontSize=13, color=INK)
        layers = text.encode(text="text:N")
    else:
        layers = _KINDS[chart.kind](chart, rows)
    bars = chart.kind == "bars" and not words
    size = {"width": width, "height": height or (alt.Step(24) if bars else 260)}
    title = alt.TitleParams(
        chart.title,
        anchor="start",
        fontSize=15,
        subtitle=[_level_note(chart, rows)] if _level_note(chart, rows) else alt.Undefined,
        subtitleColor=PALETTE[3],
        subtitleFontSize=13,
    )
    return (
        layers.properties(title=title, background="transparent", **size)
        .configure_axis(
            labelFontSize=13,
            titleFontSize=13,
            titleFontWeight="normal",
            gridColor=GRID,
            labelColor=INK,
            titleColor=INK,
        )
        .configure_axisY(labelLimit=260)
        .configure_title(color=INK)
        .configure_legend(labelFontSize=13, titleFontSize=13, labelColor=INK, titleColor=INK)
        .configure_view(stroke=None)
    )


def _bars(chart: Chart, rows: pd.DataFrame) -> Any:
    order = list(dict.fromkeys(rows["x"]))
    totals = rows.groupby("x", sort=False)["y"].sum().reset_index()
    totals["text"] = [number(total) for total in totals["y"]]
    ends = rows.groupby(["x", rows["y"] < 0], sort=False)["y"].sum()
    totals["end"] = [ends.get(key, 0.0) for key in zip(totals["x"], totals["y"] < 0, strict=True)]
    y = alt.Y("x:N", sort=order, title=None)
    # wide enough for the numbers next to the bars, and not rounded up to the next tick
    low, high = bar_range(ends)
    scale = alt.Scale(domain=[low, high], nice=False)
    x = alt.X("sum(y):Q", title=UNIT, scale=scale, axis=alt.Axis(tickCount=6))
    bars = alt.Chart(_rank(rows)).mark_bar()
    layers = bars.encode(
        y=y, x=x, order="rank:Q", **_color(chart, rows), tooltip=_tooltip(chart, "x:N")
    )
    for side, align, shift in (("datum.y < 0", "right", -4), ("datum.y >= 0", "left", 4)):
        text = alt.Chart(totals).transform_filter(side)
        text = text.mark_text(align=align, dx=shift, fontSize=13, color=INK)
        layers = layers + text.encode(y=y, x=alt.X("end:Q", scale=scale), text="text:N")
    if low < 0:
        zero = alt.Chart(pd.DataFrame({"y": [0.0]})).mark_rule(color=INK)
        layers = layers + zero.encode(x=alt.X("y:Q", scale=scale))
    return layers


def _columns(chart: Chart, rows: pd.DataFrame) -> Any:
    has_times = pd.api.types.is_datetime64_any_dtype(rows["x"])
    # stacked here: Vega-Lite does not stack bars that span two times
    rows = _rank(rows).sort_values(["x", "rank"])
    rows["high"] = rows.groupby(["x", rows["y"] < 0])["y"].cumsum()
    rows["low"] = rows["high"] - rows["y"]
    y = alt.Y("low:Q", title=UNIT, axis=alt.Axis(tickCount=6))
    channels = {"y": y, "y2": "high:Q", **_color(chart, rows)}
    if not has_times:
        base = alt.Chart(rows).mark_bar()
        return base.encode(x=alt.X("x:O", title=None), **channels, tooltip=_tooltip(chart, "x:O"))
    moments = pd.Series(rows["x"].unique()).sort_values()
    step = moments.diff().min() if len(moments) > 1 else pd.Timedelta(days=1)
    half = step * bar_width(len(moments)) / 2
    rows["begin"], rows["end"] = rows["x"] - half, rows["x"] + half
    rows["when"] = name_times(rows["x"])
    base = alt.Chart(rows).mark_bar()
    return base.encode(x=_time("begin"), x2="end:T", **channels, tooltip=_tooltip(chart, "when:N"))


def _band(chart: Chart, rows: pd.DataFrame) -> Any:
    rows = rows.assign(when=name_times(rows["x"]))
    base, x = alt.Chart(rows), _time("x")
    area = base.mark_area(opacity=0.22, color=PALETTE[0]).encode(
        x=x, y=alt.Y("low:Q", title=UNIT, axis=alt.Axis(tickCount=6)), y2="high:Q"
    )
    figures = [
        alt.Tooltip(f"{name}:Q", title=title, format=",.6~f")
        for name, title in (("y", UNIT), ("low", "at least"), ("high", "at most"))
    ]
    line = base.mark_line(color=PALETTE[0], strokeWidth=2.5, point=len(rows) == 1).encode(
        x=x, y="y:Q", tooltip=[alt.Tooltip("when:N", title=chart.x), *figures]
    )
    last = rows.tail(1).assign(text=[number(float(rows["y"].iloc[-1]))])
    end = alt.Chart(last).mark_text(align="left", dx=5, fontSize=13, color=INK)
    layers = area + line + end.encode(x=x, y="y:Q", text="text:N")
    if chart.line is None or _level_note(chart, rows):
        return layers
    level, name = chart.line
    base = alt.Chart(pd.DataFrame({"y": [level], "text": [f"{name} {number(level)}"]}))
    rule = base.mark_rule(color=PALETTE[3], strokeDash=[5, 3], size=2).encode(y="y:Q")
    text = base.mark_text(align="left", dx=4, dy=-8, fontSize=13, color=PALETTE[3])
    return layers + rule + text.encode(y="y:Q", x=alt.value(0), text="text:N")


_KINDS = {"bars": _bars, "columns": _columns, "band": _band}


def _level_note(chart: Chart, rows: pd.DataFrame) -> str:
    """Return a note about a level that is too high to be drawn: it would flatten the rest."""
    if chart.line is None or rows.empty or is_drawable(chart.line[0], rows):
        return ""
    return f"{chart.line[1]}, above this chart: {number(chart.line[0])}"


def _time(name: str) -> Any:
    """Return a time axis in UTC, whatever the browser's zone is."""
    axis = alt.Axis(tickCount=8, labelOverlap=True, grid=False)
    return alt.X(f"{name}:T", title=None, scale=alt.Scale(type="utc"), axis=axis)


def _rank(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with the rank of their group, so that the largest is stacked first."""
    ranks = {name: rank for rank, name in enumerate(sort_colors(rows))}
    return rows.assign(rank=rows["color"].map(ranks))


def _color(chart: Chart, rows: pd.DataFrame) -> dict[str, Any]:
    if chart.color is None:
        return {"color": alt.value(PALETTE[0])}
    names = sort_colors(rows)
    scale = alt.Scale(domain=names, range=list(PALETTE[: len(names)]))
    return {"color": alt.Color("color:N", scale=scale, title=chart.color)}


def _tooltip(chart: Chart, name: str) -> list[Any]:
    amount = "sum(y):Q" if chart.kind == "bars" else "y:Q"
    return [
        alt.Tooltip(name, title=chart.x),
        *([alt.Tooltip("color:N", title=chart.color)] if chart.color else []),
        alt.Tooltip(amount, title=UNIT, format=",.6~f"),
    ]
