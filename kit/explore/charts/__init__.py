"""Charts: a frame drawn as its spec says, by matplotlib or by Altair; both come with an extra."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kit.errors import ConfigError, require_extra

if TYPE_CHECKING:
    import pandas as pd

    from kit.explore.charts.spec import Chart

__all__ = ["draw"]

#: Engine -> the module that draws with it, and the extra that brings it.
_ENGINES = {
    "matplotlib": ("kit.explore.charts.figures", "charts"),
    "altair": ("kit.explore.charts.vega", "altair"),
}


def draw(chart: Chart, frame: pd.DataFrame, engine: str = "matplotlib", **options: Any) -> Any:
    """Return a frame drawn.

    Raises
    ------
    ConfigError
        There is no such engine, or it is not installed.
    """
    if engine not in _ENGINES:
        raise ConfigError(f"charts are drawn by {' or '.join(_ENGINES)}, not by {engine!r}")
    name, extra = _ENGINES[engine]
    with require_extra(extra, "a chart"):
        module = import_module(name)
    return module.draw(chart, frame, **options)
