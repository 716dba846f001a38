"""Generations: start requests, states and results."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from kit.wire.base import Body, Credits, Hidden, Instant, Wire, WireShape
from kit.wire.bounds import ADDRESS, TEXT, Id, Limited, Reference, Tags
from kit.wire.words import FINISHED


def _read_error(error: Any) -> Any:
    """Return the text of an error that another service sends as an object or a list."""
    if error is None or isinstance(error, str):
        return error
    if isinstance(error, dict):
        return str(error.get("message") or error)
    if isinstance(error, list):
        return "; ".join(str(_read_error(each)) for each in error)
    return str(error) if error else None


class StartGeneration(Body):
    """Body of ``POST /v1/creative-studio/generations`` and of ``.../estimates``."""

    model_id: Id
    # checked after trimming against the model: other services may accept longer ones
    prompt: Annotated[str, Field(json_schema_extra={"maxLength": TEXT})] | None = None
    parameters: Limited[Any] = Field(default_factory=dict)
    media_uploads: Limited[Reference] = Field(default_factory=dict)
    tags: Tags = Field(default_factory=dict)
    file_metadata: bool = True
    webhook_url: Annotated[str, Field(max_length=ADDRESS)] | None = None


class Receipt(Wire):
    """The response of the start operation. Source: API document, "Generation"."""

    id: str
    status: str = "processing"
    asset_type: str | None = None
    model_id: str | None = None
    credits_charged: Credits | None = None
    created_at: Instant | None = None
    status_url: str | None = None


class Output(WireShape):
    """The output file of a generation. Source: contract, "Generations"."""

    content_type: str | None = None
    width: int | None = None
    height: int | None = None
    duration_seconds: float | None = None
    size_bytes: int | None = None
    sha256: str | None = None
    thumbnail_url: Hidden[str | None] = None
    expires_at: Instant | None = None
    metadata: dict[str, Any] | None = None


class GenerationInput(Wire):
    """An input file of a generation; if it was an output, with the id of its generation."""

    parameter: str
    upload_id: str | None = None
    generation_id: str | None = None


class Generation(WireShape):
    """A generation as the status and list operations report it.

    Source: API document, "Generation"; contract, "Generations".
    """

    essential: ClassVar[frozenset[str]] = frozenset({"status", "outputUrl"})

    id: str
    status: Annotated[str, BeforeValidator(lambda s: "processing" if s is None else s)] = (
        "processing"
    )
    asset_type: str | None = None
    generation_type: str | None = None
    model_id: str | None = None
    model_name: str | None = None
    prompt: str | None = None
    parameters: dict[str, Any] | None = None
    media_urls: Hidden[dict[str, Any] | None] = None
    output_url: Hidden[str | None] = None
    error: Annotated[str | None, BeforeValidator(_read_error)] = None
    created_at: Instant | None = None
    updated_at: Instant | None = None
    progress: float | None = None
    credits_charged: Credits | None = None
    credits_refunded: Credits | None = None
    started_at: Instant | None = None
    completed_at: Instant | None = None
    error_code: str | None = None
    output: Output | None = None
    outputs_deleted_at: Instant | None = None
    metadata: dict[str, Any] | None = None
    tags: dict[str, str] | None = None
    inputs: list[GenerationInput] | None = None

    @property
    def unused_words(self) -> list[str]:
        """Words of the prompt that the model did not use, if the service reports them.

        Examples
        --------
        >>> words = {"used": ["beach"], "unused": ["cat"]}
        >>> Generation(id="gen_1", metadata={"words": words}).unused_words
        ['cat']
        """
        sources = (self.metadata, self.output.metadata if self.output else None)
        words = next((each["words"] for each in sources if each and "words" in each), None)
        unused = words.get("unused") if isinstance(words, dict) else None
        return [str(word) for word in unused] if isinstance(unused, list) else []

    @property
    def note(self) -> str:
        """A warning of the model about its result, such as visible traces; else empty.

        Examples
        --------
        >>> Generation(id="gen_1", output={"metadata": {"note": "look twice"}}).note
        'look twice'
        """
        found = ((self.output and self.output.metadata) or {}).get("note")
        return found if isinstance(found, str) else ""

    @property
    def state(self) -> str:
        """``processing``, ``completed``, ``failed`` or ``canceled``, whatever the service calls it.

        An unknown status counts as ``processing`` unless there is an output or an error.
        """
        known = FINISHED.get(self.status.lower())
        if known:
            return known
        if self.output_url:
            return "completed"
        return "failed" if self.error else "processing"

    @property
    def deletion(self) -> str:
        """A sentence that says when its files were deleted; empty if they are not known to be.

        Examples
        --------
        >>> Generation(id="gen_1", outputs_deleted_at="2026-11-23T08:00:00Z").deletion
        'file deleted on 2026-11-23'
        """
        moment = self.outputs_deleted_at
        return f"file deleted on {moment:%Y-%m-%d}" if moment else ""

    @property
    def finished(self) -> bool:
        """Whether its state is final."""
        return self.state != "processing"
