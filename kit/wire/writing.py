"""Titles and scripts."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from kit.wire.base import Body, Instant, Wire
from kit.wire.bounds import HOOK, TITLE
from kit.wire.words import TOPICS

_TITLE: dict[str, Any] = {"minLength": 1, "maxLength": TITLE, "pattern": r"[^\s\x1c-\x1f]"}
#: 10 to 180
_DURATION = "^([1-9][0-9]|1[0-7][0-9]|180)$"
Topic = Annotated[str, Field(json_schema_extra={"enum": [*TOPICS]})]


class SuggestTitle(Body):
    """Body of ``POST /v1/scripts/title``."""

    topic: Topic


class Title(Wire):
    """A video concept title with a hook angle.

    Parameters
    ----------
    writer : str, optional
        Its author: ``"offline"`` or ``"model:NAME"``; other services do not report it.

    Source: API document, "Title suggestion".
    """

    title: str
    hook_angle: str = ""
    writer: str | None = None


class WriteScripts(Body):
    """Body of ``POST /v1/scripts``. Source: contract, "Titles and scripts"."""

    topic: Topic
    title: Annotated[str, Field(json_schema_extra=_TITLE)]
    duration: Annotated[str, Field(json_schema_extra={"pattern": _DURATION})]
    hook_angle: Annotated[str, Field(json_schema_extra={"maxLength": HOOK})] | None = None
    use_hook: bool = False
    use_cta: bool = Field(default=False, alias="useCTA")
    use_ragebait: bool = False
    variations: Annotated[str, Field(json_schema_extra={"enum": ["1", "2"]})] = "1"


class Metrics(Wire):
    """Measurements of the text."""

    duration: str = ""
    word_count: int | float = 0


class Script(Wire):
    """A voice-over script.

    Parameters
    ----------
    writer : str, optional
        As in `Title`.

    Source: API document, "Script".
    """

    id: str = ""
    title: str = ""
    content: str
    metrics: Metrics = Field(default_factory=Metrics)
    batch_id: str | None = None
    created_at: Instant | None = None
    writer: str | None = None
