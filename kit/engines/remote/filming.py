"""A job on a video endpoint: started, asked after until it is done, fetched; ended if canceled.

An endpoint may also answer with the clip itself, or with its address.
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from typing import Any
from urllib.parse import quote

from kit.engines.base import Asset, Job, Progress
from kit.engines.remote.drawing import form, normal
from kit.engines.remote.exchange import Ask
from kit.engines.remote.http import FILE_BYTES, Caller
from kit.engines.remote.items import item_of, received
from kit.engines.remote.results import asset
from kit.engines.remote.videos import VideosEntry
from kit.engines.remote.waiting import Tell, awaited
from kit.errors import EngineError
from kit.wire import FINISHED

_NAME = "clip"
#: Seconds that saying goodbye to a canceled clip may take, and the longest pause between two looks.
_GOODBYE_SECONDS = 0.75
_LONGEST_PAUSE = 10.0
#: Parts of the whole: until it is started, and until it is made.
_STARTED, _MADE = 0.02, 0.9


def film(entry: VideosEntry, job: Job, progress: Progress) -> Asset:
    """Have a job rendered by a video endpoint.

    Raises
    ------
    EngineError
        The endpoint cannot be reached, refuses the job, fails, or takes too long.
    """

    async def work(tell: Tell) -> None:
        async with Caller(entry.site()) as caller:
            started = (await caller.ask(_request(entry, job))).json()
            tell(_STARTED)
            if item := item_of(started):
                await received(caller, item, job.folder / _NAME, most=FILE_BYTES)
                return
            address = _address(entry, started)
            try:
                await _made(caller, entry, address, started, tell)
            except asyncio.CancelledError:
                await _forget(caller, address)
                raise
            tell(_MADE)
            await caller.fetch(f"{address}/content", job.folder / _NAME, late=True)

    awaited(work, progress, seconds=entry.timeout)
    facts = {"model": entry.model, "service": entry.site().public}
    made = asset(job.folder / _NAME, "video", facts)
    progress.report(1.0)
    return made


def _request(entry: VideosEntry, job: Job) -> Ask:
    fields: dict[str, Any] = {**job.parameters, "model": entry.model, "prompt": job.prompt}
    if entry.seed:
        fields["seed"] = job.seed
    if "seconds" in fields:
        fields["seconds"] = str(fields["seconds"])  # the API has it as text
    pictures = job.media.get("image", ())
    if entry.encoding == "json" and (entry.picture_field or not pictures):
        for path in pictures:
            fields[entry.picture_field] = b64encode(normal(path)).decode()
        return Ask(method="POST", path=entry.path, json=fields, quiet=entry.timeout)
    # A field with a file name of None is a plain one: a form without a file stays multipart.
    parts: list[Any] = [(name, (None, value)) for name, value in form(fields).items()]
    parts += [("input_reference", ("image.png", normal(p), "image/png")) for p in pictures]
    # An endpoint that answers with the clip itself is silent until it is made.
    return Ask(method="POST", path=entry.path, files=parts, quiet=entry.timeout)


def _address(entry: VideosEntry, answer: Any) -> str:
    found = answer.get("id") if isinstance(answer, dict) else None
    if isinstance(found, bool) or not isinstance(found, (str, int)) or found == "":
        raise EngineError("the remote service started nothing", code="upstream_odd")
    return f"{entry.path}/{quote(str(found), safe='')}"


async def _made(caller: Caller, entry: VideosEntry, address: str, answer: Any, tell: Tell) -> None:
    """Wait until a clip is made.

    Raises
    ------
    EngineError
        It failed, or ended in another way.
    """
    pause = entry.pause
    while (state := _state(answer)) == "processing":
        await asyncio.sleep(pause)
        pause = min(_LONGEST_PAUSE, pause * 1.3)
        answer = (await caller.ask(Ask(method="GET", path=address, again=True))).json()
        tell(_STARTED + (_MADE - _STARTED) * _fraction(answer))
    if state != "completed":
        error = answer.get("error")
        named = error.get("message") or error.get("code") if isinstance(error, dict) else error
        said = str(named or "")
        why = caller.reason(said)
        sentence = f"did not make the clip{f': {why}' if why else ''}"
        raise caller.failure(sentence, said or "no reason is given")


def _state(answer: Any) -> str:
    if not isinstance(answer, dict):
        raise EngineError("the remote service answered with something odd", code="upstream_odd")
    return FINISHED.get(str(answer.get("status", "")).lower(), "processing")


def _fraction(answer: Any) -> float:
    percent = answer.get("progress") if isinstance(answer, dict) else None
    return min(1.0, max(0.0, percent / 100)) if isinstance(percent, (int, float)) else 0.0


async def _forget(caller: Caller, address: str) -> None:
    """Tell the endpoint that nobody wants a clip any more; it may not care."""
    try:
        async with asyncio.timeout(_GOODBYE_SECONDS):
            await caller.attempt(Ask(method="DELETE", path=address))
    except (EngineError, TimeoutError):
        pass
