"""Structured output: a language model is asked for a JSON object, and its answer is parsed.

No two servers take the same request: one enforces a JSON schema, one answers 500 to it and takes
the schema another way, one takes only ``json_object``, one ignores all of it without a word. So the
prompt always describes the object too, and the answer is checked whatever the server promised.
Models wrap JSON into fences, thoughts and friendly sentences, leave line breaks in strings, and
forget that the last comma must go.
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

#: How a JSON object is asked for, the strictest format first.
FORMATS: Sequence[Callable[[Schema], dict[str, Any]]] = (
    lambda schema: {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": schema},
    },
    lambda schema: {"type": "json_object", "schema": schema},
    lambda schema: {"type": "json_object"},
    lambda schema: {},
)
#: Statuses after which the next format is tried; some servers fail where they should refuse.
NOT_SUPPORTED = frozenset({400, 404, 422, 500})
#: Seconds for which a format is remembered: a passing failure must not cost the schema for good.
REMEMBERED_SECONDS = 900.0
_DECLINED = "the language model declines to write on this"

#: Opening braces at which an object is looked for; an answer has one.
_MOST = 64
#: Characters from the end of an answer that are looked at, and what ends a model's thoughts.
_LOOKED_AT = 100_000
_THOUGHT = ("</think>", "</thinking>", "</reasoning>")
_LAST_COMMA = re.compile(r",(?=\s*[}\]])")
_DECODER = json.JSONDecoder(strict=False)  # line breaks and other controls may stand in strings


class RejectedError(Exception):
    """An answer that cannot be delivered.

    The model gets one chance to cure each `kind` of fault, by the `request`; the customer reads the
    `sentence`.
    """

    def __init__(self, kind: str, sentence: str, request: str) -> None:
        super().__init__(sentence)
        self.kind = kind
        self.sentence = sentence
        self.request = request


class ResponseFormats:
    """The strictest response format that an endpoint accepts, as it turned out last."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._index = 0
        self._until = 0.0

    @property
    def first(self) -> int:
        """The index of the first format to try."""
        return self._index if self._clock() < self._until else 0

    def remember(self, index: int) -> None:
        """Begin with this format from now on, for a while."""
        if index != self.first:
            self._index, self._until = index, self._clock() + REMEMBERED_SECONDS

    async def ask(self, client: ChatClient, schema: Schema, messages: Sequence[Message]) -> str:
        """Return the model's answer; whether it is JSON, or fits the schema, is not certain."""
        reply = None
        for index in range(self.first, len(FORMATS)):
            wanted = FORMATS[index](schema)
            body = {"model": client.model, "messages": [*messages], "stream": False}
            reply = await client.post({**body, **({"response_format": wanted} if wanted else {})})
            if reply.status == 200:
                self.remember(index)
                return _content(reply)
            if reply.status not in NOT_SUPPORTED:
                break
        self._until = 0.0  # what worked once does not work now
        raise _refusal(reply)


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
        raise order_error(_DECLINED)
    content = choice.message.content or ""
    return content if isinstance(content, str) else "".join(part.text for part in content)


#: Status -> what it means here; others are named by their number.
_MEANING = {
    401: "the language model's service refuses the key of this service",
    402: "this service's account with the language model is out of credits",
    403: "the language model's service refuses the key of this service",
    404: "the language model is not found at its address",
}


def _refusal(reply: ChatReply | None) -> UnavailableError:
    status = reply.status if reply else 0
    if 300 <= status < 400:
        return order_error("the language model's address redirects, which is not followed")
    return order_error(_MEANING.get(status, f"the language model's service answers {status}"))


def parse_answer(said: str, kind: type[A], example: str) -> A:
    """Return the first object of an answer that is of a kind."""
    text = said[-_LOOKED_AT:]
    for mark in _THOUGHT:
        text = text.rpartition(mark)[2]
    problem = "there is no JSON object in it"
    for found in chain(_objects(text), _objects(_LAST_COMMA.sub("", text))):
        try:
            return kind.model_validate(found)
        except ValidationError as error:
            problem = _problem(error)
    request = f"That cannot be used: {problem}. Answer with this object and nothing else: {example}"
    raise RejectedError("shape", "the language model does not keep to the form", request)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    for brace in islice(re.finditer(r"\{", text), _MOST):
        try:
            found, _ = _DECODER.raw_decode(text, brace.start())
        except (ValueError, RecursionError):
            continue
        yield found


def _problem(error: ValidationError) -> str:
    detail = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(map(str, detail["loc"]))
    return f"{field}: {detail['msg'].lower()}" if field else detail["msg"].lower()
