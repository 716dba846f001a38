"""A job on another machine: started, polled until it is done, downloaded; ended if canceled.

The differences between endpoints and services of this API are in `requests` and `forwarding`.
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
from kit.engines.remote.http import PAID_TRIES, RemoteCaller, RemoteReply, RemoteRequest
from kit.engines.remote.site import Site
from kit.errors import EngineError
from kit.private import make_folder, try_lock

T = TypeVar("T")
#: Reports progress, 0 to 1.
Report = Callable[[float], None]
#: Writes the output of a job to a path, and returns its facts.
Work = Callable[[RemoteCaller, Job, Path, Report], Awaitable[Mapping[str, Any]]]

_POLL_SECONDS = 0.2
#: Time limit in seconds for ending a job on the other machine: a cancel takes at most one.
_CANCEL_SECONDS = 0.75
#: Maximum pause between two polls of a job, in seconds.
_MAX_PAUSE_SECONDS = 10.0
#: Progress when a job has started, and when it is done and only the download is left.
STARTED, RENDERED = 0.05, 0.9


def render(work: Work, site: Site, asset_type: str, job: Job, progress: Progress) -> Asset:
    """Run work on a site and return its output file as the job's asset.

    The work runs in its own event loop. A cancel raises `asyncio.CancelledError` in it within a
    fifth of a second, at any await.

    Raises
    ------
    CanceledError
        Raised by `progress`.
    EngineError
        The site cannot be reached, refuses the job, fails, takes too long (``timed_out``), or its
        output is no asset of the type, broken, or too large (``upstream_malformed``).
    """
    target = job.folder / "output"
    fraction = 0.0

    def report(value: float) -> None:
        nonlocal fraction
        fraction = value

    async def run_with_timeout() -> Mapping[str, Any]:
        try:
            async with asyncio.timeout(site.timeout), RemoteCaller(site) as caller:
                return await work(caller, job, target, report)
        except TimeoutError:
            sentence = f"the remote service did not finish within {site.timeout:g} s"
            raise EngineError(sentence, code="timed_out") from None

    async def report_until_done() -> Mapping[str, Any]:
        task = asyncio.create_task(run_with_timeout())
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=_POLL_SECONDS)
                progress.report(fraction)
        except BaseException:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            raise
        return await task

    facts = asyncio.run(report_until_done())
    asset = _make_asset(target, asset_type, {"service": site.public, **facts})
    progress.report(1.0)
    return asset


def _make_asset(path: Path, asset_type: str, facts: Mapping[str, Any]) -> Asset:
    content_type = content_type_of(path, asset_type)
    if content_type is None:
        what = {"image": "a picture", "video": "a video"}[asset_type]
        raise EngineError(f"what the remote service sent is not {what}", code="upstream_malformed")
    try:
        measures = inspect(path, content_type)
    except EngineError as error:
        sentence = f"what the remote service sent cannot be used: {error}"
        raise EngineError(sentence, code="upstream_malformed") from None
    return Asset(path=path, content_type=content_type, metadata=facts, **measures)


def content_type_of(path: Path, kind: str) -> str | None:
    """Return the content type of a file by its first bytes; None if it is not of the kind."""
    with path.open("rb") as file:
        head = file.read(32)
    for content_type, marks in MAGIC.items():
        fits = any(head[at : at + len(mark)] == mark for at, mark in marks)
        if fits and content_type.startswith(f"{kind}/"):
            return content_type
    return None


@dataclass(frozen=True, slots=True)
class RemoteState:
    """The state of a job on another machine."""

    status: str  # processing, completed, failed or canceled
    fraction: float = 0.0
    reason: str = ""  # of a failure
    answer: Any = None  # the response with further facts

    def failure(self, caller: RemoteCaller, what: str) -> EngineError:
        """Return the error for a job that ended without an output."""
        reason = self.reason or self.status
        return caller.failure(f"did not make the {what}{caller.reason(reason)}", reason)


async def follow(
    caller: RemoteCaller,
    poll: RemoteRequest,
    cancel: RemoteRequest,
    read: Callable[[RemoteReply], RemoteState],
    report: Report,
    state: RemoteState | None = None,
) -> RemoteState:
    """Poll a job, from a known state if given, until it is done; end it if canceled."""
    pause = caller.site.pause
    try:
        while state is None or state.status == "processing":
            if state is not None:
                await asyncio.sleep(pause)
                pause = min(_MAX_PAUSE_SECONDS, pause * 1.3)
            state = read(await caller.send(poll))
            report(STARTED + (RENDERED - STARTED) * min(1.0, max(0.0, state.fraction)))
    except asyncio.CancelledError:
        await cancel_job(caller, cancel)
        raise
    return state


def poll_job(path: str, **options: Any) -> RemoteRequest:
    """Return the request for the state of a job that is already paid."""
    return RemoteRequest(method="GET", path=path, repeatable=True, tries=PAID_TRIES, **options)


async def cancel_job(caller: RemoteCaller, request: RemoteRequest) -> None:
    """Request the end of a job; a machine that does not support it continues."""
    with suppress(EngineError, TimeoutError):
        async with asyncio.timeout(_CANCEL_SECONDS):
            await caller.attempt(request)


async def undo_if_canceled(step: Awaitable[T], undo: Callable[[T], Awaitable[None]]) -> T:
    """Return the result of a step that starts something on another machine.

    If it is canceled meanwhile, the response is awaited for a moment and the start undone;
    otherwise the job would be run, and charged, in vain.
    """
    task = asyncio.ensure_future(step)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        with suppress(EngineError, TimeoutError):
            async with asyncio.timeout(_CANCEL_SECONDS):
                await undo(await task)
        raise
    finally:
        task.cancel()


#: Key of the file in an answer whose body is the file itself.
_FILE_KEY = "file"


def read_answer(reply: RemoteReply, kind: str) -> Any:
    """Return the JSON of a response; if the body is the file, it becomes the only item."""
    if reply.headers.get("content-type", "").startswith(f"{kind}/"):
        return {"data": [{_FILE_KEY: reply.content}]}
    return reply.json()


def find_item(answer: Any) -> dict[str, Any] | None:
    """Return the first entry of an answer's ``data``, or None if it has no file."""
    data = answer.get("data") if isinstance(answer, dict) else None
    item = data[0] if isinstance(data, list) and data else None
    if not isinstance(item, dict):
        return None
    # JSON has no bytes, so bytes can only be the file itself.
    is_file = isinstance(item.get(_FILE_KEY), bytes)
    return item if is_file or _text(item, "b64_json") or _text(item, "url") else None


