"""Downloads: an output becomes a verified file in the cache, without the API key if possible.

Signed URLs need no key, and URLs of other origins never get it. Only if the service's own origin
responds with 401 is the download repeated with the key.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import uuid
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin

from kit import wire
from kit.client import calls, file_types, flows
from kit.client.addresses import absolute_url
from kit.client.calls import (
    MAX_FILE_BYTES,
    DownloadFile,
    Flow,
    NoReply,
    NotWritten,
    Reply,
    not_written,
)
from kit.client.flows import PATIENT, Attempts, Policy
from kit.client.settings import hash_text
from kit.errors import KitError, NoAnswerError
from kit.internet import origin
from kit.private import replace_file

_MAX_REDIRECTS = 5
#: Maximum of bytes of a video's thumbnail.
_MAX_POSTER_BYTES = 20_000_000
_STALE = frozenset({401, 403, 404, 410})
_EMPTY_HASH = hashlib.sha256().hexdigest()


@dataclass(frozen=True, slots=True)
class Cache:
    """The folder of downloaded files, and the origin that the API key belongs to.

    Files are named by their hash, or by service and generation: its id and its request, because a
    reset service may reuse ids.
    """

    folder: Path
    base_url: str

    def path(self, generation: wire.Generation, *, poster: bool = False) -> Path:
        """Return the path of a generation's output in the cache, which may not exist yet."""
        output = generation.output or wire.Output()
        if poster:  # named by the id alone, and replaced if older than its generation
            return self.folder / f"{self._name(generation.id)}.poster"
        name = output.sha256 or ""
        if not re.fullmatch(r"[0-9a-f]{64}", name):
            created = wire.timestamp(generation.created_at) if generation.created_at else ""
            content = "\n".join([created, generation.model_id or "", generation.prompt or ""])
            name = f"{self._name(generation.id)}-{hash_text(content, 8)}"
        kind, url = output.content_type or "", generation.output_url or ""
        ending = file_types.file_extension(kind, url, generation.asset_type or "")
        return file_types.find_renamed(self.folder / f"{name}{ending}")

    def _name(self, generation_id: str) -> str:
        host = hash_text(self.base_url, 8)
        safe = re.fullmatch(r"[\w-]{1,80}", generation_id)
        return f"{host}-{generation_id if safe else hash_text(generation_id, 32)}"


class GoneError(NoAnswerError):
    """A completed generation has no output, or its output was deleted."""


def wait_for_address(
    generation: wire.Generation, policy: Policy, *, status_url: str | None = None
) -> Flow[wire.Generation]:
    """Return a completed generation with the URL of its output, if there is one.

    Some services report the completion slightly before the URL.
    """
    tries = Attempts(policy)
    while generation.state == "completed" and not generation.output_url:
        if generation.deletion:  # it will never have an output again
            break
        if not (yield from tries.sleep()):
            break
        call = calls.get_generation(generation.id, status_url=status_url)
        generation = yield from flows.ask(call, policy)
    return generation


def output(cache: Cache, generation: wire.Generation, policy: Policy = PATIENT) -> Flow[Path]:
    """Return the file of a completed generation, downloaded on the first call.

    An expired URL is fetched again once; a lost connection is waited for. A deleted output raises
    `GoneError`.
    """
    path = cache.path(generation)
    if path.exists():
        return path
    try:
        return (yield from _download(cache, generation, path, policy))
    except KitError as error:
        error.generation_id = generation.id
        raise
    except OSError as error:
        raise _download_error(generation.id, not_written(path, error).message) from None


def poster(cache: Cache, generation: wire.Generation) -> Flow[bytes | None]:
    """Return the thumbnail of a video, or None if the service has none."""
    address = generation.output and generation.output.thumbnail_url
    path = cache.path(generation, poster=True)
    if not address or _is_newer(path, generation):
        return path.read_bytes() if path.exists() else None
    try:
        outcome = yield from _fetch_verified(
            cache, address, path, Attempts(PATIENT), most=_MAX_POSTER_BYTES
        )
    except OSError:
        return None  # the disk is full: it is shown without a thumbnail
    return path.read_bytes() if isinstance(outcome, Reply) and outcome.is_success else None


