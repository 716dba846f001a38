"""The ladder: how an endpoint is asked for JSON, from the strictest way down to a plain request.

No two servers take the same: one enforces a JSON schema, one answers 500 to it and takes the schema
another way, one takes only ``json_object``, one ignores all of it without a word. So the prompt
always describes the object too, and what comes back is checked whatever the server promised.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from kit.errors import UnavailableError
from kit.service.writer.failures import order_error
from kit.service.writer.http import WriterLine, WriterReply

Message = Mapping[str, str]
Schema = Mapping[str, Any]

#: How the object is asked for, the strictest way first.
RUNGS: Sequence[Callable[[Schema], dict[str, Any]]] = (
    lambda schema: {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": schema},
    },
    lambda schema: {"type": "json_object", "schema": schema},
    lambda schema: {"type": "json_object"},
    lambda schema: {},
)
#: Answers after which the next rung is tried; some servers fail where they should refuse.
STEP_DOWN = frozenset({400, 404, 422, 500})
#: Seconds for which a rung is remembered: a failure that passes must not cost the schema for good.
REMEMBERED = 900.0
_DECLINED = "the language model declines to write on this"


class Ladder:
    """The rung that an endpoint took last.

    Parameters
    ----------
    clock : callable
        Seconds, from any start.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._rung = 0
        self._until = 0.0

    @property
    def rung(self) -> int:
        """Where to begin."""
        return self._rung if self._clock() < self._until else 0

    def remember(self, rung: int) -> None:
        """Begin there from now on, for a while."""
        if rung != self.rung:
            self._rung, self._until = rung, self._clock() + REMEMBERED

    async def ask(self, line: WriterLine, messages: Sequence[Message], schema: Schema) -> str:
        """Return what the model says; that it is JSON, or fits the schema, is not certain.

        Raises
        ------
        UnavailableError
            It says nothing: it cannot be reached, is busy, refuses, or declines.
        """
        reply = None
        for rung in range(self.rung, len(RUNGS)):
            wanted = RUNGS[rung](schema)
            body = {"model": line.model, "messages": [*messages], "stream": False}
            reply = await line.post({**body, **({"response_format": wanted} if wanted else {})})
            if reply.status == 200:
                self.remember(rung)
                return _said(reply)
            if reply.status not in STEP_DOWN:
                break
        self._until = 0.0  # what worked once does not work now
        raise _refusal(reply)


class _Part(BaseModel):
    text: str = ""


class _Message(BaseModel):
    content: str | list[_Part] | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)


def _said(reply: WriterReply) -> str:
    try:
        choice = _Completion.model_validate_json(reply.content).choices[0]
    except ValidationError:
        raise order_error("the language model's service answers with something else") from None
    if choice.message.refusal or choice.finish_reason == "content_filter":
        raise order_error(_DECLINED)
    content = choice.message.content or ""
    return content if isinstance(content, str) else "".join(part.text for part in content)


#: Status -> what it means here; other ones are told by their number.
_MEANING = {
    401: "the language model's service refuses the key of this service",
    402: "this service's account with the language model is out of credits",
    403: "the language model's service refuses the key of this service",
    404: "the language model is not found at its address",
}


def _refusal(reply: WriterReply | None) -> UnavailableError:
    status = reply.status if reply else 0
    if 300 <= status < 400:
        return order_error("the language model's address redirects, which is not followed")
    return order_error(_MEANING.get(status, f"the language model's service answers {status}"))
