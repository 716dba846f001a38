"""Requests of jobs to endpoints with OpenAI's image or video API, and their responses."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import cv2
import numpy as np

from kit.engines.base import Job
from kit.engines.media.picture import encode
from kit.engines.media.stills import open_still
from kit.engines.remote import orders
from kit.engines.remote.http import FILE_BYTES, RemoteCaller, RemoteReply, RemoteRequest
from kit.engines.remote.orders import Report
from kit.engines.remote.reasons import find_sentence
from kit.engines.remote.site import EndpointEntry, ImagesEntry, VideosEntry
from kit.errors import EngineError
from kit.wire import FINISHED

#: Maximum side length for endpoints; larger pictures only take longer to send.
_MAX_SIDE = 2048
#: Maximum size of a received picture in bytes.
_MAX_PICTURE_BYTES = 64_000_000
#: Seeds are reduced below this: LocalAI parses them as signed 32 bits, and refuses larger ones.
#: Source: mudler/LocalAI, core/schema/localai.go, VideoRequest.Seed.
_SEED_LIMIT = 2**31
#: Endpoints and models that refuse the field ``response_format``, so that only one job must try.
_WITHOUT_FORMAT: set[tuple[str, str]] = set()


def _fields(entry: EndpointEntry, job: Job) -> dict[str, Any]:
    fields = {**entry.always, **job.parameters, "model": entry.model, "prompt": job.prompt}
    return {**fields, "seed": job.seed % _SEED_LIMIT} if entry.seed else fields


def _json_request(
    entry: EndpointEntry, path: str, fields: Mapping[str, Any], **options: Any
) -> RemoteRequest:
    # Some endpoints send no data until the output is finished.
    return RemoteRequest(method="POST", path=path, json=fields, silence=entry.timeout, **options)


def _form_request(
    entry: EndpointEntry,
    path: str,
    fields: Mapping[str, Any],
    files: list[tuple[str, bytes]],
    **options: Any,
) -> RemoteRequest:
    # A file name of None makes a plain field: so a form without a file is multipart, too.
    parts: list[Any] = [
        (name, (None, json.dumps(v) if isinstance(v, bool | list | dict) else str(v)))
        for name, v in fields.items()
    ]
    parts += [(name, (f"{n}.png", file, "image/png")) for n, (name, file) in enumerate(files)]
    return RemoteRequest(method="POST", path=path, files=parts, silence=entry.timeout, **options)


def _png(path: Path) -> bytes:
    return encode(open_still(path, side=_MAX_SIDE).flatten(), "png")


def _png_mask(path: Path, picture: Path) -> bytes:
    # White and transparent where it may change: OpenAI uses transparency only, servers on diffusers
    # or stable-diffusion.cpp use brightness.
    height, width = open_still(picture, side=_MAX_SIDE).flatten().shape[:2]
    gray = cv2.cvtColor(open_still(path, side=_MAX_SIDE).flatten(), cv2.COLOR_RGB2GRAY)
    gray = cv2.resize(gray, (width, height), interpolation=cv2.INTER_LINEAR)
    return encode(np.dstack([gray, gray, gray, 255 - gray]), "png")


def _base64(path: Path) -> str:
    return b64encode(_png(path)).decode()


async def make_image(
    entry: ImagesEntry, caller: RemoteCaller, job: Job, target: Path, report: Report
) -> Mapping[str, Any]:
    """Make a job's picture with an endpoint, and return its facts."""
    if job.media.get("mask_image") and not job.media.get("image"):
        raise EngineError("a mask needs its image", code="missing_image")
    reply = await _image_reply(entry, caller, job)
    report(orders.RENDERED)
    item = orders.find_item(orders.read_answer(reply, "image"))
    if item is None:
        # Gateways may report an error with a success status.
        sentence = f"answered without a picture{caller.reason(reply.sentence)}"
        detail = reply.sentence or "it gives no reason"
        raise caller.failure(sentence, detail, code="upstream_malformed")
    await orders.save_item(caller, item, target, most=_MAX_PICTURE_BYTES)
    revised = item.get("revised_prompt")
    if isinstance(revised, str) and revised not in ("", job.prompt):
        return {"model": entry.model, "revised_prompt": revised[:4000]}
    return {"model": entry.model}


async def _image_reply(entry: ImagesEntry, caller: RemoteCaller, job: Job) -> RemoteReply:
    # Repeated only without a refused field, never if the first request may have succeeded.
    endpoint = (entry.url, entry.model)
    if entry.response_format and endpoint not in _WITHOUT_FORMAT:
        reply = await caller.send(_image_request(entry, job, entry.response_format))
        if reply.is_good:
            return reply
        _WITHOUT_FORMAT.add(endpoint)
    return await caller.send(_image_request(entry, job, ""))


def _image_request(entry: ImagesEntry, job: Job, response_format: str) -> RemoteRequest:
    fields = _fields(entry, job) | {"n": 1}
    options: dict[str, Any] = {}
    if response_format:
        fields["response_format"] = response_format
        options["accepts"] = lambda reply: (
            reply.status in (400, 422) and "response_format" in reply.sentence
        )
    pictures = job.media.get("image", ())
    if entry.picture_field or not pictures:
        if pictures:
            fields[entry.picture_field] = [_base64(path) for path in pictures]
        return _json_request(entry, "v1/images/generations", fields, **options)
    # Several pictures are named as in OpenAI's client.
    name = "image" if len(pictures) == 1 else "image[]"
    files = [(name, _png(path)) for path in pictures]
    masks = job.media.get("mask_image", ())
    files += [(entry.mask_field or "mask", _png_mask(path, pictures[0])) for path in masks]
    return _form_request(entry, entry.edits, fields, files, **options)