async def save_item(
    caller: RemoteCaller, item: Mapping[str, Any], target: Path, *, most: int
) -> None:
    """Write the file of an item to a path."""
    encoded, url = _text(item, "b64_json"), _text(item, "url")
    if isinstance(file := item.get(_FILE_KEY), bytes):
        target.write_bytes(file)
    elif encoded or url.startswith("data:"):
        target.write_bytes(_decode(encoded or url))
    else:
        await caller.fetch(caller.resolve(url), target, most=most, late=True)


def _text(item: Mapping[str, Any], name: str) -> str:
    found = item.get(name)
    return found if isinstance(found, str) else ""


def _decode(text: str) -> bytes:
    # Base64 may have line breaks, be a ``data:`` URL, or have no padding.
    text = text.partition(",")[2] if text.startswith("data:") else text
    text = "".join(text.split()).rstrip("=").translate({ord("-"): "+", ord("_"): "/"})
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        sentence = "the file in the remote service's answer cannot be decoded"
        raise EngineError(sentence, code="upstream_malformed") from None


def fingerprint(*content: Any) -> str:
    """Return a hash of JSON content."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


_SUFFIX = ".clip"
#: Notes are removed at the end of the wait for the job; older ones are from abandoned jobs, and
#: endpoints do not keep outputs for longer.
_MAX_AGE_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class Note:
    """The URL of a job's state, for a process that takes the job over."""

    address: str = ""  # written by a process that was killed
    file: IO[bytes] | None = None  # unbuffered

    def write(self, address: str) -> None:
        """Write down a URL; errors are ignored, because the job runs anyway."""
        if self.file is not None:
            with suppress(OSError):
                self.file.truncate(0)
                self.file.write(address.encode())


@contextmanager
def open_note(folder: Path, order: str) -> Iterator[Note]:
    """Yield the note of an order, and remove it at the end of the wait for the job.

    If another process waits for the same order, it has locked the note: then there is no note here,
    and each of the two has its own job.
    """
    path = folder / f"{order}{_SUFFIX}"
    file = _lock_note(path)
    if file is None:
        yield Note()
        return
    file.seek(0)
    try:
        yield Note(file.read().decode(errors="replace"), file)
    finally:
        with file, suppress(OSError):
            file.truncate(0)  # a process that still opens it starts its own job
        with suppress(OSError):  # closed before, because Windows cannot remove open files
            path.unlink()


def _lock_note(path: Path) -> IO[bytes] | None:
    try:
        make_folder(path.parent)
        for old in path.parent.glob(f"*{_SUFFIX}"):
            with suppress(OSError):  # another process was faster
                if time.time() - old.stat().st_mtime > _MAX_AGE_SECONDS:
                    old.unlink()
        file = path.open("a+b", buffering=0)
    except OSError:
        return None
    if try_lock(file.fileno()):
        return file
    file.close()
    return None
