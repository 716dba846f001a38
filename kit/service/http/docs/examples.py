"""Examples: values that look like the real ones, and the same request for a shell."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from html import escape
from typing import Any

Schema = Mapping[str, Any]

KEY = "YOUR_API_KEY"
_WHEN = "2030-01-31T12:00:00.000Z"
_GENERATION = "gen_01JMVN4Z8C6S0P2QK9T3XW7YAB"
_UPLOAD = "upl_01JMVN4Z8C6S0P2QK9T3XW7YAC"
_FILE = "media/outputs/gen_01JM…/3f2a….png?expires=…&signature=…"

#: Bodies as one would send them; a test holds them against the models of the wire.
BODIES: Mapping[str, Any] = {
    "RequestUpload": {
        "fileName": "portrait.png",
        "contentType": "image/png",
        "fileSizeBytes": 482113,
        "modelId": "animate",
    },
    "StartGeneration": {
        "modelId": "poster",
        "prompt": "a quiet lake below snowy mountains at dusk",
        "parameters": {"seed": 7},
        "tags": {"campaign": "winter"},
    },
    "CreateWebhook": {"url": "https://studio.example/ends"},
    "SuggestTitle": {"topic": "SPACE"},
    "WriteScripts": {
        "topic": "SPACE",
        "title": "Why the night sky is dark",
        "duration": "30",
        "useHook": True,
        "variations": "1",
    },
}

#: Field, or "Object.field", -> what stands in it.
_VALUES: Mapping[str, Any] = {
    "Account.id": "acc_01JMVN4Z8C6S0P2QK9T3XW7YAD",
    "Account.name": "Ada",
    "Generation.id": _GENERATION,
    "Generation.status": "completed",
    "Generation.parameters": {"seed": 7},
    "Generation.mediaUrls": {},
    "Generation.error": None,
    "Generation.errorCode": None,
    "Generation.modelName": "Poster",
    "Entry.id": "led_01JMVN4Z8C6S0P2QK9T3XW7YAE",
    "Entry.credits": -0.5,
    "Entry.kind": "generation",
    "Entry.details": None,
    "Model.id": "poster",
    "Model.title": "Poster",
    "Model.category": "Generation",
    "Parameter.type": "integer",
    "Parameter.name": "seed",
    "Parameter.enum": [],
    "Parameter.default": None,
    "Parameter.description": "the same seed gives the same picture",
    "Problem.code": "validation_error",
    "Problem.message": "prompt is required",
    "Problem.details": [{"field": "prompt", "message": "is required"}],
    "Generation.tags": {"campaign": "winter"},
    "Entry.tags": {"campaign": "winter"},
    "Generation.metadata": {"words": {"used": ["lake", "dawn"], "unused": ["cat"]}},
    "Output.metadata": {},
    "Script.id": "scr_01JMVN4Z8C6S0P2QK9T3XW7YAF",
    "Metrics.duration": "30",
    "Ticket.requiredHeaders": {"Content-Type": "image/png", "Content-Length": "482113"},
    "Receipt.id": _GENERATION,
    "Webhook.id": "whk_01JMVN4Z8C6S0P2QK9T3XW7YAJ",
    "Webhook.url": "https://studio.example/ends",
    "Webhook.secret": None,
    "Webhook.disabledAt": None,
    "assetType": "image",
    "balance": 99.5,
    "balanceAfter": 99.5,
    "base": 0.5,
    "batchId": "bat_01JMVN4Z8C6S0P2QK9T3XW7YAG",
    "charged30d": 12.4,
    "completedAt": _WHEN,
    "content": "Look up tonight. If there are endless stars, why is the sky not bright? …",
    "contentType": "image/png",
    "createdAt": _WHEN,
    "credits": 99.5,
    "creditsAtDefaults": 0.5,
    "creditsCharged": 0.5,
    "creditsFrom": 0.5,
    "creditsRefunded": 0,
    "description": "flat landscapes",
    "durationSeconds": None,
    "email": "ada@example.org",
    "estimatedCredits": 0.5,
    "expiresAt": _WHEN,
    "generationId": _GENERATION,
    "generationType": "text-to-image",
    "height": 768,
    "hookAngle": "the answer is about time",
    "keyPrefix": "cs_live_4fGh",
    "method": "PUT",
    "modelId": "poster",
    "outputUrl": f"BASE/{_FILE}",
    "progress": 1.0,
    "prompt": "a quiet lake below snowy mountains at dusk",
    "refunded30d": 0,
    "requestId": "req_01JMVN4Z8C6S0P2QK9T3XW7YAH",
    "reserved": 0,
    "sha256": "3f2a9c…",
    "sizeBytes": 48213,
    "startedAt": _WHEN,
    "status": "processing",
    "statusUrl": f"BASE/v1/creative-studio/generations/{_GENERATION}",
    "thumbnailUrl": f"BASE/{_FILE}",
    "title": "Why the night sky is dark",
    "total": 0.5,
    "updatedAt": _WHEN,
    "uploadId": _UPLOAD,
    "uploadUrl": "BASE/media/uploads/upl_01JM…?expires=…&signature=…",
    "width": 1024,
    "wordCount": 74,
}
#: Parameter in a path -> what stands there.
_PLACES = {"generation_id": _GENERATION, "model_id": "poster"}
_KINDS: Mapping[str, Any] = {"string": "text", "boolean": False, "integer": 1, "number": 0.5}
_DEPTH = 4
#: Operations that are called with an address that was given out -> the whole command.
_SIGNED = {
    "/media/{key}": "curl -o output.png 'OUTPUT_URL'",
    "/media/uploads/{upload_id}": (
        "curl -T portrait.png 'UPLOAD_URL' \\\n  -H 'Content-Type: image/png'"
    ),
}


def name_of(schema: Schema) -> str | None:
    """Return the name of the schema that another one refers to."""
    found = schema.get("$ref")
    return str(found).rpartition("/")[2] if found else None


def example(schema: Schema, schemas: Mapping[str, Schema], owner: str = "", depth: int = 0) -> Any:
    """Return a value that a schema describes."""
    name = name_of(schema)
    if name and name in BODIES:
        return BODIES[name]
    if name:
        return example(schemas[name], schemas, name, depth)
    if "properties" in schema:
        return {
            field: _value(owner, field, inside, schemas, depth)
            for field, inside in schema["properties"].items()
        }
    if schema.get("type") == "array":
        return [example(schema.get("items", {}), schemas, owner, depth + 1)]
    choices = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    if choices:
        return example(choices[-1], schemas, owner, depth)
    return next(iter(schema.get("enum", ())), _KINDS.get(str(schema.get("type")), {}))


def _value(
    owner: str, field: str, schema: Schema, schemas: Mapping[str, Schema], depth: int
) -> Any:
    for known in (f"{owner}.{field}", field):
        if known in _VALUES and name_of(schema) is None:
            return _VALUES[known]
    if depth >= _DEPTH or (owner in ("Rule", "Quote") and schema.get("type") == "array"):
        return []
    return schema.get("default") or example(schema, schemas, "", depth + 1)


def shell(path: str, method: str, operation: Schema, body: Any, base: str) -> str:
    """Return an operation as a curl command."""
    if path in _SIGNED:
        return _SIGNED[path]
    address = re.sub(r"\{(\w+)\}", lambda found: _PLACES.get(found[1], "ID"), path)
    stream = "-N " if path.endswith("/events") else ""
    parts = [f"curl {stream}{base}{address}"]
    if method == "post" and body is None:
        parts[0] = f"curl -X POST {base}{address}"
    if operation.get("security"):
        parts.append(f"-H 'Authorization: Bearer {KEY}'")
    if body is not None:
        text = json.dumps(body, indent=2, ensure_ascii=False)
        parts += ["-H 'Content-Type: application/json'", f"-d {shlex.quote(text)}"]
    return " \\\n  ".join(parts)


_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\d+(?:\.\d+)?)')


def highlight_json(value: Any) -> str:
    """Return JSON as HTML, with its keys and values marked."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    end, parts = 0, []
    for found in _TOKEN.finditer(text):
        parts.append(escape(text[end : found.start()], quote=False))
        end = found.end()
        kind = "k" if found[2] else "s" if found[1] else "n"
        word = escape(found[1] or found[0], quote=False)
        parts.append(f'<span class="{kind}">{word}</span>{found[2] or ""}')
    return "".join(parts) + escape(text[end:], quote=False)
