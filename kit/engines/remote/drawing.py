"""A job on an image endpoint: what is sent, and the picture in the answer."""

from __future__ import annotations

import base64
import binascii
import io
from base64 import b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from PIL import Image

from kit.engines.base import Asset, Job, Progress
from kit.engines.configured.pictures import opaque
from kit.engines.media import picture, stills
from kit.engines.media.footage import Footage
from kit.engines.media.inspection import MAGIC, inspect
from kit.engines.remote.exchange import Ask, RemoteReply, Tell, awaited
from kit.engines.remote.http import RemoteCaller
from kit.engines.remote.images import ImagesEntry
from kit.engines.remote.site import form, seed
from kit.errors import EngineError

#: Where an entry holds a file as it came.
_FILE = "file"


def answered(reply: RemoteReply, kind: str) -> Any:
    """Return what the JSON of an answer says; where it is a file itself, that is its only entry.

    Parameters
    ----------
    kind : str
        Of the file: ``image`` or ``video``.

    Raises
    ------
    EngineError
        It is neither (``upstream_odd``).
    """
    if reply.headers.get("content-type", "").startswith(f"{kind}/"):
        return {"data": [{_FILE: reply.content}]}
    return reply.json()


def item_of(answer: Any) -> dict[str, Any] | None:
    """Return the first entry of an answer's ``data``, or None where there is none with a file."""
    data = answer.get("data") if isinstance(answer, dict) else None
    item = data[0] if isinstance(data, list) and data else None
    if not isinstance(item, dict):
        return None
    # JSON knows no bytes, so nothing but the file itself is taken for it.
    is_file = isinstance(item.get(_FILE), bytes)
    return item if is_file or _text(item, "b64_json") or _text(item, "url") else None


async def received(
    caller: RemoteCaller, item: Mapping[str, Any], target: Path, *, most: int
) -> None:
    """Write the file of an item to a path.

    Raises
    ------
    EngineError
        It is garbled or too large, it lies where it cannot be fetched safely, or it did not come.
    """
    if isinstance(file := item.get(_FILE), bytes):
        target.write_bytes(file)
        return
    encoded, url = _text(item, "b64_json"), _text(item, "url")
    if url.startswith("data:"):
        encoded = encoded or url
    if encoded:
        target.write_bytes(_decoded(encoded))
    else:
        await caller.fetch(caller.beside(url), target, most=most, late=True)


def _text(item: Mapping[str, Any], name: str) -> str:
    found = item.get(name)
    return found if isinstance(found, str) else ""


def _decoded(text: str) -> bytes:
    """Return bytes that were written as base64: in lines, as a ``data:`` address, unpadded."""
    if text.startswith("data:"):
        text = text.partition(",")[2]
    text = "".join(text.split()).rstrip("=").translate({ord("-"): "+", ord("_"): "/"})
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        sentence = "the file in the remote service's answer is garbled"
        raise EngineError(sentence, code="upstream_odd") from None


_ENDINGS = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/webp": ".webp",
    "image/gif": ".gif",
    "video/mp4": ".mp4",
    "video/quicktime": ".mov",
    "video/webm": ".webm",
}
_POSTER_AT = 0.4  # of the length


def asset(path: Path, asset_type: str, metadata: Mapping[str, Any]) -> Asset:
    """Return a file that was received as the asset of a job.

    Parameters
    ----------
    path : Path
        In the job's folder; it is given the ending of its type.
    asset_type : str
        ``image`` or ``video``: what it must be.

    Raises
    ------
    EngineError
        It is something else (``upstream_odd``), broken, or too large.
    """
    content_type = _content_type(path, asset_type)
    try:
        facts = inspect(path, content_type)
    except EngineError as error:
        sentence = f"what the remote service sent is of no use: {error}"
        raise EngineError(sentence, code="upstream_odd") from None
    named = path.rename(path.with_suffix(_ENDINGS[content_type]))
    seconds = facts.get("duration_seconds")
    pixels = (
        _poster(named, seconds or 0.0) if asset_type == "video" else stills.opened(named).pixels
    )
    return Asset(
        path=named,
        content_type=content_type,
        width=facts["width"],
        height=facts["height"],
        duration_seconds=seconds,
        thumbnail=picture.write_thumbnail(pixels, path.parent),
        metadata=metadata,
    )


def _content_type(path: Path, asset_type: str) -> str:
    with path.open("rb") as file:
        head = file.read(32)
    for content_type in _ENDINGS:
        kind = content_type.partition("/")[0]
        marks = MAGIC[content_type]
        if kind == asset_type and any(head[at : at + len(m)] == m for at, m in marks):
            return content_type
    what = {"image": "a picture", "video": "a video"}[asset_type]
    raise EngineError(f"what the remote service sent is not {what}", code="upstream_odd")


def _poster(path: Path, seconds: float) -> Any:
    with Footage(path) as footage:
        frames = footage.frames(footage.fps or 24, start=seconds * _POSTER_AT)
        found = next(iter(frames), None)
        if found is None:
            found = next(iter(footage.frames(footage.fps or 24)))
    return found


