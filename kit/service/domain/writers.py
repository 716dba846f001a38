"""The writers that need no other service: who stands behind `kit.service.domain.writing.Writer`.

The one that asks a language model is `kit.service.writer`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from kit.errors import UnavailableError
from kit.service.domain.writing import Draft, ScriptBrief, Writer
from kit.wire import Title

#: What answers call the built-in writer.
OFFLINE = "offline"

_log = logging.getLogger("kit.service.writers")


@dataclass(frozen=True, slots=True)
class OfflineWriter:
    """Writes from the built-in bank, without a network.

    Parameters
    ----------
    rate : float
        Syllables a second of whoever will read the text aloud.
    """

    rate: float

    async def title(self, topic: str, *, seed: int, avoid: Sequence[str]) -> Title:
        """Return a title of a topic that is not among `avoid` while there are others."""
        title = await asyncio.to_thread(self._title, topic, seed, avoid)
        return title.model_copy(update={"writer": OFFLINE})

    async def scripts(self, brief: ScriptBrief, *, seed: int) -> Sequence[Draft]:
        """Return one draft a variation."""
        return await asyncio.to_thread(self._scripts, brief, seed)

    def _title(self, topic: str, seed: int, avoid: Sequence[str]) -> Title:
        from kit.engines.text import offline  # with its bank; a service starts without it

        return offline.suggest_title(topic, seed=seed, avoid=avoid)

    def _scripts(self, brief: ScriptBrief, seed: int) -> Sequence[Draft]:
        from kit.engines.text import offline

        order = offline.ScriptOrder(
            topic=brief.topic,
            title=brief.title,
            duration_seconds=brief.duration_seconds,
            hook_angle=brief.hook_angle,
            use_hook=brief.use_hook,
            use_cta=brief.use_cta,
            use_ragebait=brief.use_ragebait,
            variations=brief.variations,
            rate=self.rate,
        )
        texts = offline.write_scripts(order, seed=seed)
        return [measure_draft(text, self.rate, OFFLINE) for text in texts]


@dataclass(frozen=True, slots=True)
class FallbackWriter:
    """Lets one writer write, and another one where the first cannot; the answer says which did."""

    first: Writer
    second: Writer

    async def title(self, topic: str, *, seed: int, avoid: Sequence[str]) -> Title:
        """Return a title of whichever writer has one."""
        try:
            return await self.first.title(topic, seed=seed, avoid=avoid)
        except UnavailableError as error:
            _instead(error)
            return await self.second.title(topic, seed=seed, avoid=avoid)

    async def scripts(self, brief: ScriptBrief, *, seed: int) -> Sequence[Draft]:
        """Return one draft a variation, all of one writer."""
        try:
            return await self.first.scripts(brief, seed=seed)
        except UnavailableError as error:
            _instead(error)
            return await self.second.scripts(brief, seed=seed)


def measure_draft(text: str, rate: float, writer: str) -> Draft:
    """Return a text as a draft.

    Parameters
    ----------
    rate : float
        Syllables a second of whoever will read it aloud.
    """
    from kit.engines.text import speech

    return Draft(text, speech.seconds(text, rate=rate), len(speech.words(text)), writer)


def _instead(error: UnavailableError) -> None:
    facts = {"event": "writer_replaced", "why": error.message}
    _log.warning("the built-in writer writes instead: %(why)s", facts)
