"""A frame that knows how it is drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from kit.explore.charts.spec import Chart


class CostFrame(pd.DataFrame):
    """A pandas frame whose `plot` draws what the frame is about.

    Filtering and sorting keep the chart; a frame without the chart's columns is drawn by pandas.

    Parameters
    ----------
    chart : Chart or None
        How it is drawn.
    """

    _metadata = ["chart"]  # noqa: RUF012 - pandas reads this name of the class
    chart: Chart | None = None

    @property
    def _constructor(self) -> Callable[..., CostFrame]:
        return CostFrame

    def plot(self, engine: str = "matplotlib", **options: Any) -> Any:  # type: ignore[override]
        """Return a chart of this frame.

        Parameters
        ----------
        engine : str
            ``matplotlib`` for a `Figure` that shows itself, ``altair`` for a chart of Altair, drawn
            without a network, and interactive.
        **options
            For the engine: ``width`` and ``height`` in inches (matplotlib) or pixels (altair).

        Raises
        ------
        ConfigError
            The package that draws it is not installed; the message says how to get it.
        """
        if self.chart is None or not self.chart.columns <= set(self.columns):
            return super().plot(**options)
        from kit.explore.charts import draw

        return draw(self.chart, pd.DataFrame(self), engine, **options)


def with_chart(frame: pd.DataFrame, chart: Chart) -> CostFrame:
    """Return a frame with its chart."""
    result = CostFrame(frame)
    result.chart = chart
    return result
