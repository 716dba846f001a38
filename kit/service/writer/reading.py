"""Reading: the object that was asked for, wherever in an answer it stands.

Models wrap JSON into fences, thoughts and friendly sentences, leave line breaks in strings, and
forget that the last comma must go.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from kit.service.writer.failures import UnfitError

A = TypeVar("A", bound=BaseModel)

#: Opening braces at which an object is looked for; an answer has one.
_MOST = 64
#: Characters from the end of an answer that are looked at, and what ends a model's thoughts.
_LOOKED_AT = 100_000
_THOUGHT = ("</think>", "</thinking>", "</reasoning>")
_LAST_COMMA = re.compile(r",(?=\s*[}\]])")
_DECODER = json.JSONDecoder(strict=False)  # line breaks and other controls may stand in strings


def read(said: str, kind: type[A], example: str) -> A:
    """Return the first object of an answer that is of a kind.

    Parameters
    ----------
    example : str
        What the object looks like, for the model.

    Raises
    ------
    UnfitError
        There is none (``shape``).
    """
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
    raise UnfitError("shape", "the language model does not keep to the form", request)


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