def order_of(entry: VideosEntry, job: Job) -> str:
    """Return the fingerprint of a job's order; the same job has the same one."""
    media = {name: [orders.digest(path) for path in paths] for name, paths in job.media.items()}
    endpoint = (entry.url, entry.path, entry.model)
    return orders.fingerprint(*endpoint, job.prompt, dict(job.parameters), job.seed, media)


async def make_video(
    entry: VideosEntry, notes: Path, caller: RemoteCaller, job: Job, target: Path, report: Report
) -> Mapping[str, Any]:
    """Make a job's clip with an endpoint, with a note in a folder; return its facts."""
    with orders.open_note(notes, order_of(entry, job)) as note:
        address, answer = note.address, None
        if address:  # from a process that was killed
            reply = await caller.attempt(orders.poll_job(address, accepts=_is_over))
            answer = reply.json() if reply.is_good else None
        if answer is None or _state_of(answer).status not in ("processing", "completed"):
            answer = await _start_job(entry, caller, job)
            if item := orders.find_item(answer):
                await orders.save_item(caller, item, target, most=FILE_BYTES)
                return {"model": entry.model}
            address = _address(entry, answer)
        report(orders.STARTED)
        note.write(address)
        poll, cancel = orders.poll_job(address, accepts=_is_over), _cancel(address)
        state = await orders.follow(caller, poll, cancel, _state, report, _state_of(answer))
        if state.status != "completed":
            raise state.failure(caller, "clip")
        report(orders.RENDERED)
        await _fetch(caller, address, state.answer, target)
    return {"model": entry.model}


async def _start_job(entry: VideosEntry, caller: RemoteCaller, job: Job) -> Any:
    async def undo(reply: RemoteReply) -> None:
        await orders.cancel_job(caller, _cancel(_address(entry, reply.json())))

    return orders.read_answer(
        await orders.undo_if_canceled(caller.send(_video_request(entry, job)), undo), "video"
    )


def _video_request(entry: VideosEntry, job: Job) -> RemoteRequest:
    fields, pictures = _fields(entry, job), job.media.get("image", ())
    if "seconds" in fields:
        fields["seconds"] = str(fields["seconds"])  # a string in the API
    if entry.encoding == "json" and (entry.picture_field or not pictures):
        if pictures:
            fields[entry.picture_field] = _base64(pictures[0])
        return _json_request(entry, entry.path, fields)
    name = entry.picture_field or "input_reference"
    return _form_request(entry, entry.path, fields, [(name, _png(path)) for path in pictures])


def _address(entry: VideosEntry, answer: Any) -> str:
    found = answer.get("id") if isinstance(answer, dict) else None
    if isinstance(found, bool) or not isinstance(found, (str, int)) or found == "":
        raise EngineError("the remote service started no job", code="upstream_malformed")
    return f"{entry.path}/{quote(str(found), safe='')}"


def _cancel(address: str) -> RemoteRequest:
    return RemoteRequest(method="DELETE", path=address)


def _is_over(reply: RemoteReply) -> bool:
    # vLLM-Omni returns failed jobs with the status of their error, such as 500. Source:
    # vllm-project/vllm-omni 0.30, vllm_omni/entrypoints/openai/api_server.py, retrieve_video.
    found = _find_job(reply)
    return found is not None and _state_of(found).status != "processing"


def _find_job(reply: RemoteReply) -> dict[str, Any] | None:
    # In the body, or repeated by LiteLLM in an error.
    for text in (reply.content.decode(errors="replace"), reply.sentence):
        try:
            found, _ = json.JSONDecoder().raw_decode(text[max(0, text.find("{")) :])
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) and {"id", "status"} <= found.keys():
            return found
    return None


def _state(reply: RemoteReply) -> orders.RemoteState:
    return _state_of(_find_job(reply) or reply.json())


def _state_of(answer: Any) -> orders.RemoteState:
    if not isinstance(answer, dict):
        raise EngineError(
            "the remote service answered with something unexpected", code="upstream_malformed"
        )
    percent = answer.get("progress")
    return orders.RemoteState(
        FINISHED.get(str(answer.get("status", "")).lower(), "processing"),
        percent / 100 if isinstance(percent, (int, float)) else 0.0,
        find_sentence(answer.get("error")),
        answer,
    )


async def _fetch(
    caller: RemoteCaller, address: str, answer: Mapping[str, Any], target: Path
) -> None:
    # SGLang deletes files that it has put into a bucket, and its job has the URL there. Source:
    # sgl-project/sglang 0.5, multimodal_gen/runtime/entrypoints/openai/video_api.py.
    url = answer.get("url")
    item = {"url": url} if isinstance(url, str) and url else None
    try:
        await caller.fetch(f"{address}/content", target, late=item is None)
    except EngineError as error:
        if item is None or error.code != "upstream_rejected":
            raise
        await orders.save_item(caller, item, target, most=FILE_BYTES)
