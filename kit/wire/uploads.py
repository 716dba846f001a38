"""Upload tickets."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from kit.wire.base import Body, Hidden, Instant, Wire
from kit.wire.bounds import FILE_NAME, Id
from kit.wire.words import CONTENT_TYPES

_FILE_NAME: dict[str, Any] = {
    "minLength": 1,
    "maxLength": FILE_NAME,
    "pattern": r"^[^/\\\x00-\x1f\x7f-\x9f]*$",
}


class RequestUpload(Body):
    """Body of ``POST /v1/creative-studio/media-uploads``. Source: contract, "Uploads"."""

    file_name: Annotated[str, Field(json_schema_extra=_FILE_NAME)]
    content_type: Annotated[str, Field(json_schema_extra={"enum": [*CONTENT_TYPES]})]
    file_size_bytes: Annotated[int, Field(json_schema_extra={"minimum": 1})]
    model_id: Id


class Ticket(Wire):
    """Permission to upload one file. Source: API document, "Media upload ticket"."""

    upload_id: str
    upload_url: Hidden[str]
    method: str = "PUT"
    required_headers: dict[str, str] = Field(default_factory=dict)
    expires_at: Instant | None = None
