"""The model writer: titles and scripts of a language model, checked before delivery."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeVar

from pydantic import BaseModel, Field

from kit.errors import UnavailableError
from kit.service.domain.writing import Draft, ScriptBrief, normalize
from kit.service.writer import prompts
from kit.service.writer.client import ChatClient, ChatEndpoint, order_error
from kit.service.writer.structured_output import (
    Message,
    RejectedError,
    ResponseFormats,
    parse_answer,
)
from kit.service.writer.text import Length, clean_title, is_similar, make_speakable, measure_draft
from kit.wire import Title

T = TypeVar("T")
_Ask = Callable[[Sequence[Message]], Awaitable[str]]

#: Maximum of characters of an acceptable text; three minutes have about three thousand.
_MAX_TEXT_LENGTH = 10_000
_MAX_LINE_LENGTH = 1_000
#: Maximum of concurrent orders; further ones wait, within their own deadline.
_MAX_ORDERS = 32

_log = logging.getLogger("kit.service.writer")


class ModelWriter:
    """Writes with a language model; it ignores seeds."""

    def __init__(self, endpoint: ChatEndpoint, *, rate: float, seconds: float) -> None:
        self._endpoint = endpoint
        self._rate = rate
        self._seconds = seconds
        self._formats = ResponseFormats()
        self._slots = asyncio.Semaphore(_MAX_ORDERS)
        self.name = f"model:{endpoint.model}"

    async def title(self, topic: str, *, seed: int, avoid: Sequence[str]) -> Title:
        """Return a title of a topic that is not in `avoid`."""
        used = {normalize(name) for name in avoid}
        async with self._open_client() as client:
            ask = partial(self._formats.ask, client, prompts.TITLE_SCHEMA)
            title = await _retry(ask, prompts.title(topic, avoid), lambda text: _title(text, used))
        return title.model_copy(update={"writer": self.name})

    async def scripts(self, brief: ScriptBrief, *, seed: int) -> Sequence[Draft]:
        """Return one draft per variation; they differ."""
        async with self._open_client() as client:
            orders = [self._script(client, brief, number) for number in range(brief.variations)]
            texts = await _gather(orders)
            if len(texts) > 1 and is_similar(*texts):
                texts[1] = await self._script(client, brief, 1, unlike=texts[0])
            if len(texts) > 1 and is_similar(*texts):
                raise order_error("the language model writes the same text twice")
        return [measure_draft(text, self._rate, self.name) for text in texts]

    @asynccontextmanager
    async def _open_client(self) -> AsyncIterator[ChatClient]:
        """Yield a client for one order, with its time limit; failures are logged."""
        deadline = asyncio.get_running_loop().time() + self._seconds
        try:
            async with (
                asyncio.timeout_at(deadline),
                self._slots,
                ChatClient(self._endpoint, deadline) as client,
            ):
                yield client
        except TimeoutError:
            error = order_error(f"the language model takes longer than {self._seconds:g} seconds")
            raise self._log_failure(error) from None
        except RejectedError as error:
            raise self._log_failure(order_error(error.sentence)) from None
        except UnavailableError as error:
            raise self._log_failure(error) from None

    async def _script(
        self, client: ChatClient, brief: ScriptBrief, number: int, unlike: str | None = None
    ) -> str:
        ask = partial(self._formats.ask, client, prompts.SCRIPT_SCHEMA)
        length = Length(brief.duration_seconds, self._rate)
        texts: list[str] = []

        def check(answer: str) -> str:
            text = make_speakable(parse_answer(answer, _Script, prompts.SCRIPT_EXAMPLE).content)
            texts.append(text)
            if length.fits(text):
                return text
            sentence = (
                f"the language model gives no text of about {length.target:g} seconds; its last "
                f"one takes {length.measure(text):.0f}"
            )
            raise RejectedError("length", sentence, prompts.resize(length, text))

        try:
            return await _retry(ask, prompts.script(brief, length, number, unlike), check)
        except RejectedError:
            # The last text was written with the most corrections.
            shorter = (length.trim(text) for text in reversed(texts))
            text = next(filter(None, shorter), None)
            if text is None:
                raise
            return text

    def _log_failure(self, error: UnavailableError) -> UnavailableError:
        facts = {"event": "writer_failed", "writer": self.name, "why": error.message}
        _log.warning("%(writer)s wrote nothing: %(why)s", facts)
        return error


class _Title(BaseModel):
    title: str = Field(max_length=_MAX_LINE_LENGTH)
    hook_angle: str = Field(alias="hookAngle", max_length=_MAX_LINE_LENGTH)


class _Script(BaseModel):
    content: str = Field(max_length=_MAX_TEXT_LENGTH)


async def _retry(ask: _Ask, messages: Sequence[Message], check: Callable[[str], T]) -> T:
    """Return an answer that passes a check; the model may correct each kind of fault once."""
    conversation = [*messages]
    faults: set[str] = set()
    while True:
        answer = await ask(conversation)
        try:
            return check(answer)
        except RejectedError as fault:
            if fault.kind in faults:
                raise
            faults.add(fault.kind)
            conversation += prompts.ask_again(answer, fault.request)


async def _gather(orders: Sequence[Awaitable[str]]) -> list[str]:
    """Return all results; if one fails, the others are canceled."""
    tasks = [asyncio.ensure_future(order) for order in orders]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _title(answer: str, used: set[str]) -> Title:
    fields = parse_answer(answer, _Title, prompts.TITLE_EXAMPLE)
    title, hook = clean_title(fields.title), make_speakable(fields.hook_angle)
    for text, limit in ((title, prompts.TITLE_LIMIT), (hook, prompts.HOOK_LIMIT)):
        if not normalize(text) or len(text) > limit:
            request = f"The title has 1 to {prompts.TITLE_LIMIT} characters, the hook angle is one "
            request += f"short sentence. Try again, as {prompts.TITLE_EXAMPLE}"
            raise RejectedError(
                "size", "the language model gives no title that can be used", request
            )
    if normalize(title) in used:
        request = "That title was used already. Give one about something else, in the same form."
        sentence = "the language model gives only titles that this account has"
        raise RejectedError("repeat", sentence, request)
    return Title(title=title, hook_angle=hook)
