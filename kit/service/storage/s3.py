"""Files in an S3-compatible bucket, to and from which clients transfer them with signed URLs.

A file sent by a client is kept separately until the service has verified it and stored a copy, so
the URL of a ticket cannot change files in use. Render processes store their results in a local
folder, from which they are moved into the bucket.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import obstore
from obstore.exceptions import BaseError, GenericError, PermissionDeniedError, UnauthenticatedError
from obstore.store import S3Store

from kit.errors import BadRequestError, NotFoundError, UnavailableError
from kit.private import make_folder, replace_file
from kit.service.storage.keys import UPLOADS, content_type
from kit.service.storage.output_folder import OutputFolder
from kit.service.storage.signing import Grant
from kit.service.storage.sigv4 import Bucket

if TYPE_CHECKING:
    from obstore.store import S3Config

_log = logging.getLogger("kit.service")
#: The cause of a request that was not sent, in the library's details.
_CAUSE = re.compile(r'(?:message|error): "([^"]+)"|InvalidCertificate')
_UNTRUSTED = "its certificate is not accepted; SSL_CERT_FILE names a file of further authorities"

#: Size in bytes from which a file is sent in parts, and the size of a part.
MULTIPART_BYTES, _PART_BYTES = 64 << 20, 16 << 20
#: Bytes per write while a file is downloaded, and maximum of attempts.
_CHUNK_BYTES, _MAX_ATTEMPTS = 1 << 20, 3
#: Seconds between attempts to store a result, each of which has its own retries.
_PAUSE_SECONDS = 1.0
#: Validity in seconds of a URL for reading; the service redirects to a new one each time.
READ_SECONDS = 300
#: The file that a client has sent, in the folder of its upload.
_RECEIVED_FILE = "/received.bin"
#: Seconds after which remains of failed transfers are removed.
_OLD_SECONDS = 24 * 3600
_UPLOAD = re.compile(
    r"<Upload>.*?<Key>(?P<key>[^<]*)</Key>.*?<UploadId>(?P<id>[^<]*)</UploadId>"
    r".*?<Initiated>(?P<begun>[^<]*)</Initiated>.*?</Upload>",
    re.DOTALL,
)


class S3Storage:
    """A folder of a bucket; see `kit.service.storage`.

    `folder`: a local folder for results of render processes before the transfer to the bucket.
    `retry_seconds`, `read_seconds`: limits of the retries of a request and of the wait to store a
    result while the storage is down or busy; and of the time without data.
    """

    direct = True

    def __init__(
        self,
        bucket: Bucket,
        folder: Path,
        clock: Callable[[], float] = time.time,
        retry_seconds: float = 60.0,
        read_seconds: float = 30.0,
    ) -> None:
        self.outputs = OutputFolder(folder)
        make_folder(folder)
        self._bucket = bucket
        self._clock = clock
        self._retry_seconds, self._head_seconds = retry_seconds, read_seconds / 3
        config: S3Config = {
            "endpoint": bucket.address,
            "virtual_hosted_style_request": True,  # the endpoint is the bucket's own URL
            "region": bucket.region,
            "access_key_id": bucket.access_key,
            "secret_access_key": bucket.secret_key,
        }
        if bucket.token:
            config["session_token"] = bucket.token
        self._store = S3Store(
            bucket.name,
            prefix=bucket.prefix or None,
            config=config,
            client_options={
                "allow_http": bucket.address.startswith("http:"),
                "connect_timeout": "10s",
                "read_timeout": timedelta(seconds=read_seconds),
                "timeout": "900s",
            },
            retry_config={"max_retries": 8, "retry_timeout": timedelta(seconds=retry_seconds)},
        )

    async def keep(self, files: Mapping[str, Path]) -> None:
        """Move finished files into the bucket."""
        await self._move(files, 0.0)

    async def publish(self, keys: Sequence[str]) -> None:
        """Move results of render processes into the bucket; retries during a short outage."""
        await self._move({key: self.outputs.path(key) for key in keys}, self._retry_seconds)

    async def fetch_local(self, key: str, folder: Path) -> Path:
        """Return a copy of a file in a folder, downloaded unless it is there already."""
        path = folder / key.replace("/", "-")
        if path.is_file():
            path.touch()  # in use, so that it is not removed by age
            return path
        replace_file(await self._fetch(key, folder), path)
        return path

    async def fetch_received(self, upload_id: str, length: int, folder: Path) -> Path | None:
        """Return a copy of the unverified file that a client has sent with a ticket, or None."""
        key = f"{UPLOADS}{upload_id}{_RECEIVED_FILE}"
        try:
            with _translate_errors(reading=True):
                async with asyncio.timeout(self._head_seconds):  # a client waits for it
                    size = (await obstore.head_async(self._store, key))["size"]
            if size != length:
                sentence = f"the file has {size:,} bytes, {length:,} were announced"
                raise BadRequestError.fields([("fileSizeBytes", sentence)])
            return await self._fetch(key, folder)
        except NotFoundError:
            return None

    async def discard_received(self, upload_id: str) -> None:
        """Remove the unverified file of a ticket."""
        await self.remove(f"{UPLOADS}{upload_id}{_RECEIVED_FILE}")

    async def names(self, folder: str) -> list[str]:
        """Return the sorted names of the files and folders in a folder."""
        with _translate_errors():
            found = await obstore.list_with_delimiter_async(self._store, folder)
        paths = [*found["common_prefixes"], *(file["path"] for file in found["objects"])]
        return sorted(path.rstrip("/").rpartition("/")[2] for path in paths)

    async def list_files(self, folder: str, count: int) -> AsyncIterator[list[str]]:
        """Yield the keys of a folder's files, so many at a time."""
        with _translate_errors():
            async for files in obstore.list(self._store, f"{folder}/", chunk_size=count):
                yield [file["path"] for file in files]

    async def remove(self, prefix: str) -> None:
        """Remove a file, or all files with a prefix; a missing one is no error."""
        try:
            if "." in prefix.rpartition("/")[2]:
                await obstore.delete_async(self._store, prefix)
                return
            async for files in obstore.list(self._store, prefix):
                await obstore.delete_async(self._store, [file["path"] for file in files])
        except FileNotFoundError:
            pass
        except BaseError as error:
            raise OSError(_first_line(error)) from None

    def read_address(self, method: str, key: str) -> str:
        """Return a signed URL in the bucket for one method; it ends only by expiry."""
        return self._bucket.presign(method, key, now=self._clock(), seconds=READ_SECONDS)

    def upload_address(self, base: str, grant: Grant) -> str:
        """Return the URL in the bucket for one PUT of this type and length only.

        It ends only by expiry, not by a sign-out: its file is kept separately, see the module.
        """
        now = int(self._clock())
        seconds, key = max(1, grant.expires - now), f"{grant.key}{_RECEIVED_FILE}"
        return self._bucket.presign("PUT", key, now=now, seconds=seconds, headers=grant.headers)

    async def is_writable(self) -> bool:
        """Whether a file can be written."""
        try:
            await obstore.put_async(self._store, ".ready", b"ready")
        except (OSError, BaseError) as error:
            _log.warning("the storage cannot be written: %s", _first_line(error))
            return False
        return True

    async def tidy(self) -> None:
        """Remove remains of failed transfers that are older than a day, here and in the bucket."""
        limit = self._clock() - _OLD_SECONDS
        await asyncio.to_thread(_remove_files, self.outputs.folder, limit)
        await asyncio.to_thread(self._abort_uploads, limit)

    async def _move(self, files: Mapping[str, Path], retry_seconds: float) -> None:
        deadline = time.monotonic() + retry_seconds
        for key, path in files.items():
            with _translate_errors():
                await self._put(key, path, deadline)
            await asyncio.to_thread(path.unlink)

    async def _put(self, key: str, path: Path, deadline: float) -> None:
        while True:
            try:
                await obstore.put_async(
                    self._store,
                    key,
                    path,
                    attributes={"Content-Type": content_type(key)},
                    use_multipart=path.stat().st_size > MULTIPART_BYTES,
                    chunk_size=_PART_BYTES,
                    max_concurrency=4,
                )
            except GenericError:  # an outage; refusals have their own classes
                if time.monotonic() >= deadline:
                    raise
                await asyncio.sleep(_PAUSE_SECONDS)
            else:
                return

    async def _fetch(self, key: str, folder: Path) -> Path:
        """Download a file of the bucket completely to a new file in a folder."""
        make_folder(folder)
        for attempt in range(1, _MAX_ATTEMPTS + 1):
            descriptor, name = tempfile.mkstemp(suffix=".part", dir=folder)
            draft = Path(name)
            try:
                with _translate_errors(reading=True), os.fdopen(descriptor, "wb") as file:
                    found = await obstore.get_async(self._store, key)
                    async for chunk in found.stream(_CHUNK_BYTES):
                        await asyncio.to_thread(file.write, chunk)
                if draft.stat().st_size == found.meta["size"]:
                    return draft
                raise UnavailableError("the storage sent a part of a file only")
            except BaseException as error:
                draft.unlink(missing_ok=True)
                if not isinstance(error, UnavailableError) or attempt == _MAX_ATTEMPTS:
                    raise
        raise AssertionError  # the last attempt returns or raises

    def _abort_uploads(self, limit: float) -> None:
        """Abort old multipart uploads: they use space but are no files."""
        prefix = f"{self._bucket.prefix}/" if self._bucket.prefix else ""
        for upload in _UPLOAD.finditer(self._call("GET", "", {"uploads": "", "prefix": prefix})):
            key, begun = upload["key"].removeprefix(prefix), upload["begun"]
            if datetime.fromisoformat(begun).timestamp() < limit:
                self._call("DELETE", key, {"uploadId": upload["id"]})
                _log.info("aborted an upload of %s that was begun at %s", key, begun)

    def _call(self, method: str, key: str, query: Mapping[str, str]) -> str:
        """Return the response to a request that the library does not support."""
        address = self._bucket.presign(method, key, now=self._clock(), seconds=60, query=query)
        request = Request(address, method=method)  # noqa: S310 - an http(s) address of our settings
        with _translate_errors():
            try:
                with urlopen(request, timeout=30) as answer:  # noqa: S310 - as above
                    return str(answer.read(1 << 20).decode())
            except HTTPError as error:
                with error:
                    if error.code == HTTPStatus.NOT_FOUND:  # some servers' response if none
                        return ""
                    raise OSError(f"the storage answers {error.code} to {method}") from None


