"""A job on another service of this API: files sent, started once, followed, fetched.

What is sent carries idempotency keys made from the content. So a job that is tried again after
this process was killed finds the order that it left behind, and is not paid for twice.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from pydantic import ValidationError

from kit.engines.base import Asset, Job, Progress
from kit.engines.media.inspection import MAGIC
from kit.engines.remote.drawing import asset
from kit.engines.remote.exchange import (
    GOODBYE_SECONDS,
    PATIENT,
    Ask,
    RemoteReply,
    Tell,
    awaited,
    undoable,
)
from kit.engines.remote.http import RemoteCaller
from kit.engines.remote.site import Site
from kit.errors import EngineError
from kit.wire import Generation, Model, Receipt, Ticket, WireShape

W = TypeVar("W", bound=WireShape)
_ROOT = "v1/creative-studio"
_NAME = "output"
_LONGEST_PAUSE = 10.0
#: Orders of the same content that may have ended badly before one is given up.
_ORDERS = 20
#: Characters of metadata, as JSON, that are taken over with a result.
_MOST_TOLD = 32_000
#: Parts of the whole: until the files are there, and until the output is made.
_SENT, _MADE = 0.05, 0.9


def forward(site: Site, model: Model, job: Job, progress: Progress) -> Asset:
    """Have a job rendered by another service.

    Parameters
    ----------
    model : Model
        The model as that service describes it, under the id that it has there.

    Raises
    ------
    EngineError
        The service cannot be reached, refuses the job, fails, or takes too long.
    """

    async def work(tell: Tell) -> Generation:
        async with RemoteCaller(site) as caller:
            body = await _body(caller, model, job)
            tell(_SENT)
            generation = await _made(caller, site, body, job.seed, tell)
            tell(_MADE)
            await _fetch(caller, generation, job.folder / _NAME)
            return generation

    generation = awaited(work, progress, seconds=site.timeout)
    charged = generation.credits_charged
    facts = {
        **_told(generation),
        "service": site.public,
        "model": model.id,
        "generation": generation.id,
        **({} if charged is None else {"credits_charged": float(charged)}),
    }
    made = asset(job.folder / _NAME, model.asset_type, facts)
    progress.report(1.0)
    return made


def _told(generation: Generation) -> dict[str, Any]:
    """Return what that service tells of the result, as far as it is of a sensible size."""
    told = (generation.output.metadata if generation.output else None) or {}
    return told if len(json.dumps(told)) <= _MOST_TOLD else {}


async def _body(caller: RemoteCaller, model: Model, job: Job) -> dict[str, Any]:
    body: dict[str, Any] = {"modelId": model.id, "parameters": _parameters(model, job)}
    if model.supports_prompt and job.prompt:
        body["prompt"] = job.prompt
    uploads: dict[str, str | list[str]] = {}
    for parameter in model.media_parameters:
        paths = job.media.get(parameter.name, ())
        ids = [await _uploaded(caller, model.id, parameter.type, path) for path in paths]
        if ids:
            uploads[parameter.name] = ids if (parameter.max_items or 1) > 1 else ids[0]
    return {**body, "mediaUploads": uploads} if uploads else body


def _parameters(model: Model, job: Job) -> dict[str, Any]:
    """Return the settings as that service knows them; the seed is always told."""
    values = dict(job.parameters)
    for parameter in model.setting_parameters:
        if parameter.name == "seed" and parameter.type == "integer":
            low = int(parameter.minimum or 0)
            high = int(2**32 - 1 if parameter.maximum is None else parameter.maximum)
            values["seed"] = low + job.seed % max(1, high - low + 1)
    return values


async def _uploaded(caller: RemoteCaller, model_id: str, kind: str, path: Path) -> str:
    """Send a file and return its id there.

    A ticket that was given for the same content before is given again: its file may be there, and
    then it is not sent twice; its address may be too old, and then another ticket is asked for.
    """
    order = {
        "modelId": model_id,
        "contentType": _content_type(path, kind),
        "fileSizeBytes": path.stat().st_size,
    }
    order["fileName"] = f"{kind}.{str(order['contentType']).partition('/')[2]}"
    digest = await asyncio.to_thread(_digest, path)
    for number in range(2):
        key = _key(order, digest, number)
        reply = await caller.ask(_post(f"{_ROOT}/media-uploads", order, key))
        ticket = _read(Ticket, reply)
        sent = await caller.attempt(_put(caller, ticket, path))
        if sent.status < 300 or (sent.status == 409 and _replayed(reply)):
            return ticket.upload_id
        if not _replayed(reply):
            break
    raise caller.refusal(sent)


async def _made(
    caller: RemoteCaller, site: Site, body: Mapping[str, Any], seed: int, tell: Tell
) -> Generation:
    """Start a generation, or find the one that was started before, and wait for its end."""

    async def end(reply: RemoteReply) -> None:
        await _cancel(caller, _read(Receipt, reply))

    for number in range(_ORDERS):
        key = _key(body, str(seed), number)
        reply = await undoable(caller.ask(_post(f"{_ROOT}/generations", body, key)), end)
        receipt = _read(Receipt, reply)
        try:
            generation = await _followed(caller, site, receipt, tell)
        except asyncio.CancelledError:
            await _cancel(caller, receipt)
            raise
        if generation.state == "completed":
            return generation
        if not _replayed(reply):
            break
        # An order that ended badly before is answered for a day: this one is a new one.
    why = caller.reason(generation.error or "")
    after = f": {why}" if why else ""
    sentence = f"the remote service did not render the job ({generation.state}){after}"
    raise EngineError(sentence, code="upstream_failed")


async def _followed(caller: RemoteCaller, site: Site, receipt: Receipt, tell: Tell) -> Generation:
    address, pause = _status(caller, receipt), site.pause
    while True:
        reply = await caller.ask(Ask(method="GET", path=address, again=True, tries=PATIENT))
        generation = _read(Generation, reply)
        if generation.finished:
            return generation
        tell(_SENT + (_MADE - _SENT) * min(1.0, max(0.0, generation.progress or 0.0)))
        await asyncio.sleep(pause)
        pause = min(_LONGEST_PAUSE, pause * 1.2)


async def _fetch(caller: RemoteCaller, generation: Generation, target: Path) -> None:
    if not generation.output_url:
        raise EngineError("the remote service made no output", code="upstream_odd")
    await caller.fetch(generation.output_url, target)
    told = generation.output.sha256 if generation.output else None
    if told and told.lower() != await asyncio.to_thread(_digest, target):
        raise EngineError("the output did not arrive as it was sent", code="upstream_odd")


async def _cancel(caller: RemoteCaller, receipt: Receipt) -> None:
    """Pass a cancel on; a service that knows no cancel goes on for nobody."""
    path = f"{_own_path(receipt)}/cancel"
    try:
        async with asyncio.timeout(GOODBYE_SECONDS):
            await caller.attempt(_post(path, None, _key({"id": receipt.id}, "cancel", 0)))
    except (EngineError, TimeoutError):
        pass


def _status(caller: RemoteCaller, receipt: Receipt) -> str:
    """Return where to ask after a generation; an address elsewhere would be told the key."""
    url = receipt.status_url
    return url if url and caller.own(caller.address(url)) else _own_path(receipt)


def _own_path(receipt: Receipt) -> str:
    return f"{_ROOT}/generations/{quote(receipt.id, safe='')}"


def _post(path: str, body: Mapping[str, Any] | None, key: str) -> Ask:
    headers = {"Idempotency-Key": key}
    return Ask(method="POST", path=path, json=body, headers=headers, again=True)


def _put(caller: RemoteCaller, ticket: Ticket, path: Path) -> Ask:
    size = {"Content-Length": str(path.stat().st_size)}
    given = {name for name in ticket.required_headers if name.lower() != "content-length"}
    headers = {name: ticket.required_headers[name] for name in given} | size
    url = caller.safe(ticket.upload_url)
    method = ticket.method
    return Ask(method=method, path=url, upload=path, headers=headers, bare=True, again=True)


def _key(content: Mapping[str, Any], more: str, number: int) -> str:
    text = json.dumps([content, more, number], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _replayed(reply: RemoteReply) -> bool:
    return reply.headers.get("idempotency-replayed", "").lower() == "true"


def _read(kind: type[W], reply: RemoteReply) -> W:
    try:
        return kind.model_validate(reply.json())
    except ValidationError:
        sentence = "the remote service answered with something odd"
        raise EngineError(sentence, code="upstream_odd") from None


def _content_type(path: Path, kind: str) -> str:
    with path.open("rb") as file:
        head = file.read(32)
    for content_type, marks in MAGIC.items():
        if content_type.startswith(f"{kind}/") and any(
            head[at : at + len(mark)] == mark for at, mark in marks
        ):
            return content_type
    raise EngineError(f"an input file is not of type {kind}", code="wrong_type")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
