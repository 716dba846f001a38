"""Structured output: requests a JSON object from a language model, and parses its answer.

Servers differ: one enforces a JSON schema, one answers 500 to it and takes the schema in another
form, one accepts only ``json_object``, one ignores all of it silently. So the prompt always
describes the object, too, and the answer is checked whatever the server supports. Models wrap JSON
in code fences, reasoning and polite sentences, leave line breaks in strings, and add trailing
commas.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from kit.errors import UnavailableError
from kit.service.writer.client import ChatClient, ChatReply, order_error

A = TypeVar("A", bound=BaseModel)
Message = Mapping[str, str]
Schema = Mapping[str, Any]

#: Request formats for a JSON object, the strictest first.
FORMATS: Sequence[Callable[[Schema], dict[str, Any]]] = (
    lambda schema: {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": schema},
    },
    lambda schema: {"type": "json_object", "schema": schema},
    lambda schema: {"type": "json_object"},
    lambda schema: {},
)
#: Statuses after which the next format is tried; some servers fail instead of refusing.
NOT_SUPPORTED = frozenset({400, 404, 422, 500})
#: Seconds for which a format is remembered: a temporary failure must not disable schemas forever.
REMEMBERED_SECONDS = 900.0
_REFUSED_SENTENCE = "the language model declines to write on this"

#: Maximum of opening braces at which an object is tried; an answer has one.
_MAX_BRACES = 64
#: Characters at the end of an answer that are parsed; and the ends of a model's reasoning.
_MAX_PARSED_LENGTH = 100_000
_REASONING_ENDS = ("</think>", "</thinking>", "</reasoning>")
_LAST_COMMA = re.compile(r",(?=\s*[}\]])")
_DECODER = json.JSONDecoder(strict=False)  # allows line breaks and control characters in strings


class RejectedError(Exception):
    """An answer that cannot be delivered.

    The model gets one chance to correct each `kind` of fault, with the `request`; the customer
    reads the `sentence`.
    """

    def __init__(self, kind: str, sentence: str, request: str) -> None:
        super().__init__(sentence)
        self.kind = kind
        self.sentence = sentence
        self.request = request


class ResponseFormats:
    """The strictest response format that an endpoint accepts, as last observed."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._index = 0
        self._valid_until = 0.0

    @property
    def first(self) -> int:
        """The index of the first format to try."""
        return self._index if self._clock() < self._valid_until else 0

    def remember(self, index: int) -> None:
        """Start with this format for a while."""
        if index != self.first:
            self._index, self._valid_until = index, self._clock() + REMEMBERED_SECONDS

    async def ask(self, client: ChatClient, schema: Schema, messages: Sequence[Message]) -> str:
        """Return the model's answer, which may not be JSON or may not match the schema."""
        for index in range(self.first, len(FORMATS)):
            chosen = FORMATS[index](schema)
            body = {"model": client.model, "messages": [*messages], "stream": False}
            reply = await client.post({**body, **({"response_format": chosen} if chosen else {})})
            if reply.status == 200:
                self.remember(index)
                return _content(reply)
            if reply.status not in NOT_SUPPORTED:
                break
        self._valid_until = 0.0  # the format that worked before no longer does
        raise _refusal_error(reply.status)


class _ContentPart(BaseModel):
    text: str = ""


class _Message(BaseModel):
    content: str | list[_ContentPart] | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)


def _content(reply: ChatReply) -> str:
    try:
        choice = _Completion.model_validate_json(reply.content).choices[0]
    except ValidationError:
        raise order_error("the language model's service answers with something else") from None
    if choice.message.refusal or choice.finish_reason == "content_filter":
        raise order_error(_REFUSED_SENTENCE)
    content = choice.message.content or ""
    return content if isinstance(content, str) else "".join(part.text for part in content)


#: Explanations of statuses; others are reported by number.
_REASONS = {
    401: "the language model's service refuses the key of this service",
    402: "this service's account with the language model is out of credits",
    403: "the language model's service refuses the key of this service",
    404: "the language model is not found at its address",
}


def _refusal_error(status: int) -> UnavailableError:
    if 300 <= status < 400:
        return order_error("the language model's address redirects, which is not followed")
    return order_error(_REASONS.get(status, f"the language model's service answers {status}"))


def parse_answer(answer: str, kind: type[A], example: str) -> A:
    """Return the first object of a kind in an answer."""
    text = answer[-_MAX_PARSED_LENGTH:]
    for end in _REASONING_ENDS:
        text = text.rpartition(end)[2]
    problem = "there is no JSON object in it"
    for found in chain(_find_objects(text), _find_objects(_LAST_COMMA.sub("", text))):
        try:
            return kind.model_validate(found)
        except ValidationError as error:
            detail = error.errors(include_url=False, include_input=False)[0]
            field = ".".join(map(str, detail["loc"]))
            problem = f"{field}: {detail['msg'].lower()}" if field else detail["msg"].lower()
    request = f"That cannot be used: {problem}. Answer with this object and nothing else: {example}"
    raise RejectedError("shape", "the language model does not follow the format", request)


def _find_objects(text: str) -> Iterator[dict[str, Any]]:
    for brace in islice(re.finditer(r"\{", text), _MAX_BRACES):
        try:
            found, _ = _DECODER.raw_decode(text, brace.start())
        except (ValueError, RecursionError):
            continue
        yield found
