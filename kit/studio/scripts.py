"""Titles and scripts: how both faces order them, and what they return."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kit import wire
from kit.errors import ParameterError

if TYPE_CHECKING:
    from kit.client.aio import AsyncClient
    from kit.client.sync import Client
    from kit.studio.till import Till


def script_order(
    topic: str,
    title: str | wire.Title,
    duration: float | str,
    hook_angle: str | None,
    use_hook: bool,
    use_cta: bool,
    use_ragebait: bool,
    variations: int,
) -> wire.WriteScripts:
    """Return the body of operation 9, with numbers as the text that the wire wants.

    Raises
    ------
    ParameterError
        The duration is no whole number of seconds, or there would be neither one nor two scripts.
    """
    if variations not in (1, 2):
        raise ParameterError(f"variations must be 1 or 2, not {variations!r}")
    suggested = title if isinstance(title, wire.Title) else wire.Title(title=title)
    return wire.WriteScripts(
        topic=topic,
        title=suggested.title,
        duration=_seconds(duration),
        hook_angle=hook_angle or suggested.hook_angle or None,
        use_hook=use_hook,
        use_cta=use_cta,
        use_ragebait=use_ragebait,
        variations=str(variations),
    )


def _seconds(duration: float | str) -> str:
    try:
        whole = float(duration)
    except (TypeError, ValueError):
        whole = 0.5
    if not whole.is_integer() or whole <= 0:
        raise ParameterError(f"duration must be a whole number of seconds, not {duration!r}")
    return str(int(whole))


class ScriptList(list[wire.Script]):
    """The scripts of one request, shown side by side in a notebook."""

    def _repr_html_(self) -> str:
        from kit.widgets import preview

        return "".join(map(preview.script, self))


class Titles:
    """Titles for a topic."""

    def __init__(self, client: Client, till: Till) -> None:
        self._client, self._till = client, till

    def suggest(self, topic: str) -> wire.Title:
        """Return a title with its hook angle; 0.05 credits.

        Source: API document, operation 8. Topics: `kit.wire.TOPICS`.
        """
        return self._client.run(self._till.title(topic))


class Scripts:
    """Voice-over scripts for a title."""

    def __init__(self, client: Client, till: Till) -> None:
        self._client, self._till = client, till

    def write(
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
        order = script_order(
            topic, title, duration, hook_angle, use_hook, use_cta, use_ragebait, variations
        )
        found = self._client.run(self._till.scripts(order))
        return ScriptList(found)


class AsyncTitles:
    """Titles for a topic."""

    def __init__(self, client: AsyncClient, till: Till) -> None:
        self._client, self._till = client, till

    async def suggest(self, topic: str) -> wire.Title:
        """Return a title with its hook angle; 0.05 credits.

        Source: API document, operation 8. Topics: `kit.wire.TOPICS`.
        """
        return await self._client.run(self._till.title(topic))


class AsyncScripts:
    """Voice-over scripts for a title."""

    def __init__(self, client: AsyncClient, till: Till) -> None:
        self._client, self._till = client, till

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
        order = script_order(
            topic, title, duration, hook_angle, use_hook, use_cta, use_ragebait, variations
        )
        found = await self._client.run(self._till.scripts(order))
        return ScriptList(found)
