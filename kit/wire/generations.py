"""Asynchronous orders and their results."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from kit.wire.base import Body, Credits, Hidden, Instant, Wire, WireShape
from kit.wire.bounds import ADDRESS, TEXT, Few, Id, Reference, Tags
from kit.wire.words import FINISHED


def _word(status: Any) -> Any:
    """Take a status that was not sent as one that nobody knows yet."""
    return "processing" if status is None else status


def _sentence(error: Any) -> Any:
    """Take the text out of an error that another service sends as an object or a list."""
    if error is None or isinstance(error, str):
        return error
    if isinstance(error, dict):
        return str(error.get("message") or error)
    if isinstance(error, list):
        return "; ".join(str(_sentence(each)) for each in error)
    return str(error) if error else None


class StartGeneration(Body):
    """Body of ``POST /v1/creative-studio/generations`` and of ``.../estimates``."""

    model_id: Id
    # measured after trimming, by whoever knows the model: other services may take longer ones
    prompt: Annotated[str, Field(json_schema_extra={"maxLength": TEXT})] | None = None
    parameters: Few[Any] = Field(default_factory=dict)
    media_uploads: Few[Reference] = Field(default_factory=dict)
    tags: Tags = Field(default_factory=dict)
    file_metadata: bool = True
    webhook_url: Annotated[str, Field(max_length=ADDRESS)] | None = None


class Receipt(Wire):
    """What the start operation returns. Source: API document, "Generation"."""

    id: str
    status: str = "processing"
    asset_type: str | None = None
    model_id: str | None = None
    credits_charged: Credits | None = None
    created_at: Instant | None = None
    status_url: str | None = None


class Output(WireShape):
    """Facts about the media that came out. Source: contract, "Generations"."""

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
    """A file that went into a generation; its generation is known where it was an output."""

    parameter: str
    upload_id: str | None = None
    generation_id: str | None = None


class Generation(WireShape):
    """One asynchronous order as the status and list operations report it.

    Source: API document, "Generation"; contract, "Generations".
    """

    essential: ClassVar[frozenset[str]] = frozenset({"status", "outputUrl"})

    id: str
    status: Annotated[str, BeforeValidator(_word)] = "processing"
    asset_type: str | None = None
    generation_type: str | None = None
    model_id: str | None = None
    model_name: str | None = None
    prompt: str | None = None
    parameters: dict[str, Any] | None = None
    media_urls: Hidden[dict[str, Any] | None] = None
    output_url: Hidden[str | None] = None
    error: Annotated[str | None, BeforeValidator(_sentence)] = None
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
        """Words of the prompt that are not in the picture, as far as the service says.

        Examples
        --------
        >>> words = {"used": ["beach"], "unused": ["cat"]}
        >>> Generation(id="gen_1", metadata={"words": words}).unused_words
        ['cat']
        """
        told = (self.metadata, self.output.metadata if self.output else None)
        words = next((it["words"] for it in told if it and "words" in it), None)
        unused = words.get("unused") if isinstance(words, dict) else None
        return [str(word) for word in unused] if isinstance(unused, list) else []

    @property
    def note(self) -> str:
        """What the model warns of in its result, e.g. that traces may be seen; empty for nothing.

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

        A word that nobody knows counts as running until an output or an error is there.
        """
        known = FINISHED.get(self.status.lower())
        if known:
            return known
        if self.output_url:
            return "completed"
        return "failed" if self.error else "processing"

    @property
    def deletion(self) -> str:
        """Say when its files were deleted; empty while they are there, as far as anybody says.

        Examples
        --------
        >>> Generation(id="gen_1", outputs_deleted_at="2026-11-23T08:00:00Z").deletion
        'file deleted on 2026-11-23'
        """
        moment = self.outputs_deleted_at
        return f"file deleted on {moment:%Y-%m-%d}" if moment else ""

    @property
    def finished(self) -> bool:
        """Whether it will never change again."""
        return self.state != "processing"
