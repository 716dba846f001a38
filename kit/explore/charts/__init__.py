"""Charts: dataframes with a default plot in matplotlib or Altair.

A chart is data; the plotting packages come with an extra.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.plotting import PlotAccessor

from kit.errors import ConfigError, require_extra
from kit.explore.frames import write_excel

#: Colors that people with any kind of color vision can distinguish, the strongest first.
#: Source: M. Okabe and K. Ito, "Color Universal Design" (2008); yellow is too faint on white.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#595959")
#: Maximum of groups with their own colors, and of bars; the others are summed up.
MAX_SERIES, MAX_BARS = len(PALETTE) - 1, 24
#: Up to this many times are labeled singly: an axis of so few would show hours between days.
MAX_LABELED_TIMES = 3
REST = "the rest"
#: The unit of all numbers.
UNIT = "credits"
#: Colors of text and lines, legible on white and on dark notebooks: charts are transparent.
INK, GRID = "#7A7A7A", "#88888850"
#: Engine -> the module that draws with it, and the extra that installs it.
_ENGINES = {
    "matplotlib": ("kit.explore.charts.figures", "charts"),
    "altair": ("kit.explore.charts.vega", "altair"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """The description of a dataframe's plot."""

    #: ``columns`` (vertical, along a time axis), ``bars`` (horizontal, one per name) or ``band`` (a
    #: line between two others).
    kind: str
    x: str  # the column of categories or times
    y: str  # the column of numbers
    title: str
    color: str | None = None  # the column whose values are stacked in different colors
    low: str | None = None  # columns of the band's edges
    high: str | None = None
    line: tuple[float, str] | None = None  # a reference level, and its label
    leave_out: tuple[str, Any] | None = None  # rows with this value in this column are not drawn
    #: Each row is its own bar, with its number: rows with equal names are not added up.
    ranked: bool = False

    @property
    def columns(self) -> set[str]:
        """The columns that a frame must have to be drawn."""
        found = {self.x, self.y, self.color, self.low, self.high}
        return {name for name in found if name is not None}


class CostPlot(PlotAccessor):
    """``plot()`` draws the default chart; ``plot.bar()`` and other kinds are those of pandas."""

    def __init__(self, frame: CostFrame) -> None:
        super().__init__(frame)
        self._frame = frame

    def __call__(self, engine: str = "matplotlib", **options: Any) -> Any:
        """Return a chart of the frame.

        The `engine` is ``matplotlib``, or ``altair`` for an interactive chart that works offline.
        Options are ``width`` and ``height`` in inches (matplotlib, also as ``figsize``) or pixels
        (altair). With ``kind``, ``x`` or ``y``, pandas draws its own plot. Raises `ConfigError` if
        an option is unknown, or the plotting package is not installed.
        """
        chart = self._frame.chart
        by_kind = not options.keys().isdisjoint(("kind", "x", "y"))
        if chart is None or by_kind or not chart.columns <= set(self._frame.columns):
            return super().__call__(**options)
        if unknown := options.keys() - {"width", "height", "figsize"}:
            raise ConfigError(f"{min(unknown)!r} is for plots of pandas: add x, y or kind")
        return draw(chart, pd.DataFrame(self._frame), engine, **options)


class CostFrame(pd.DataFrame):
    """A pandas dataframe with a default chart, drawn by `plot()`.

    Filtering and sorting keep the chart; without the chart's columns, pandas draws its own plot.
    """

    _metadata = ["chart"]  # noqa: RUF012 - pandas reads this name of the class
    chart: Chart | None = None

    @property
    def _constructor(self) -> Callable[..., CostFrame]:
        return CostFrame

    @property
    def plot(self) -> CostPlot:
        """Draws the default chart when called; also has pandas' kinds, such as ``plot.bar()``."""
        return CostPlot(self)

    # pandas' own refuses times with a time zone
    def to_excel(  # type: ignore[override,misc]
        self, path: Path | str | pd.ExcelWriter[Any], **options: Any
    ) -> None:
        """Write the frame to an ``.xlsx`` file or sheet; see `kit.explore.frames.write_excel`."""
        write_excel(self, path, **options)


def with_chart(frame: pd.DataFrame, chart: Chart) -> CostFrame:
    """Return a frame with its chart."""
    result = CostFrame(frame)
    result.chart = chart
    return result


def draw(chart: Chart, frame: pd.DataFrame, engine: str = "matplotlib", **options: Any) -> Any:
    """Draw a frame as a chart; raises `ConfigError` if the engine is unknown or not installed."""
    if engine not in _ENGINES:
        raise ConfigError(f"charts are drawn by {' or '.join(_ENGINES)}, not by {engine!r}")
    name, extra = _ENGINES[engine]
    with require_extra(extra, "a chart"):
        module = import_module(name)
    return module.draw(chart, frame, **options)


