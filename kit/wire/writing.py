"""Titles and scripts."""

from __future__ import annotations

from pydantic import Field

from kit.wire.base import Body, Instant, Wire


class SuggestTitle(Body):
    """Body of ``POST /v1/scripts/title``."""

    topic: str


class Title(Wire):
    """A video concept title with a hook angle.

    Parameters
    ----------
    writer : str, optional
        Who wrote it: ``"offline"`` or ``"model:NAME"``; other services do not say.

    Source: API document, "Title suggestion".
    """

    title: str
    hook_angle: str = ""
    writer: str | None = None


class WriteScripts(Body):
    """Body of ``POST /v1/scripts``. Source: contract, "Titles and scripts"."""

    topic: str
    title: str
    duration: str
    hook_angle: str | None = None
    use_hook: bool = False
    use_cta: bool = Field(default=False, alias="useCTA")
    use_ragebait: bool = False
    variations: str = "1"


class Metrics(Wire):
    """What was measured on the delivered text."""

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

    id: str
    title: str = ""
    content: str = ""
    metrics: Metrics = Field(default_factory=Metrics)
    batch_id: str | None = None
    created_at: Instant | None = None
    writer: str | None = None
