"""The writers that a service can have: who stands behind `kit.service.domain.writing.Writer`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from kit.service.domain.writing import Brief, Draft
from kit.wire import Title


@dataclass(frozen=True, slots=True)
class OfflineWriter:
    """Writes from the built-in bank, without a network.

    Parameters
    ----------
    rate : float
        Syllables a second of whoever will read the text aloud.
    """

    rate: float

    def title(self, topic: str, *, seed: int, avoid: Collection[str]) -> Title:
        """Return a title of a topic that is not among `avoid` while there are others."""
        from kit.engines.text import offline  # with its bank; a service starts without it

        return offline.suggest_title(topic, seed=seed, avoid=avoid)

    def scripts(self, brief: Brief, *, seed: int) -> Sequence[Draft]:
        """Return one draft a variation."""
        from kit.engines.text import offline

        order = offline.Order(
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
        return [self._measured(text) for text in offline.write_scripts(order, seed=seed)]

    def _measured(self, text: str) -> Draft:
        from kit.engines.text import speech

        return Draft(text, speech.seconds(text, rate=self.rate), len(speech.words(text)))
