"""What a history asks through: functions and an archive that it is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from kit import wire

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


class Item(Protocol):
    """Whatever holds a generation's facts."""

    @property
    def facts(self) -> wire.Generation:
        """The generation as the service last reported it."""


G = TypeVar("G", bound=Item)

#: What the filters of a list may be called. Source: contract, "Generations".
FILTERS = ("status", "asset_type", "model_id", "created_after", "created_before")


def to_frame(
    table: pa.Table, columns: Sequence[str] | None, parameters: bool, media: bool
) -> pd.DataFrame:
    """Return a table as a frame of some columns."""
    from kit.explore.columns import Columns

    return Columns(columns, parameters, media).frame(table)


def list_query(limit: int | None, filters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the query of a list; the default limit is not sent, services without one refuse it."""
    for name in filters:
        if name not in FILTERS:
            raise TypeError(f"there is no filter {name!r}; there is {', '.join(FILTERS)}")
    return {**filters, "limit": None if limit == 50 else min(limit or 1000, 1000)}