def rows_to_draw(chart: Chart, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows to draw, a legible number of them: one for each bar and color.

    Columns: ``x``, ``y`` and ``color`` (text, empty without one); for a band ``low``, ``high``.
    """
    if chart.leave_out and chart.leave_out[0] in frame:
        frame = frame[frame[chart.leave_out[0]] != chart.leave_out[1]]
    frame = frame[frame[chart.y].notna()]  # an unknown amount is not 0
    if isinstance(frame[chart.x].dtype, pd.DatetimeTZDtype):  # drawn in local time
        frame = frame.assign(**{chart.x: frame[chart.x].dt.tz_localize(None)})
    if chart.kind == "band":
        names = {"x": chart.x, "y": chart.y, "low": chart.low, "high": chart.high}
        return pd.DataFrame({name: frame[column] for name, column in names.items()})
    rows = pd.DataFrame({"x": frame[chart.x], "y": frame[chart.y].astype("float64")})
    rows["color"] = _name_values(frame[chart.color]) if chart.color else ""
    if chart.kind == "bars":
        rows["x"] = _name_values(rows["x"])
        if chart.ranked:
            rows["x"] = [f"{rank}. {name}" for rank, name in enumerate(rows["x"], 1)]
        rows["x"] = _merge_small(rows, "x", MAX_BARS)
    elif rows["x"].nunique() <= MAX_LABELED_TIMES:
        rows["x"] = _name_values(rows["x"])
    rows["color"] = _merge_small(rows, "color", MAX_SERIES)
    sums = rows.groupby(["x", "color"], sort=chart.kind == "columns")["y"].sum().reset_index()
    is_summed = chart.kind == "bars" and rows["x"].nunique() < len(rows)
    if is_summed and chart.x != "weekday":  # sums are sorted again
        order = sums.groupby("x")["y"].transform("sum")
        sums = sums.loc[order.sort_values(ascending=False, kind="stable").index]
    texts = {name: _shorten(sums[name]) for name in ("x", "color") if sums[name].dtype.kind != "M"}
    return sums.assign(**texts).reset_index(drop=True)


def sort_colors(rows: pd.DataFrame) -> list[str]:
    """Return the groups with their own colors, the largest first."""
    return list(rows["y"].abs().groupby(rows["color"]).sum().sort_values(ascending=False).index)


def empty_text(chart: Chart, rows: pd.DataFrame) -> str:
    """Return the text shown if there is nothing to draw, else an empty one."""
    if rows.empty:
        return "nothing to draw"
    if chart.kind == "bars" and not rows["y"].any():
        return f"0 {UNIT} in all {len(rows)} rows"
    return ""


def is_drawable(level: float, rows: pd.DataFrame) -> bool:
    """Whether a level can be drawn with a band without flattening it."""
    return level <= 3 * float(rows["high"].max() or 1)


def bar_range(totals: pd.Series[Any]) -> tuple[float, float]:
    """Return the range of horizontal bars, with space for the numbers next to them."""
    low, high = min(0.0, float(totals.min())), max(0.0, float(totals.max()))
    margin = 0.16 * (high - low)
    return low - margin if low < 0 else 0.0, high + margin if high > 0 else 0.0


def bar_width(count: int) -> float:
    """Return the relative width of vertical bars; gaps finer than pixels would pale the colors."""
    return 0.8 if count <= 120 else 1.0


def number(value: float) -> str:
    """Format a number for a chart."""
    text = f"{value:,.{2 if abs(value) >= 100 else 3 if abs(value) >= 0.01 else 6}f}".rstrip(
        "0"
    ).rstrip(".")
    return "0" if text in ("-0", "") else text


def name_times(moments: pd.Series[Any]) -> pd.Series[Any]:
    """Return times as text, with hours only if there are any."""
    are_days = (moments == moments.dt.normalize()).where(moments.notna(), True).all()
    form = "%Y-%m-%d" if are_days else "%Y-%m-%d %H:%M"
    # its own strftime warns in pandas 2.2 if texts are inferred
    return moments.map(lambda moment: moment.strftime(form), na_action="ignore")


def _name_values(values: pd.Series[Any]) -> pd.Series[Any]:
    """Return values as texts."""
    if pd.api.types.is_datetime64_any_dtype(values):
        values = name_times(values)
    return values.astype("object").where(values.notna(), "none").astype(str)


def _shorten(texts: pd.Series[Any]) -> pd.Series[Any]:
    """Return texts short enough for labels; different ones stay different."""
    names: dict[str, str] = {}
    for text in texts.unique():
        name = text if len(text) <= 36 else f"{text[:20]}…{text[-15:]}"
        same = sum(one.startswith(name) for one in names.values()) if name != text else 0
        names[text] = f"{name} ({same + 1})" if same else name
    return texts.map(names)


def _merge_small(rows: pd.DataFrame, column: str, most: int) -> pd.Series[Any]:
    """Return a column in which all but the largest values are merged."""
    sizes = rows.assign(size=rows["y"].abs()).groupby(column, sort=False)["size"].sum()
    if len(sizes) <= most:
        return rows[column]
    largest = set(sizes.sort_values(ascending=False).index[: most - 1])
    return rows[column].where(rows[column].isin(largest), REST)
