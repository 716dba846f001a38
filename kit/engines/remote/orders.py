"""A job on another machine: begun there, followed until it is made, fetched; ended if canceled.

What differs between endpoints and services of this API is in `requests` and `forwarding`.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

from kit.engines.base import Asset, Job, Progress
from kit.engines.media.inspection import MAGIC, inspect
from kit.engines.remote.http import PATIENT, RemoteCaller, RemoteReply, RemoteRequest
from kit.engines.remote.site import Site
from kit.errors import EngineError
from kit.private import make_folder, try_lock

T = TypeVar("T")
#: Tells how far the work is, 0 to 1.
Tell = Callable[[float], None]
#: Writes what comes of a job to a path, and returns facts about it.
Work = Callable[[RemoteCaller, Job, Path, Tell], Awaitable[Mapping[str, Any]]]

_LOOK_EVERY = 0.2
#: Seconds that ending a job on the other machine may take: a cancel takes effect within one.
_GOODBYE_SECONDS = 0.75
#: Longest pause between two looks at a job, in seconds.
_LONGEST_PAUSE = 10.0
#: Parts of the whole: until a job is begun, and until it is made.
BEGUN, MADE = 0.05, 0.9


def render(work: Work, site: Site, asset_type: str, job: Job, progress: Progress) -> Asset:
    """Have work done on a site and return the file that it leaves as the job's asset.

    The work runs in an event loop of its own. A cancel reaches it as `asyncio.CancelledError`
    within a fifth of a second, wherever it waits.

    Raises
    ------
    CanceledError
        Raised by `progress`.
    EngineError
        The site cannot be reached, refuses the job, fails, takes too long (``timed_out``), or what
        it sends is no asset of the type, broken, or too large (``upstream_odd``).
    """
    target = job.folder / "output"
    fraction = 0.0

    def tell(done: float) -> None:
        nonlocal fraction
        fraction = done

    async def run_in_time() -> Mapping[str, Any]:
        try:
            async with asyncio.timeout(site.timeout), RemoteCaller(site) as caller:
                return await work(caller, job, target, tell)
        except TimeoutError:
            sentence = f"the remote service did not finish within {site.timeout:g} s"
            raise EngineError(sentence, code="timed_out") from None

    async def report_until_done() -> Mapping[str, Any]:
        task = asyncio.create_task(run_in_time())
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=_LOOK_EVERY)
                progress.report(fraction)
        except BaseException:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            raise
        return await task

    facts = asyncio.run(report_until_done())
    asset = _asset(target, asset_type, {"service": site.public, **facts})
    progress.report(1.0)
    return asset


def _asset(path: Path, asset_type: str, facts: Mapping[str, Any]) -> Asset:
    content_type = content_type_of(path, asset_type)
    if content_type is None:
        what = {"image": "a picture", "video": "a video"}[asset_type]
        raise EngineError(f"what the remote service sent is not {what}", code="upstream_odd")
    try:
        measures = inspect(path, content_type)
    except EngineError as error:
        sentence = f"what the remote service sent is of no use: {error}"
        raise EngineError(sentence, code="upstream_odd") from None
    return Asset(path=path, content_type=content_type, metadata=facts, **measures)


def content_type_of(path: Path, kind: str) -> str | None:
    """Return the type of a file that is to be an image, a video or a sound, by its first bytes."""
    with path.open("rb") as file:
        head = file.read(32)
    for content_type, marks in MAGIC.items():
        fits = any(head[at : at + len(mark)] == mark for at, mark in marks)
        if fits and content_type.startswith(f"{kind}/"):
            return content_type
    return None


@dataclass(frozen=True, slots=True)
class RemoteState:
    """How far a job on another machine is."""

    word: str  # processing, completed, failed or canceled
    fraction: float = 0.0
    reason: str = ""  # why it failed
    answer: Any = None  # what tells more of it

    def failure(self, caller: RemoteCaller, what: str) -> EngineError:
        """Return the error of a job that ended without what it was to make."""
        said = self.reason or self.word
        return caller.failure(f"did not make the {what}{caller.reason(said)}", said)


async def follow(
    caller: RemoteCaller,
    look: RemoteRequest,
    end: RemoteRequest,
    read: Callable[[RemoteReply], RemoteState],
    tell: Tell,
    state: RemoteState | None = None,
) -> RemoteState:
    """Ask after a job, of which a state may be known, until it is over; end it if canceled."""
    pause = caller.site.pause
    try:
        while state is None or state.word == "processing":
            if state is not None:
                await asyncio.sleep(pause)
                pause = min(_LONGEST_PAUSE, pause * 1.3)
            state = read(await caller.send(look))
            tell(BEGUN + (MADE - BEGUN) * min(1.0, max(0.0, state.fraction)))
    except asyncio.CancelledError:
        await end_job(caller, end)
        raise
    return state


def look_at(path: str, **more: Any) -> RemoteRequest:
    """Return the request for the state of a job that is paid for."""
    return RemoteRequest(method="GET", path=path, again=True, tries=PATIENT, **more)


async def end_job(caller: RemoteCaller, request: RemoteRequest) -> None:
    """Ask for a job to be ended; a machine that cannot do so goes on with it."""
    with suppress(EngineError, TimeoutError):
        async with asyncio.timeout(_GOODBYE_SECONDS):
            await caller.attempt(request)


async def undo_if_canceled(step: Awaitable[T], undo: Callable[[T], Awaitable[None]]) -> T:
    """Return what a step returns that has the other machine begin something.

    Where a cancel comes in the middle of it, its answer is waited for a moment longer and undone:
    else what was begun would be made, and paid for, in vain.
    """
    task = asyncio.ensure_future(step)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        with suppress(EngineError, TimeoutError):
            async with asyncio.timeout(_GOODBYE_SECONDS):
                await undo(await task)
        raise
    finally:
        task.cancel()


#: Where an answer that is a file itself holds it.
_FILE = "file"


def read_answer(reply: RemoteReply, kind: str) -> Any:
    """Return what the JSON of an answer says; where it is a file itself, that is its only item."""
    if reply.headers.get("content-type", "").startswith(f"{kind}/"):
        return {"data": [{_FILE: reply.content}]}
    return reply.json()


def find_item(answer: Any) -> dict[str, Any] | None:
    """Return the first entry of an answer's ``data``, or None where there is none with a file."""
    data = answer.get("data") if isinstance(answer, dict) else None
    item = data[0] if isinstance(data, list) and data else None
    if not isinstance(item, dict):
        return None
    # JSON knows no bytes, so nothing but the file itself is taken for it.
    is_file = isinstance(item.get(_FILE), bytes)
    return item if is_file or _text(item, "b64_json") or _text(item, "url") else None


