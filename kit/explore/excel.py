"""Excel: a frame as a sheet, with moments as a clock shows them there, and texts as texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from kit.errors import BadRequestError, require_extra

#: Rows of a sheet below its head. Source: Microsoft, "Excel specifications and limits".
_ROWS = 1_048_575
#: A prompt that begins with an equals sign is no formula.
_TEXTS = {"options": {"strings_to_formulas": False, "strings_to_urls": False}}


def write_excel(frame: pd.DataFrame, path: Path | str, **options: Any) -> None:
    """Write a frame to an ``.xlsx`` file.

    Parameters
    ----------
    **options
        Those of ``DataFrame.to_excel``.

    Raises
    ------
    BadRequestError
        There are more rows than a sheet has.
    ConfigError
        The package that writes it is not installed; the message says how to get it.
    """
    if len(frame) > _ROWS:
        raise BadRequestError(
            f"a sheet of Excel has at most {_ROWS:,} rows, and these are {len(frame):,}: "
            "choose fewer, or export to .parquet"
        )
    plain = pd.DataFrame(frame)
    for name in plain.select_dtypes("datetimetz").columns:  # Excel knows no time zones
        plain[name] = plain[name].dt.tz_localize(None)
    with require_extra("excel", "a file of Excel"):
        writer = pd.ExcelWriter(path, engine="xlsxwriter", engine_kwargs=_TEXTS)
    with writer:
        plain.to_excel(writer, **{"freeze_panes": (1, 0), **options})