def _remove_files(folder: Path, limit: float) -> None:
    for path in folder.rglob("*"):
        if path.is_file() and path.stat().st_mtime < limit:
            path.unlink(missing_ok=True)


@contextmanager
def _translate_errors(*, reading: bool = False) -> Iterator[None]:
    """Turn errors of the library into ours; its messages may contain signed URLs.

    If something is not found, it is the file when reading, otherwise the bucket.
    """
    try:
        yield
    except (FileNotFoundError, BaseError, TimeoutError, URLError) as error:
        if reading and isinstance(error, FileNotFoundError):
            raise NotFoundError("the file is gone") from None
        _log.warning("the storage failed: %s", _first_line(error))
        problem = "does not answer"
        if isinstance(error, (PermissionDeniedError, UnauthenticatedError)):
            problem = "refuses the keys or the permissions of the service"
        raise UnavailableError(f"the storage {problem}; try again later") from None


def _first_line(error: Exception) -> str:
    """Return an error's message without the address, which may be signed, and the response."""
    first, _, rest = (str(error) or type(error).__name__).partition("\n")
    line = re.sub(r"https?://\S*\s*", "", first.partition(": <")[0])[:300]
    if not line.endswith("error sending request") or not (cause := _CAUSE.search(rest)):
        return line
    return f"{line} ({cause[1] or _UNTRUSTED})"
