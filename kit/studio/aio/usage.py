"""The awaited ledger of an account: its newest entries as a list or as a table.

The blocking face is made from this module by `tests/sync_face.py`.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from kit import wire
from kit.client import calls, flows
from kit.client.actions import Flow, map_result
from kit.studio.views import EntryList

if TYPE_CHECKING:
    import pandas as pd

    from kit.client.aio import AsyncClient


class AsyncUsage:
    """The account's ledger, where the service has one."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def list(self, limit: int | None = 50) -> builtins.list[wire.Entry]:
        """Return the newest entries, at most `limit`; None asks for all."""
        return EntryList(await self._client.run(flows.listing(calls.list_usage(), limit)))

    async def frame(self, limit: int | None = 1000) -> pd.DataFrame:
        """Return the newest entries as a table; see `kit.explore.frames.ledger`."""
        return await self._client.run(_frame(limit))


def _frame(limit: int | None) -> Flow[pd.DataFrame]:
    from kit.explore import frames

    few = calls.list_usage(limit=min(limit or 1000, 1000))
    return map_result(flows.listing(few, limit), frames.ledger)
