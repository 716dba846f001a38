"""Charts by matplotlib, without pyplot: no global state, safe in threads and callbacks."""

from __future__ import annotations

import io
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

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
    number,
    rows_to_draw,
    sort_colors,
)

_FONT_SIZE = 10.5


class ChartPicture(Figure):
    """A figure that displays itself in a notebook with a transparent background, without pyplot."""

    def __repr__(self) -> str:
        return f"<Chart {self.axes[0].get_title(loc='left')}>" if self.axes else "<Chart>"

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=160)
        width = round(float(self.get_size_inches()[0]) * 96)
        shown = {"text/plain": repr(self), "image/png": buffer.getvalue()}
        return shown, {"image/png": {"width": width}}


def draw(
    chart: Chart,
    frame: pd.DataFrame,
    *,
    width: float = 7.2,
    height: float | None = None,
    figsize: tuple[float, float] | None = None,
) -> ChartPicture:
    """Return a chart as a figure.

    `width`, `height`: inches; the default height depends on the number of bars.
    `figsize`: both, as in pandas.
    """
    if figsize:
        width, height = figsize
    rows = rows_to_draw(chart, frame)
    if height is None:
        height = 1.4 + 0.3 * max(2, rows["x"].nunique()) if chart.kind == "bars" else 3.6
    figure = ChartPicture(figsize=(width, height), layout="constrained", facecolor="none")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot(facecolor="none")
    if words := empty_text(chart, rows):
        axes.text(0.5, 0.5, words, ha="center", va="center", color=INK, fontsize=_FONT_SIZE)
        axes.set_axis_off()
    else:
        _KINDS[chart.kind](axes, chart, rows)
        _style_axes(axes, chart)
    axes.set_title(chart.title, loc="left", fontsize=12.5, fontweight="bold", color=INK, pad=12)
    return figure


def _bars(axes: Axes, chart: Chart, rows: pd.DataFrame) -> None:
    table = _stack(rows)
    positions, starts = range(len(table)), _segment_starts(table)
    for index, name in enumerate(table.columns):
        axes.barh(
            positions,
            table[name],
            left=starts[name],
            height=min(0.68, 0.3 * len(table)),
            color=PALETTE[index],
            label=name,
        )
    low, high = (table.clip(upper=0).sum(axis=1), table.clip(lower=0).sum(axis=1))
    longest = float(max(high.max(), -low.min())) or 1.0
    for index, total in enumerate(table.sum(axis=1)):
        side = "right" if total < 0 else "left"
        end = low.iloc[index] - 0.012 * longest if total < 0 else high.iloc[index] + 0.012 * longest
        axes.text(end, index, number(total), va="center", ha=side, fontsize=_FONT_SIZE, color=INK)
    axes.set_yticks(positions, list(table.index))
    axes.set_ylim(len(table) - 0.4, -0.6)
    # margins are not enough: bars of length zero stick to the edge
    axes.set_xlim(bar_range(pd.concat([low, high])))
    if (low < 0).any():
        axes.axvline(0, color=INK, linewidth=0.8)


def _columns(axes: Axes, chart: Chart, rows: pd.DataFrame) -> None:
    table = _stack(rows)
    positions: Any = list(range(len(table)))
    width = bar_width(len(table))
    if has_times := isinstance(table.index, pd.DatetimeIndex):
        positions = table.index.to_pydatetime()
        if len(table) > 1:
            width *= table.index.diff().min() / pd.Timedelta(days=1)
    starts = _segment_starts(table)
    for index, name in enumerate(table.columns):
        color = PALETTE[index]
        axes.bar(positions, table[name], bottom=starts[name], width=width, color=color, label=name)
    if has_times:
        _format_dates(axes)
    else:
        axes.set_xticks(positions, list(table.index))
        axes.set_xlim(-0.6, max(len(table), 3) - 0.4)


def _band(axes: Axes, chart: Chart, rows: pd.DataFrame) -> None:
    days = list(rows["x"])
    axes.fill_between(days, rows["low"], rows["high"], color=PALETTE[0], alpha=0.22, linewidth=0)
    dot = "o" if len(days) == 1 else ""
    axes.plot(days, rows["y"], color=PALETTE[0], linewidth=2.2, marker=dot)
    last = rows.iloc[-1]
    text = f" {number(float(last['y']))}"
    axes.annotate(text, (days[-1], last["y"]), fontsize=_FONT_SIZE, color=INK, va="center")
    axes.set_ylim(bottom=0)
    if chart.line:
        level, name = chart.line
        is_drawn = is_drawable(level, rows)
        axes.set_ylim(top=max(axes.get_ylim()[1], 1.1 * level if is_drawn else 0.0))
        if is_drawn:
            axes.axhline(level, color=PALETTE[3], linewidth=1.6, linestyle=(0, (5, 3)))
        note = name if is_drawn else f"{name}, above this chart:"
        axes.annotate(
            f"{note} {number(level)}",
            (0.01, level if is_drawn else 1.0),
            xycoords=("axes fraction", "data" if is_drawn else "axes fraction"),
            xytext=(0, 4 if is_drawn else -12),
            textcoords="offset points",
            fontsize=_FONT_SIZE,
            color=PALETTE[3],
        )
    _format_dates(axes)
    axes.margins(x=0.06)


_KINDS = {"bars": _bars, "columns": _columns, "band": _band}


def _stack(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row per bar and one column per color, the colors by size."""
    order = rows["x"].drop_duplicates()
    table = rows.pivot(index="x", columns="color", values="y").fillna(0.0)
    return table.loc[list(order), sort_colors(rows)]


def _segment_starts(table: pd.DataFrame) -> pd.DataFrame:
    """Return the start of each segment: negative ones are stacked downward."""
    below = table.clip(upper=0).cumsum(axis=1)
    return table.clip(lower=0).cumsum(axis=1).where(table >= 0, below) - table


def _style_axes(axes: Axes, chart: Chart) -> None:
    """Style the axes: a grid along the numbers, no box, the unit, and a legend."""
    is_horizontal = chart.kind == "bars"
    for side, spine in axes.spines.items():
        spine.set_visible(not is_horizontal and side in ("left", "bottom"))
        spine.set_color(GRID)
    axes.tick_params(colors=INK, labelsize=_FONT_SIZE, length=0)
    axes.grid(axis="x" if is_horizontal else "y", color=GRID, linewidth=0.9)
    axes.set_axisbelow(True)
    numbers = axes.xaxis if is_horizontal else axes.yaxis
    numbers.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    numbers.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    numbers.set_label_text(UNIT, fontsize=_FONT_SIZE, color=INK)
    if chart.color:
        legend = axes.legend(
            title=chart.color,
            labelcolor=INK,
            frameon=False,
            fontsize=_FONT_SIZE,
            title_fontsize=_FONT_SIZE,
            loc="upper left",
            bbox_to_anchor=(1.08 if is_horizontal else 1.0, 1.0),  # after the numbers of bars
            alignment="left",
        )
        legend.get_title().set_color(INK)


def _format_dates(axes: Axes) -> None:
    locator: Any = AutoDateLocator(minticks=3, maxticks=8)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