async def save_item(
    caller: RemoteCaller, item: Mapping[str, Any], target: Path, *, most: int
) -> None:
    """Write the file of an item to a path."""
    encoded, url = _text(item, "b64_json"), _text(item, "url")
    if isinstance(file := item.get(_FILE), bytes):
        target.write_bytes(file)
    elif encoded or url.startswith("data:"):
        target.write_bytes(_decode(encoded or url))
    else:
        await caller.fetch(caller.resolve(url), target, most=most, late=True)


def _text(item: Mapping[str, Any], name: str) -> str:
    found = item.get(name)
    return found if isinstance(found, str) else ""


def _decode(text: str) -> bytes:
    # Base64 may come in lines, as a ``data:`` address, unpadded.
    text = text.partition(",")[2] if text.startswith("data:") else text
    text = "".join(text.split()).rstrip("=").translate({ord("-"): "+", ord("_"): "/"})
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        sentence = "the file in the remote service's answer cannot be decoded"
        raise EngineError(sentence, code="upstream_odd") from None


def fingerprint(*content: Any) -> str:
    """Return what tells some content, as JSON has it, from all other."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


_SUFFIX = ".clip"
#: Notes are removed with the wait for the job; one that is older was left by a job that was never
#: taken over, and endpoints do not keep what they made for longer.
_OLDEST_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class Note:
    """Where a job is asked after, for whichever process takes it over."""

    found: str = ""  # by a process that was killed
    file: IO[bytes] | None = None  # without a buffer

    def keep(self, address: str) -> None:
        """Write down an address, if that can be: the job is under way anyway."""
        if self.file is not None:
            with suppress(OSError):
                self.file.truncate(0)
                self.file.write(address.encode())


@contextmanager
def keep_note(folder: Path, order: str) -> Iterator[Note]:
    """Yield the note of an order, and remove it at the end, however the wait for the job ends.

    Another process that waits for the same order has the note locked: then there is none here, and
    each of the two has its own job.
    """
    path = folder / f"{order}{_SUFFIX}"
    file = _lock(path)
    if file is None:
        yield Note()
        return
    file.seek(0)
    try:
        yield Note(file.read().decode(errors="replace"), file)
    finally:
        with file, suppress(OSError):
            file.truncate(0)  # whoever finds it before it is gone has another job
        with suppress(OSError):  # closed by now, for Windows removes no file that is open
            path.unlink()


def _lock(path: Path) -> IO[bytes] | None:
    try:
        make_folder(path.parent)
        for old in path.parent.glob(f"*{_SUFFIX}"):
            with suppress(OSError):  # another process was faster
                if time.time() - old.stat().st_mtime > _OLDEST_SECONDS:
                    old.unlink()
        file = path.open("a+b", buffering=0)
    except OSError:
        return None
    if try_lock(file.fileno()):
        return file
    file.close()
    return None
