"""Charts by Altair, drawn without a network; interactive where anywidget is installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import altair as alt
import pandas as pd

from kit.explore.charts.spec import PALETTE, Chart, drawn

#: Renderers that load their parts from a network; JupyterLab shows them as an error without one.
_ONLINE = ("default", "html")


def draw(chart: Chart, frame: pd.DataFrame, *, width: int = 560, height: int | None = None) -> Any:
    """Return a chart of Altair; the renderer that works offline is chosen unless another one was.

    Parameters
    ----------
    width, height : int
        Pixels of the plot; bars are 24 pixels high where no height is given.
    """
    if alt.renderers.active in _ONLINE:
        _go_offline()
    rows = drawn(chart, frame)
    made = _KINDS[chart.kind](chart, rows)
    size = {"width": width, "height": height or (alt.Step(24) if chart.kind == "bars" else 260)}
    title = alt.TitleParams(chart.title, anchor="start", fontSize=15)
    return (
        made.properties(title=title, **size)
        .configure_axis(labelFontSize=13, titleFontSize=13, gridColor="#E3E3E3", labelLimit=260)
        .configure_legend(labelFontSize=13, titleFontSize=13)
        .configure_view(stroke=None)
    )


def _go_offline() -> None:
    """Choose the renderer for interaction where its widget is installed, else a still picture."""
    if find_spec("anywidget") is None:
        alt.renderers.enable("svg")
    else:
        alt.renderers.enable("jupyter", offline=True)


def _bars(chart: Chart, rows: pd.DataFrame) -> Any:
    order = list(dict.fromkeys(rows["x"]))
    return (
        alt.Chart(rows)
        .mark_bar()
        .encode(
            y=alt.Y("x:N", sort=order, title=None),
            x=alt.X("sum(y):Q", title=chart.unit),
            **_color(chart, rows),
            tooltip=_tooltip(chart),
        )
    )


def _columns(chart: Chart, rows: pd.DataFrame) -> Any:
    timed = pd.api.types.is_datetime64_any_dtype(rows["x"])
    return (
        alt.Chart(rows)
        .mark_bar()
        .encode(
            x=alt.X("x:T" if timed else "x:O", title=None),
            y=alt.Y("sum(y):Q", title=chart.unit),
            **_color(chart, rows),
            tooltip=_tooltip(chart, "T" if timed else "O"),
        )
    )


def _band(chart: Chart, rows: pd.DataFrame) -> Any:
    whole = alt.Chart(rows)
    x = alt.X("x:T", title=None)
    area = whole.mark_area(opacity=0.22, color=PALETTE[0]).encode(
        x=x, y=alt.Y("low:Q", title=chart.unit), y2="high:Q"
    )
    line = whole.mark_line(color=PALETTE[0], strokeWidth=2.5).encode(
        x=x, y="y:Q", tooltip=["x:T", "y:Q", "low:Q", "high:Q"]
    )
    if chart.line is None:
        return area + line
    level = pd.DataFrame({"y": [chart.line[0]], "name": [chart.line[1]]})
    rule = alt.Chart(level).mark_rule(color=PALETTE[3], strokeDash=[5, 3], size=2)
    return area + line + rule.encode(y="y:Q", tooltip=["name:N", "y:Q"])


_KINDS = {"bars": _bars, "columns": _columns, "band": _band}


def _color(chart: Chart, rows: pd.DataFrame) -> dict[str, Any]:
    if chart.color is None:
        return {"color": alt.value(PALETTE[0])}
    sizes = rows.groupby("color")["y"].sum().abs().sort_values(ascending=False)
    scale = alt.Scale(domain=list(sizes.index), range=list(PALETTE))
    return {"color": alt.Color("color:N", scale=scale, title=chart.color)}


def _tooltip(chart: Chart, kind: str = "N") -> list[Any]:
    return [
        alt.Tooltip(f"x:{kind}", title=chart.x),
        *([alt.Tooltip("color:N", title=chart.color)] if chart.color else []),
        alt.Tooltip("sum(y):Q", title=chart.unit, format=",.3~f"),
    ]
