"""Files to send, and how they are sent: a ticket, then the bytes."""

import io
import wave
from typing import Any

import httpx
from PIL import Image

UPLOADS = "/v1/creative-studio/media-uploads"


def png(width: int = 8) -> bytes:
    """Return a small picture."""
    file = io.BytesIO()
    Image.new("RGB", (width, 8), "teal").save(file, "PNG")
    return file.getvalue()


def wav(seconds: int = 2) -> bytes:
    """Return silence."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(2 * 8000 * seconds))
    return file.getvalue()


def asked(
    http: httpx.Client, content: bytes, kind: str = "image/png", **other: Any
) -> httpx.Response:
    """Ask for a ticket."""
    body = {"fileName": "file", "contentType": kind, "fileSizeBytes": len(content)}
    return http.post(UPLOADS, json={**body, "modelId": "clay", **other})


def ticket(
    http: httpx.Client, content: bytes, kind: str = "image/png", **other: Any
) -> dict[str, Any]:
    """Return a ticket."""
    answer = asked(http, content, kind, **other)
    assert answer.status_code == 201, answer.text
    told: dict[str, Any] = answer.json()
    return told


def put(told: dict[str, Any], content: bytes, **headers: str) -> httpx.Response:
    """Send the bytes of a ticket."""
    sent = {**told["requiredHeaders"], **headers}
    return httpx.put(told["uploadUrl"], content=content, headers=sent, verify=False, timeout=60)


def uploaded(http: httpx.Client, content: bytes, kind: str = "image/png", **other: Any) -> str:
    """Return the id of an upload whose file is there."""
    told = ticket(http, content, kind, **other)
    answer = put(told, content)
    assert answer.status_code == 200, answer.text
    return str(told["uploadId"])
