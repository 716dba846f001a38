"""A job on another service with this API: uploads files, starts it once, waits, downloads.

Requests have idempotency keys computed from the content. So a job that is retried after this
process was killed finds its previous order, and is not charged twice.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from pydantic import ValidationError

from kit.engines.base import Job
from kit.engines.remote import orders
from kit.engines.remote.http import RemoteCaller, RemoteReply, RemoteRequest
from kit.errors import EngineError
from kit.wire import Generation, Model, Receipt, Ticket, WireShape

W = TypeVar("W", bound=WireShape)
_ROOT = "v1/creative-studio"
#: Maximum of failed orders of the same content before the job fails.
_MAX_ORDERS = 20
#: Maximum of characters of metadata, as JSON, that are copied from a result.
_MAX_FACTS = 32_000


async def forward(
    model: Model, caller: RemoteCaller, job: Job, target: Path, report: orders.Report
) -> Mapping[str, Any]:
    """Render a job on another service, with the model as that service describes it."""
    body = await _build_body(caller, model, job)
    report(orders.STARTED)
    generation = await _run_generation(caller, body, job.seed, report)
    report(orders.RENDERED)
    if not generation.output_url:
        raise EngineError("the remote service made no output", code="upstream_malformed")
    await caller.fetch(generation.output_url, target)
    output, charged = generation.output, generation.credits_charged
    sha256 = (output and output.sha256) or ""
    if sha256 and sha256.lower() != await asyncio.to_thread(orders.digest, target):
        raise EngineError("the output was damaged on the way", code="upstream_malformed")
    facts = (output and output.metadata) or {}
    return {
        **(facts if len(json.dumps(facts)) <= _MAX_FACTS else {}),
        "model": model.id,
        "generation": generation.id,
        **({} if charged is None else {"credits_charged": float(charged)}),
    }


async def _build_body(caller: RemoteCaller, model: Model, job: Job) -> dict[str, Any]:
    values = dict(job.parameters)
    for parameter in model.setting_parameters:
        if parameter.name == "seed" and parameter.type == "integer":
            low = int(parameter.minimum or 0)
            high = int(2**32 - 1 if parameter.maximum is None else parameter.maximum)
            values["seed"] = low + job.seed % max(1, high - low + 1)
    body: dict[str, Any] = {"modelId": model.id, "parameters": values}
    if model.supports_prompt and job.prompt:
        body["prompt"] = job.prompt
    uploads: dict[str, str | list[str]] = {}
    for parameter in model.media_parameters:
        paths = job.media.get(parameter.name, ())
        ids = [await _upload(caller, model.id, parameter.type, path) for path in paths]
        if ids:
            uploads[parameter.name] = ids if (parameter.max_items or 1) > 1 else ids[0]
    return {**body, "mediaUploads": uploads} if uploads else body


async def _upload(caller: RemoteCaller, model_id: str, kind: str, path: Path) -> str:
    # The same content gets the same ticket as before: a file that was received is not sent again;
    # if the ticket has expired, another one is requested.
    content_type = orders.content_type_of(path, kind)
    if content_type is None:
        raise EngineError(f"an input file is not of type {kind}", code="wrong_type")
    size, content = path.stat().st_size, await asyncio.to_thread(orders.digest, path)
    order = {"modelId": model_id, "contentType": content_type, "fileSizeBytes": size}
    order["fileName"] = f"{kind}.{content_type.partition('/')[2]}"
    for number in range(2):
        request = _post("media-uploads", order, orders.fingerprint(order, content, number))
        reply = await caller.send(request)
        ticket = _read(Ticket, reply)
        required = ticket.required_headers.items()
        headers = {name: value for name, value in required if name.lower() != "content-length"}
        put = RemoteRequest(
            method=ticket.method,
            path=caller.safe_url(ticket.upload_url),
            upload=path,
            headers=headers | {"Content-Length": str(size)},
            without_key=True,
            repeatable=True,
        )
        sent = await caller.attempt(put)
        if sent.status < 300 or (sent.status == 409 and _is_replay(reply)):
            return ticket.upload_id
        if not _is_replay(reply):
            break
    raise caller.refusal(sent)


async def _run_generation(
    caller: RemoteCaller, body: Mapping[str, Any], seed: int, report: orders.Report
) -> Generation:
    async def undo(reply: RemoteReply) -> None:
        await orders.cancel_job(caller, _cancel(_read(Receipt, reply)))

    for number in range(_MAX_ORDERS):
        request = _post("generations", body, orders.fingerprint(body, str(seed), number))
        reply = await orders.undo_if_canceled(caller.send(request), undo)
        receipt = _read(Receipt, reply)
        # The key must not be sent to a URL of another origin.
        url = receipt.status_url
        own = url and caller.is_own(caller.address(url))
        path = url if url and own else f"{_ROOT}/{_job_path(receipt)}"
        state = await orders.follow(caller, orders.poll_job(path), _cancel(receipt), _state, report)
        if state.status == "completed":
            generation: Generation = state.answer
            return generation
        if not _is_replay(reply):
            break
        # The response of a failed order is replayed for a day: the next one needs a new key.
    raise state.failure(caller, "output")


def _state(reply: RemoteReply) -> orders.RemoteState:
    found = _read(Generation, reply)
    return orders.RemoteState(found.state, found.progress or 0.0, found.error or "", found)


def _job_path(receipt: Receipt) -> str:
    return f"generations/{quote(receipt.id, safe='')}"


def _cancel(receipt: Receipt) -> RemoteRequest:
    key = orders.fingerprint({"id": receipt.id}, "cancel", 0)
    return _post(f"{_job_path(receipt)}/cancel", None, key)


def _post(path: str, body: Mapping[str, Any] | None, key: str) -> RemoteRequest:
    headers = {"Idempotency-Key": key}
    path = f"{_ROOT}/{path}"
    return RemoteRequest(method="POST", path=path, json=body, headers=headers, repeatable=True)


def _is_replay(reply: RemoteReply) -> bool:
    return reply.headers.get("idempotency-replayed", "").lower() == "true"


def _read(kind: type[W], reply: RemoteReply) -> W:
    try:
        return kind.model_validate(reply.json())
    except ValidationError:
        sentence = "the remote service answered with something unexpected"
        raise EngineError(sentence, code="upstream_malformed") from None