def _download(cache: Cache, generation: wire.Generation, path: Path, policy: Policy) -> Flow[Path]:
    for fresh in (False, True):
        if fresh:
            generation = yield from flows.ask(calls.get_generation(generation.id), policy)
        generation = yield from wait_for_address(generation, policy)
        if generation.deletion:
            raise GoneError(f"{generation.deletion} (the generation {generation.id} stays)")
        if not generation.output_url:
            raise GoneError(
                f"the generation {generation.id} has no output: its status is {generation.state}"
            )
        sha256 = generation.output.sha256 if generation.output else None
        tries = Attempts(policy, outlasts_outages=True)
        outcome = yield from _fetch_verified(
            cache, generation.output_url, path, tries, sha256=sha256
        )
        if isinstance(outcome, NoReply) or outcome.is_success or outcome.status not in _STALE:
            break
    if isinstance(outcome, Reply) and outcome.is_success:
        kind = outcome.headers.get("content-type", "")
        return file_types.rename_by_content(path, kind, generation.output_url or "")
    error = flows.find_error(outcome)
    gone = isinstance(outcome, Reply) and outcome.status in _STALE
    why = str(flows.explain_retry_after(error)) if error else ""
    if isinstance(outcome, Reply) and 300 <= outcome.status < 400:
        why = "its URL redirects, but not to a file"
    raise _download_error(generation.id, why, gone=gone)


def _download_error(generation_id: str, why: str, *, gone: bool = False) -> NoAnswerError:
    kind = GoneError if gone else NoAnswerError
    error = kind(f"the output of the generation {generation_id} could not be fetched: {why}")
    error.generation_id = generation_id
    return error


def _fetch_verified(
    cache: Cache,
    url: str,
    path: Path,
    tries: Attempts,
    *,
    sha256: str | None = None,
    most: int = MAX_FILE_BYTES,
) -> Flow[Reply | NoReply]:
    """Download to a part file, verify it and move it into place; retry if that may help.

    An interrupted download is resumed: while the server has the same file, or if a known hash
    verifies the combined parts in the end. In the latter case the next call resumes it, too.
    """
    part = _claim_part(path, sha256)
    etag = "" if sha256 else None
    try:
        while True:
            outcome = yield from _fetch(cache, absolute_url(cache.base_url, url), part, etag, most)
            if isinstance(outcome, Reply) and outcome.is_success:
                if not (damage := _describe_damage(part, outcome, sha256)):
                    replace_file(part, path)
                    return outcome
                part.unlink(missing_ok=True)  # the part is of no use for another attempt
                outcome = NoReply(f"what arrived is {damage}", permanent=True)
            elif isinstance(outcome, Reply):
                part.unlink(missing_ok=True)
                if outcome.status < 500 and outcome.status not in (416, 429):
                    return outcome
            elif etag is None:
                etag = outcome.etag
            disk_failed = isinstance(outcome, NotWritten)  # another attempt finds no more room
            if disk_failed or not (yield from tries.sleep(flows.find_error(outcome))):
                return outcome
    finally:
        _keep_or_remove(part, path, sha256)


def _describe_damage(part: Path, reply: Reply, sha256: str | None) -> str:
    """Return why a received file is no output; if kept, it would be shown from then on."""
    if reply.sha256 in (None, _EMPTY_HASH):
        return "empty"
    if sha256:
        return "" if reply.sha256 == sha256 else "not what the service announced (SHA-256 differs)"
    if not reply.headers.get("content-type", "").startswith("text/html"):
        return ""
    with part.open("rb") as file:  # some servers declare all files as web pages
        return "a web page" if file.read(64).lstrip().startswith(b"<") else ""


def _claim_part(path: Path, sha256: str | None) -> Path:
    """Return our own part file, with an earlier download's bytes if its hash is known."""
    part = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.part")
    if sha256:
        # only one of two notebooks can rename it, so they never write to the same file
        with contextlib.suppress(OSError):
            path.with_name(f"{path.name}.part").rename(part)
    return part


def _keep_or_remove(part: Path, path: Path, sha256: str | None) -> None:
    """Keep a partial download for the next call if its hash is known, else remove it."""
    if sha256 and not path.exists() and part.exists():
        part.replace(path.with_name(f"{path.name}.part"))
    else:
        part.unlink(missing_ok=True)


def _fetch(
    cache: Cache, url: str, part: Path, etag: str | None, most: int
) -> Flow[Reply | NoReply]:
    outcome: Reply | NoReply = yield DownloadFile(url, part, etag=etag, most=most)
    is_own = origin(url) == origin(cache.base_url)
    if isinstance(outcome, Reply) and outcome.status == 401 and is_own:
        outcome = yield DownloadFile(url, part, with_key=True, etag=etag, most=most)
    for _ in range(_MAX_REDIRECTS):
        target = isinstance(outcome, Reply) and outcome.headers.get("location")
        if not target or not isinstance(outcome, Reply) or not 300 <= outcome.status < 400:
            break
        url = urljoin(url, target)
        outcome = yield DownloadFile(url, part, etag=etag, most=most)
    return outcome


def _is_newer(path: Path, generation: wire.Generation) -> bool:
    """Whether a file was downloaded after the generation was created."""
    try:
        fetched = path.stat().st_mtime
    except OSError:
        return False
    return generation.created_at is None or fetched >= generation.created_at.timestamp()
