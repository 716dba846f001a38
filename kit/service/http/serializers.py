"""Rows as JSON of the API: generations, receipts and ledger entries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from kit.service.domain.generations import STATUSES
from kit.service.http.context import Context, format_time, to_credits
from kit.service.storage.keys import upload_key
from kit.service.storage.signing import Grant
from kit.wire import Model

#: Seconds that the signed URL of an output or an input is valid.
ADDRESS_SECONDS = 24 * 3600


def serialize_receipt(
    generation_id: str, model: Model, charged: int, now: int, base: str
) -> dict[str, Any]:
    """Return the response of the start operation. Source: API document, "Generation"."""
    return {
        "id": generation_id,
        "status": "processing",
        "assetType": model.asset_type,
        "modelId": model.id,
        "creditsCharged": to_credits(charged),
        "createdAt": format_time(now),
        "statusUrl": f"{base}/v1/creative-studio/generations/{generation_id}",
    }


class GenerationSerializer:
    """Serializes generations with newly signed URLs; without `base`, with no URLs.

    `files` are the rows of their uploads by id.
    """

    def __init__(
        self, context: Context, base: str | None, files: Mapping[str, Any], sign_outs: int
    ) -> None:
        self._signer = context.signer
        self._progress = context.dispatcher.progress
        # Rounded up to a minute, so that URLs in a body cached for a minute are valid for a day.
        self._expires = context.clock() // 60_000 * 60 + 60 + ADDRESS_SECONDS
        self._base = base
        self._files = files
        self._sign_outs = sign_outs

    def __call__(self, row: Any) -> dict[str, Any]:
        """Return a generation as in the responses of the get and list operations."""
        output = orjson.loads(row.output) if row.output else None
        deleted = row.outputs_deleted_at
        # The words of the prompt that the model used and ignored, if it reports them.
        metadata = (output.get("metadata") if output else None) or {}
        words = {"words": metadata["words"]} if "words" in metadata else {}
        groups: dict[str, list[str]] = {} if row.media == "{}" else orjson.loads(row.media)
        return {
            "id": row.id,
            "status": STATUSES[row.state],
            "assetType": row.asset_type,
            "generationType": row.generation_type,
            "modelId": row.model_id,
            "modelName": row.model_name,
            "prompt": row.prompt,
            "parameters": orjson.Fragment(row.parameters),
            "mediaUrls": self._media(groups),
            "outputUrl": self._address(output["key"]) if output and not deleted else None,
            "error": row.error,
            "createdAt": format_time(row.created_at),
            "updatedAt": format_time(row.updated_at),
            "progress": max(self._progress.get(row.id, 0.0), row.progress),
            "creditsCharged": to_credits(row.millicredits),
            "creditsRefunded": to_credits(row.refunded),
            "startedAt": format_time(row.started_at),
            "completedAt": format_time(row.completed_at),
            "errorCode": row.error_code,
            "output": self._output(output, deleted) if output else None,
            "outputsDeletedAt": format_time(deleted),
            "metadata": words,
            "tags": orjson.Fragment(row.tags or "{}"),
            "inputs": self._inputs(groups),
        }

    def _output(self, output: dict[str, Any], deleted: int | None) -> dict[str, Any]:
        """Return the facts about the files; deleted ones have no URLs."""
        thumbnail = output.get("thumbnail") if deleted is None else None
        return {
            "contentType": output["content_type"],
            "width": output["width"],
            "height": output["height"],
            "durationSeconds": output.get("duration_seconds"),
            "sizeBytes": output["size_bytes"],
            "sha256": output["sha256"],
            "thumbnailUrl": self._address(thumbnail) if thumbnail else None,
            "expiresAt": format_time(
                None if deleted or self._base is None else self._expires * 1000
            ),
            "metadata": output.get("metadata") or {},
        }

    def _media(self, groups: Mapping[str, list[str]]) -> dict[str, Any]:
        if self._base is None:
            return {}
        # A file that was removed meanwhile has no URL.
        found = {
            name: [self._address(upload_key(self._files[i])) for i in group if i in self._files]
            for name, group in groups.items()
        }
        return {
            name: urls[0] if len(groups[name]) == 1 else urls
            for name, urls in found.items()
            if urls
        }

    def _inputs(self, groups: Mapping[str, list[str]]) -> list[dict[str, Any]]:
        made_by = {upload: row.generation_id for upload, row in self._files.items()}
        return [
            {"parameter": name, "uploadId": upload, "generationId": made_by.get(upload)}
            for name, group in groups.items()
            for upload in group
        ]

    def _address(self, key: str) -> str | None:
        if self._base is None:
            return None
        grant = Grant("GET", key, self._expires, sign_outs=self._sign_outs)
        return self._signer.address(self._base, grant)


def serialize_account(row: Any) -> dict[str, Any]:
    """Return an account as in the response of operation 1."""
    return {
        "id": row.id,
        "name": row.name,
        "email": row.email,
        "createdAt": format_time(row.created_at),
        "credits": to_credits(row.balance),
    }


def serialize_entry(row: Any) -> dict[str, Any]:
    """Return a ledger entry as in the response of the usage operation."""
    return {
        "id": row.id,
        "createdAt": format_time(row.created_at),
        "kind": row.kind,
        "credits": to_credits(row.millicredits),
        "balanceAfter": to_credits(row.balance_after),
        "generationId": row.generation_id,
        "modelId": row.model_id,
        "keyPrefix": row.key_prefix,
        "details": orjson.loads(row.details) if row.details else None,
        "tags": orjson.loads(row.tags) if row.tags else {},
    }
