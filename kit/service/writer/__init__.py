"""The writer of titles and scripts: the language model of the settings, or the built-in one.

Responses of a model are not trusted: they are parsed leniently, checked and measured, and requested
once more if they do not fit. Only `client` uses httpx and sends the key.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial

from kit.service.domain.writing import Draft, ScriptBrief, Writer
from kit.service.settings import ServiceSettings
from kit.wire import Title

#: The name of the built-in writer in responses.
OFFLINE = "offline"


def create_writer(settings: ServiceSettings) -> Writer:
    """Return the writer according to the settings."""
    if not settings.writer_url:
        return BuiltInWriter(settings.speech_rate)
    # Imports an HTTP client, which a service without a language model does not need.
    from kit.service.writer.client import parse_endpoint
    from kit.service.writer.model import ModelWriter

    return ModelWriter(
        parse_endpoint(settings.writer_url, settings.writer_model, settings.writer_key),
        rate=settings.speech_rate,
        seconds=settings.writer_seconds,
    )


@dataclass(frozen=True, slots=True)
class BuiltInWriter:
    """Writes from the built-in collection of texts, offline."""

    rate: float
    #: One thread, because writing uses the processor: more threads would only delay other requests.
    _thread: Executor = field(
        default_factory=partial(ThreadPoolExecutor, 1, "kit-writer"), repr=False, compare=False
    )

    async def title(self, topic: str, *, seed: int, avoid: Sequence[str]) -> Title:
        """Return a title of a topic that is not in `avoid`, if there are others."""
        loop = asyncio.get_running_loop()
        title = await loop.run_in_executor(self._thread, self._title, topic, seed, avoid)
        return title.model_copy(update={"writer": OFFLINE})

    async def scripts(self, brief: ScriptBrief, *, seed: int) -> Sequence[Draft]:
        """Return one draft per variation."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._scripts, brief, seed)

    def _title(self, topic: str, seed: int, avoid: Sequence[str]) -> Title:
        from kit.engines.text import offline  # large; not needed at the start

        return offline.suggest_title(topic, seed=seed, avoid=avoid)

    def _scripts(self, brief: ScriptBrief, seed: int) -> Sequence[Draft]:
        from kit.engines.text import offline
        from kit.service.writer.text import measure_draft

        order = offline.ScriptOrder(**asdict(brief), rate=self.rate)
        texts = offline.write_scripts(order, seed=seed)
        return [measure_draft(text, self.rate, OFFLINE) for text in texts]
