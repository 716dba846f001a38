"""Downloads: an output becomes a verified file in the cache, without the API key where possible.

A signed address needs no key, and a foreign one never gets it. Only where the service's own origin
answers 401 is the download repeated with the key.
"""

from __future__ import annotations

import contextlib
import hashlib
import mimetypes
import re
import uuid
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from kit import wire
from kit.client import calls, flows
from kit.client.flows import PATIENT, Policy, Tries
from kit.client.settings import origin
from kit.client.steps import Fetch, Flow, Lost, Reply
from kit.errors import KitError, NoAnswerError

_REDIRECTS = 5
_STALE = frozenset({401, 403, 404, 410})
_EXTENSIONS = {"image/jpeg": ".jpg", "image/webp": ".webp", "video/webm": ".webm"}


@dataclass(frozen=True, slots=True)
class Cache:
    """Where downloaded files are kept, and the origin that the API key belongs to.

    Parameters
    ----------
    folder : Path
        Created when first needed. Files are named by their hash, or by service and generation.
    """

    folder: Path
    base_url: str

    def path(self, generation: wire.Generation, *, poster: bool = False) -> Path:
        """Return where the output of a generation is kept, whether it is there or not."""
        output = generation.output or wire.Output()
        if poster:
            return self.folder / f"{self._name(generation.id)}.poster"
        known = re.fullmatch(r"[0-9a-f]{64}", output.sha256 or "")
        name = known.group() if known else self._name(generation.id)
        return self.folder / f"{name}{_extension(generation, output)}"

    def _name(self, generation_id: str) -> str:
        host = hashlib.sha256(self.base_url.encode()).hexdigest()[:8]
        safe = re.fullmatch(r"[\w-]{1,80}", generation_id)
        digest = hashlib.sha256(generation_id.encode()).hexdigest()[:32]
        return f"{host}-{generation_id if safe else digest}"


def output(cache: Cache, generation: wire.Generation, policy: Policy = PATIENT) -> Flow[Path]:
    """Return the file of a completed generation, downloading it on the first call.

    An address that has expired is asked for anew, once.

    Raises
    ------
    NoAnswerError
        There is no output, it could not be fetched, or what came is not what was announced.
    """
    path = cache.path(generation)
    if path.exists():
        return path
    try:
        return (yield from _download(cache, generation, path, policy))
    except KitError as error:
        error.generation_id = generation.id
        raise


def poster(
    cache: Cache, generation: wire.Generation, policy: Policy = PATIENT
) -> Flow[bytes | None]:
    """Return the picture that stands for a video, or None where the service has none."""
    address = generation.output and generation.output.thumbnail_url
    path = cache.path(generation, poster=True)
    if address and not path.exists():
        outcome = yield from _patiently(cache, address, path, policy)
        if isinstance(outcome, Lost) or not outcome.fine:
            return None
    return path.read_bytes() if path.exists() else None


def _download(cache: Cache, generation: wire.Generation, path: Path, policy: Policy) -> Flow[Path]:
    for fresh in (False, True):
        if fresh:
            generation = yield from flows.ask(calls.get_generation(generation.id), policy)
        if not generation.output_url:
            raise NoAnswerError(
                f"the generation {generation.id} has no output ({generation.state})"
            )
        sha256 = generation.output.sha256 if generation.output else None
        outcome = yield from _patiently(cache, generation.output_url, path, policy, sha256=sha256)
        if isinstance(outcome, Lost) or outcome.fine or outcome.status not in _STALE:
            break
    if isinstance(outcome, Reply) and outcome.fine:
        return path
    error = flows.problem(outcome)
    reason = flows.told(error) if error else ""
    raise NoAnswerError(f"the output of {generation.id} could not be fetched: {reason}")


def _patiently(
    cache: Cache, url: str, path: Path, policy: Policy, *, sha256: str | None = None
) -> Flow[Reply | Lost]:
    """Fetch to a part file, verify it and put it in place; try again where that may help.

    What broke off goes on where it ended: while the other side has the same file, or where a hash
    tells in the end whether the pieces fit. In the latter case the next call goes on, too.
    """
    part = _claimed(path, sha256)
    tag = "" if sha256 else None
    try:
        tries = Tries(policy)
        while True:
            outcome = yield from _follow(cache, urljoin(f"{cache.base_url}/", url), part, tag)
            if isinstance(outcome, Reply) and outcome.fine:
                if outcome.sha256 and sha256 in (None, outcome.sha256):
                    part.replace(path)
                    return outcome
                part.unlink(missing_ok=True)  # what is there is of no use for another attempt
                outcome = Lost("what arrived is not what the service announced (SHA-256 differs)")
            elif isinstance(outcome, Reply):
                part.unlink(missing_ok=True)
                if outcome.status < 500 and outcome.status not in (416, 429):
                    return outcome
            elif tag is None:
                tag = outcome.tag
            if not (yield from tries.rest(flows.problem(outcome))):
                return outcome
    finally:
        _left(part, path, sha256)


def _claimed(path: Path, sha256: str | None) -> Path:
    """Return a part file of our own, with what an earlier download left if its hash is known."""
    part = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.part")
    if sha256:
        # whoever renames it has it: two notebooks never write to one file
        with contextlib.suppress(OSError):
            path.with_name(f"{path.name}.part").rename(part)
    return part


def _left(part: Path, path: Path, sha256: str | None) -> None:
    """Keep what has arrived for the next call, or take it away where nothing can be made of it."""
    if sha256 and not path.exists() and part.exists():
        part.replace(path.with_name(f"{path.name}.part"))
    else:
        part.unlink(missing_ok=True)


def _follow(cache: Cache, url: str, part: Path, tag: str | None) -> Flow[Reply | Lost]:
    outcome: Reply | Lost = yield Fetch(url, part, tag=tag)
    own = origin(url) == origin(cache.base_url)
    if isinstance(outcome, Reply) and outcome.status == 401 and own:
        outcome = yield Fetch(url, part, with_key=True, tag=tag)
    for _ in range(_REDIRECTS):
        target = isinstance(outcome, Reply) and outcome.headers.get("location")
        if not target or not isinstance(outcome, Reply) or not 300 <= outcome.status < 400:
            break
        url = urljoin(url, target)
        outcome = yield Fetch(url, part, tag=tag)
    return outcome


def _extension(generation: wire.Generation, output: wire.Output) -> str:
    kind = (output.content_type or "").partition(";")[0]
    known = _EXTENSIONS.get(kind) or mimetypes.guess_extension(kind)
    named = Path(urlsplit(generation.output_url or "").path).suffix
    safe = named if re.fullmatch(r"\.\w{1,5}", named) else ""
    return known or safe or {"video": ".mp4", "image": ".png"}.get(generation.asset_type or "", "")
