"""A job on a video endpoint: started, asked after until it is done, fetched; ended if canceled.

An endpoint may also answer with the clip itself, as a file or in base64, or with its address.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from kit.engines.base import Asset, Job, Progress
from kit.engines.remote.drawing import answered, asset, item_of, normal, received
from kit.engines.remote.exchange import (
    GOODBYE_SECONDS,
    PATIENT,
    Ask,
    RemoteReply,
    Tell,
    awaited,
    told,
    undoable,
)
from kit.engines.remote.http import FILE_BYTES, RemoteCaller
from kit.engines.remote.site import Site, form, seed
from kit.engines.remote.videos import VideosEntry
from kit.errors import EngineError
from kit.private import make_folder
from kit.wire import FINISHED

_SUFFIX = ".clip"
#: Notes are removed with the wait for the clip; one that is older was left by a job that nobody
#: took over, and endpoints do not keep clips for longer.
_OLDEST_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class Note:
    """What is known of a clip.

    Parameters
    ----------
    found : str
        The address that a process which was killed has left; empty without one.
    file : file, optional
        Where it is written down, without a buffer; None where that cannot be.
    """

    found: str = ""
    file: IO[bytes] | None = None

    def keep(self, address: str) -> None:
        """Write down where the clip is asked after, if that can be: it is being made anyway."""
        if self.file is not None:
            with suppress(OSError):
                self.file.truncate(0)
                self.file.write(address.encode())


@contextmanager
def underway(folder: Path, order: str) -> Iterator[Note]:
    """Yield the note of an order, and remove it at the end, however the wait for the clip ends.

    Another process that waits for the same order has the note locked: then there is none here, and
    each of the two has its own clip made.
    """
    path = folder / f"{order}{_SUFFIX}"
    file = _opened(path)
    if file is None:
        yield Note()
        return
    with file:
        file.seek(0)
        try:
            yield Note(file.read().decode(errors="replace"), file)
        finally:
            with suppress(OSError):
                path.unlink()


def order_of(site: Site, path: str, model: str, job: Job) -> str:
    """Return what tells the order of a job from all others; the same job has the same one."""
    media = {name: [_digest(path) for path in paths] for name, paths in job.media.items()}
    parts = [site.url, path, model, job.prompt, dict(job.parameters), job.seed, media]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _opened(path: Path) -> IO[bytes] | None:
    """Return a note, locked; None where somebody else has it, or where there cannot be any."""
    try:
        make_folder(path.parent)
        _sweep(path.parent)
        file = path.open("a+b", buffering=0)
    except OSError:
        return None
    if _lock(file):
        return file
    file.close()
    return None


def _sweep(folder: Path) -> None:
    for path in folder.glob(f"*{_SUFFIX}"):
        with suppress(OSError):  # somebody else was faster
            if time.time() - path.stat().st_mtime > _OLDEST_SECONDS:
                path.unlink()


def _lock(file: IO[bytes]) -> bool:
    """Take the lock of a file unless another process has it; it is free when that one ends."""
    if os.name == "nt":  # pragma: no cover - a file that is locked there cannot be removed
        return False
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


_NAME = "clip"
#: Longest pause between two looks, in seconds.
_LONGEST_PAUSE = 10.0
#: Parts of the whole: until it is started, and until it is made.
_STARTED, _MADE = 0.02, 0.9


def film(entry: VideosEntry, job: Job, progress: Progress, notes: Path) -> Asset:
    """Have a job rendered by a video endpoint.

    Parameters
    ----------
    notes : Path
        Folder for what is known of clips that are being made, see `underway`.

    Raises
    ------
    EngineError
        The endpoint cannot be reached, refuses the job, fails, or takes too long.
    """
    target = job.folder / _NAME
    order = order_of(entry.site(), entry.path, entry.model, job)

    async def work(tell: Tell) -> None:
        async with RemoteCaller(entry.site()) as caller:
            with underway(notes, order) as note:
                started, address = await _begun(caller, entry, job, note)
                tell(_STARTED)
                if item := item_of(started):
                    await received(caller, item, target, most=FILE_BYTES)
                    return
                address = address or _address(entry, started)
                note.keep(address)
                made = await _wanted(caller, entry, address, started, tell)
                tell(_MADE)
                await _fetch(caller, address, made, target)

    awaited(work, progress, seconds=entry.timeout)
    facts = {"model": entry.model, "service": entry.site().public}
    made = asset(target, "video", facts)
    progress.report(1.0)
    return made


async def _begun(caller: RemoteCaller, entry: VideosEntry, job: Job, note: Note) -> tuple[Any, str]:
    """Return the answer to the start of a job; or that on a clip left behind for it, and where."""
    if note.found:
        reply = await caller.attempt(_look(note.found))
        if 200 <= reply.status < 300 and _state(reply.json()) in ("processing", "completed"):
            return reply.json(), note.found

    async def end(reply: RemoteReply) -> None:
        await _forget(caller, _address(entry, reply.json()))

    return answered(await undoable(caller.ask(_request(entry, job)), end), "video"), ""


def _request(entry: VideosEntry, job: Job) -> Ask:
    fields: dict[str, Any] = {
        **entry.always,
        **job.parameters,
        "model": entry.model,
        "prompt": job.prompt,
    }
    if entry.seed:
        fields["seed"] = seed(job.seed)
    if "seconds" in fields:
        fields["seconds"] = str(fields["seconds"])  # the API has it as text
    pictures = job.media.get("image", ())
    if entry.encoding == "json" and (entry.picture_field or not pictures):
        for path in pictures:
            fields[entry.picture_field] = b64encode(normal(path)).decode()
        return Ask(method="POST", path=entry.path, json=fields, quiet=entry.timeout)
    # A field with a file name of None is a plain one: a form without a file stays multipart.
    parts: list[Any] = [(name, (None, value)) for name, value in form(fields).items()]
    name = entry.picture_field or "input_reference"
    parts += [(name, ("image.png", normal(path), "image/png")) for path in pictures]
    # An endpoint that answers with the clip itself is silent until it is made.
    return Ask(method="POST", path=entry.path, files=parts, quiet=entry.timeout)


def _address(entry: VideosEntry, answer: Any) -> str:
    found = answer.get("id") if isinstance(answer, dict) else None
    if isinstance(found, bool) or not isinstance(found, (str, int)) or found == "":
        raise EngineError("the remote service started nothing", code="upstream_odd")
    return f"{entry.path}/{quote(str(found), safe='')}"


async def _wanted(
    caller: RemoteCaller, entry: VideosEntry, address: str, answer: Any, tell: Tell
) -> Any:
    """Wait until a clip is made, and end it there if nobody wants it any more."""
    try:
        return await _made(caller, entry, address, answer, tell)
    except asyncio.CancelledError:
        await _forget(caller, address)
        raise


async def _made(
    caller: RemoteCaller, entry: VideosEntry, address: str, answer: Any, tell: Tell
) -> Any:
    """Wait until a clip is made and return the last answer.

    Raises
    ------
    EngineError
        It failed, or ended in another way.
    """
    pause = entry.pause
    while (state := _state(answer)) == "processing":
        await asyncio.sleep(pause)
        pause = min(_LONGEST_PAUSE, pause * 1.3)
        reply = await caller.ask(_look(address))
        answer = _job(reply) or reply.json()
        tell(_STARTED + (_MADE - _STARTED) * _fraction(answer))
    if state == "completed":
        return answer
    said = told(answer.get("error"))
    why = caller.reason(said)
    sentence = f"did not make the clip{f': {why}' if why else ''}"
    raise caller.failure(sentence, said or "no reason is given")


def _look(address: str) -> Ask:
    return Ask(method="GET", path=address, again=True, tries=PATIENT, enough=_over)


def _over(reply: RemoteReply) -> bool:
    """Whether an answer tells of a job that is over, whatever its status.

    vLLM-Omni tells of a job that failed under the status of its error, such as 500. Source:
    vllm-project/vllm-omni 0.30, vllm_omni/entrypoints/openai/api_server.py, retrieve_video.
    """
    job = _job(reply)
    return job is not None and _state(job) != "processing"


def _job(reply: RemoteReply) -> dict[str, Any] | None:
    """Return what an answer tells of a job: as its body, or as LiteLLM repeats it in an error."""
    for text in (reply.content.decode(errors="replace"), reply.sentence):
        try:
            found, _ = json.JSONDecoder().raw_decode(text[max(0, text.find("{")) :])
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) and {"id", "status"} <= found.keys():
            return found
    return None


def _state(answer: Any) -> str:
    if not isinstance(answer, dict):
        raise EngineError("the remote service answered with something odd", code="upstream_odd")
    return FINISHED.get(str(answer.get("status", "")).lower(), "processing")


async def _fetch(caller: RemoteCaller, address: str, made: Any, target: Path) -> None:
    """Write a clip to a path.

    SGLang keeps none that it has put into a bucket, and its job names the address there. Source:
    sgl-project/sglang 0.5, multimodal_gen/runtime/entrypoints/openai/video_api.py.
    """
    url = made.get("url")
    item = {"url": url} if isinstance(url, str) and url else None
    try:
        await caller.fetch(f"{address}/content", target, late=item is None)
    except EngineError as error:
        if item is None or error.code != "upstream_rejected":
            raise
        await received(caller, item, target, most=FILE_BYTES)


def _fraction(answer: Any) -> float:
    percent = answer.get("progress") if isinstance(answer, dict) else None
    return min(1.0, max(0.0, percent / 100)) if isinstance(percent, (int, float)) else 0.0


async def _forget(caller: RemoteCaller, address: str) -> None:
    """Tell the endpoint that nobody wants a clip any more; it may not care."""
    try:
        async with asyncio.timeout(GOODBYE_SECONDS):
            await caller.attempt(Ask(method="DELETE", path=address))
    except (EngineError, TimeoutError):
        pass
