"""The awaited titles and scripts.

The blocking face is made from this module by `tests/sync_face.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kit import wire
from kit.studio.writing import ScriptList, script_request

if TYPE_CHECKING:
    from kit.client.aio import AsyncClient
    from kit.studio.billing import Billing


class AsyncTitles:
    """Titles for a topic."""

    def __init__(self, client: AsyncClient, billing: Billing) -> None:
        self._client, self._billing = client, billing

    async def suggest(self, topic: str) -> wire.Title:
        """Return a title with its hook angle; 0.05 credits.

        Source: API document, operation 8. Topics: `kit.wire.TOPICS`.
        """
        return await self._client.run(self._billing.title(topic))


class AsyncScripts:
    """Voice-over scripts for a title."""

    def __init__(self, client: AsyncClient, billing: Billing) -> None:
        self._client, self._billing = client, billing

    async def write(
        self,
        topic: str,
        title: str | wire.Title,
        duration: float | str = 30,
        *,
        hook_angle: str | None = None,
        use_hook: bool = False,
        use_cta: bool = False,
        use_ragebait: bool = False,
        variations: int = 1,
    ) -> ScriptList:
        """Return one script or two; 0.15 credits each.

        Parameters
        ----------
        title : str or Title
            A suggested title brings its hook angle along.
        duration : int
            Seconds that the text should take to speak.

        Source: API document, operation 9.
        """
        order = script_request(
            topic, title, duration, hook_angle, use_hook, use_cta, use_ragebait, variations
        )
        found = await self._client.run(self._billing.scripts(order))
        return ScriptList(found)
