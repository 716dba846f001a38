"""Permission to send a file."""

from __future__ import annotations

from pydantic import Field

from kit.wire.base import Body, Instant, Wire


class RequestUpload(Body):
    """Body of ``POST /v1/creative-studio/media-uploads``. Source: contract, "Uploads"."""

    file_name: str
    content_type: str
    file_size_bytes: int
    model_id: str


class Ticket(Wire):
    """Permission to send one file. Source: API document, "Media upload ticket"."""

    upload_id: str
    upload_url: str
    method: str = "PUT"
    required_headers: dict[str, str] = Field(default_factory=dict)
    expires_at: Instant | None = None
