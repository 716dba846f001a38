"""Files to upload, and functions that upload them: a ticket, then the bytes."""

import io
import wave
from typing import Any

import httpx
from PIL import Image

UPLOADS = "/v1/creative-studio/media-uploads"


def png(width: int = 8) -> bytes:
    """Return a small PNG picture."""
    file = io.BytesIO()
    Image.new("RGB", (width, 8), "teal").save(file, "PNG")
    return file.getvalue()


def wav(seconds: int = 2) -> bytes:
    """Return a WAV file of silence."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(2 * 8000 * seconds))
    return file.getvalue()


def request_ticket(
    http: httpx.Client, content: bytes, kind: str = "image/png", **other: Any
) -> httpx.Response:
    """Request a ticket and return the response."""
    body = {"fileName": "file", "contentType": kind, "fileSizeBytes": len(content)}
    return http.post(UPLOADS, json={**body, "modelId": "clay", **other})


def create_ticket(
    http: httpx.Client, content: bytes, kind: str = "image/png", **other: Any
) -> dict[str, Any]:
    """Request a ticket and return it."""
    answer = request_ticket(http, content, kind, **other)
    assert answer.status_code == 201, answer.text
    ticket: dict[str, Any] = answer.json()
    return ticket


def put_file(ticket: dict[str, Any], content: bytes, **headers: str) -> httpx.Response:
    """Upload the file of a ticket and return the response."""
    sent = {**ticket["requiredHeaders"], **headers}
    return httpx.put(ticket["uploadUrl"], content=content, headers=sent, verify=False, timeout=60)


def upload_file(http: httpx.Client, content: bytes, kind: str = "image/png", **other: Any) -> str:
    """Upload a file and return the id of the upload."""
    ticket = create_ticket(http, content, kind, **other)
    answer = put_file(ticket, content)
    assert answer.status_code == 200, answer.text
    return str(ticket["uploadId"])