#: What endpoints take at most; larger pictures only take longer to send.
MOST_SIDE = 2048
#: Largest picture that is taken, in bytes.
_PICTURE_BYTES = 64_000_000
_NAME = "picture"
#: Endpoints and models that refused the field ``response_format``: no other job has to find out.
_WITHOUT_FORMAT: set[tuple[str, str]] = set()


def draw(entry: ImagesEntry, job: Job, progress: Progress) -> Asset:
    """Have a job rendered by an image endpoint.

    Raises
    ------
    EngineError
        The endpoint cannot be reached, refuses the job, or answers with something else.
    """
    if job.media.get("mask_image") and not job.media.get("image"):
        raise EngineError("a mask needs the image that it is for", code="missing_image")

    async def work(tell: Tell) -> dict[str, Any]:
        async with RemoteCaller(entry.site()) as caller:
            reply = await _asked(caller, entry, job)
            tell(0.8)
            item = item_of(answered(reply, "image"))
            if item is None:
                raise _nothing(caller, reply)
            await received(caller, item, job.folder / _NAME, most=_PICTURE_BYTES)
            return item

    item = awaited(work, progress, seconds=entry.timeout)
    facts = {"model": entry.model, "service": entry.site().public}
    revised = item.get("revised_prompt")
    if isinstance(revised, str) and revised not in ("", job.prompt):
        facts["revised_prompt"] = revised[:4000]
    made = asset(job.folder / _NAME, "image", facts)
    progress.report(1.0)
    return made


def _nothing(caller: RemoteCaller, reply: RemoteReply) -> EngineError:
    """Return the error of an answer without a picture; gateways may say why, as if all was well."""
    why = caller.reason(reply.sentence)
    sentence = f"answered without a picture{f': {why}' if why else ''}"
    return caller.failure(sentence, reply.sentence or "it gives no reason", code="upstream_odd")


def normal(path: Path) -> bytes:
    """Return an input picture as an upright PNG without its camera's notes."""
    return _png(Image.fromarray(opaque(path, most=MOST_SIDE)))


async def _asked(caller: RemoteCaller, entry: ImagesEntry, job: Job) -> RemoteReply:
    """Return the answer to a job; it is sent again only without a field that was refused.

    Never once it may have been carried out: pictures cost somebody money.
    """
    place = (entry.url, entry.model)
    if not entry.response_format or place in _WITHOUT_FORMAT:
        return await caller.ask(_request(entry, job, ""))
    reply = await caller.attempt(_request(entry, job, entry.response_format))
    if reply.status in (400, 422) and "response_format" in reply.sentence:
        _WITHOUT_FORMAT.add(place)
        return await caller.ask(_request(entry, job, ""))
    if not 200 <= reply.status < 300:
        raise caller.refusal(reply, "POST")
    return reply


def _request(entry: ImagesEntry, job: Job, response_format: str) -> Ask:
    fields: dict[str, Any] = {
        **entry.always,
        **job.parameters,
        "model": entry.model,
        "prompt": job.prompt,
        "n": 1,
    }
    if entry.seed:
        fields["seed"] = seed(job.seed)
    if response_format:
        fields["response_format"] = response_format
    pictures = job.media.get("image", ())
    if entry.picture_field and pictures:
        fields[entry.picture_field] = [b64encode(normal(path)).decode() for path in pictures]
    if entry.picture_field or not pictures:
        address = "v1/images/generations"
        return Ask(method="POST", path=address, json=fields, quiet=entry.timeout)
    files = _files(entry, pictures, job.media.get("mask_image", ()))
    sent = form(fields)
    return Ask(method="POST", path=entry.edits, data=sent, files=files, quiet=entry.timeout)


def _files(entry: ImagesEntry, pictures: Sequence[Path], masks: Sequence[Path]) -> list[Any]:
    """Return the files of a form; several pictures are named as OpenAI's client names them."""
    name = "image" if len(pictures) == 1 else "image[]"
    files = [(name, (f"{n}.png", normal(p), "image/png")) for n, p in enumerate(pictures)]
    for path in masks:
        field = entry.mask_field or "mask"
        files.append((field, ("mask.png", _mask(path, pictures[0]), "image/png")))
    return files


def _mask(path: Path, picture: Path) -> bytes:
    """Return a mask as every endpoint reads it: white and see-through where it may change.

    OpenAI looks at what can be seen through alone. Servers on diffusers or stable-diffusion.cpp
    look at how light it is, and not at that.
    """
    height, width = opaque(picture, most=MOST_SIDE).shape[:2]
    white = cv2.cvtColor(opaque(path, most=MOST_SIDE), cv2.COLOR_RGB2GRAY)
    fitted = cv2.resize(white, (width, height), interpolation=cv2.INTER_LINEAR)
    return _png(Image.fromarray(np.dstack([fitted, fitted, fitted, 255 - fitted])))


def _png(image: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=3)
    return buffer.getvalue()
