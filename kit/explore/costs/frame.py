"""A frame that knows how it is drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.plotting import PlotAccessor

from kit.explore.charts import Chart
from kit.explore.frames import write_excel


class CostPlot(PlotAccessor):
    """Draws a frame: called as it is, our chart; by kind, as pandas does (``plot.bar()``)."""

    def __init__(self, frame: CostFrame) -> None:
        super().__init__(frame)
        self._frame = frame

    def __call__(self, engine: str = "matplotlib", **options: Any) -> Any:
        """Return a chart of the frame.

        Parameters
        ----------
        engine : str
            ``matplotlib`` for a `Figure` that shows itself, ``altair`` for a chart of Altair, drawn
            without a network, and interactive.
        **options
            For the engine: ``width`` and ``height`` in inches (matplotlib) or pixels (altair). Any
            of ``kind``, ``x`` and ``y`` means pandas' own plot.

        Raises
        ------
        ConfigError
            The package that draws it is not installed; the message says how to get it.
        """
        chart = self._frame.chart
        by_kind = not options.keys().isdisjoint(("kind", "x", "y"))
        if chart is None or by_kind or not chart.columns <= set(self._frame.columns):
            return super().__call__(**options)
        from kit.explore.charts import draw

        return draw(chart, pd.DataFrame(self._frame), engine, **options)


class CostFrame(pd.DataFrame):
    """A pandas frame whose `plot()` draws what the frame is about.

    Filtering and sorting keep the chart; a frame without the chart's columns is drawn by pandas.
    """

    _metadata = ["chart"]  # noqa: RUF012 - pandas reads this name of the class
    chart: Chart | None = None

    @property
    def _constructor(self) -> Callable[..., CostFrame]:
        return CostFrame

    @property
    def plot(self) -> CostPlot:
        """Our chart when called; pandas' kinds beside it, such as ``plot.bar(x="day")``."""
        return CostPlot(self)

    # pandas' own refuses days that know their time zone
    def to_excel(self, path: Path | str, **options: Any) -> None:  # type: ignore[override,misc]
        """Write the frame to an ``.xlsx`` file; see `kit.explore.frames.write_excel`."""
        write_excel(self, path, **options)


def with_chart(frame: pd.DataFrame, chart: Chart) -> CostFrame:
    """Return a frame with its chart."""
    result = CostFrame(frame)
    result.chart = chart
    return result
