"""The async sender of requests; `tests/sync_face.py` generates the blocking one."""

from __future__ import annotations

import ssl
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import httpcore
import httpx

from kit.client import http
from kit.client.addresses import MAX_PROOF_BYTES, ProofExchange, StartProof
from kit.client.calls import DownloadFile, NoReply, Reply, SendRequest, UploadFile, not_written
from kit.client.settings import Settings
from kit.errors import KitError

#: Seconds for each step of a proof.
_PROOF_SECONDS = 5.0
_NO_PROOF = "another program answers there"
#: The limits of httpx.
_LIMITS: dict[str, Any] = {
    "max_connections": 100,
    "max_keepalive_connections": 20,
    "keepalive_expiry": 5.0,
}


class AsyncSender(http.Exchange[httpx.AsyncHTTPTransport]):
    """Sends requests, uploads and downloads; usable for many at once."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, partial(AsyncProvenTransport, self.start_proof))

    async def send(self, action: SendRequest) -> Reply | NoReply:
        """Send a call once."""
        url, began = self.address(action.call.path), time.monotonic()
        try:
            request = self.request(action, url)
            async with async_borrow(self.pool, url) as transport:
                response = await transport.handle_async_request(request)
                content = await async_read(response)
            return self.reply(request, response, content, began)
        except http.FAILURES as error:
            return self.no_reply(error, url, call=action.call)

    async def upload(self, action: UploadFile) -> Reply | NoReply:
        """Send a file."""
        url = self.address(action.url)
        try:
            async with async_borrow(self.pool, url) as transport:
                with action.open() as file:
                    reader = http.FileReader(file, action.on_sent)
                    request = self.upload_request(action, url, reader.async_chunks())
                    response = await transport.handle_async_request(request)
                    return http.to_reply(response, await async_read(response), reader.sha256)
        except http.FAILURES as error:
            return self.no_reply(error, url)

    async def download(self, action: DownloadFile) -> Reply | NoReply:
        """Receive a file."""
        etag, url = None, self._settings.current_url(action.url)
        try:
            request, received = self.download_request(action, url)
            async with async_borrow(self.pool, url) as transport:
                response = await transport.handle_async_request(request)
                try:
                    if not http.body_follows(response, received):
                        return http.to_reply(response, await async_read(response))
                    etag = http.strong_etag(response)
                    append = response.status_code == 206
                    with http.FileWriter(action.target, action.most, append=append) as writer:
                        async for chunk in response.aiter_bytes():
                            writer.write(chunk)
                    return http.to_reply(response, b"", writer.sha256)
                finally:
                    await response.aclose()
        except http.FAILURES as error:
            return self.no_reply(error, url, etag)
        except OSError as error:
            return not_written(action.target, error)

    async def close(self) -> None:
        """Close all connections, busy ones after their request; a later request opens new ones."""
        for transport in self.pool.close():
            await transport.aclose()


async def async_read(response: httpx.Response) -> bytes:
    """Return the body of a response; raises an error if it is endless or unpacks to too much."""
    chunks, remaining = [], http.MAX_RESPONSE_BYTES
    try:
        async for chunk in response.aiter_bytes():
            chunks.append(chunk)
            remaining -= len(chunk)
            if remaining < 0:
                raise http.TooLongError(http.MAX_RESPONSE_BYTES)
    finally:
        await response.aclose()
    return b"".join(chunks)


@asynccontextmanager
async def async_borrow(
    pool: http.ConnectionPool[httpx.AsyncHTTPTransport], url: str
) -> AsyncGenerator[httpx.AsyncHTTPTransport, None]:
    """Borrow the transport to a URL's origin for one request and its response body."""
    entry = pool.acquire(url)
    try:
        yield entry.transport
    finally:
        if pool.release(entry):
            await entry.transport.aclose()


class AsyncProvenTransport(httpx.AsyncHTTPTransport):
    """A transport whose new connections to a service must pass a proof."""

    def __init__(self, start_proof: StartProof, verify: ssl.SSLContext, proxy: Any) -> None:
        super().__init__(verify=verify, proxy=proxy)
        if proxy is None:  # the service is on this machine
            backend = _AsyncProofBackend(start_proof)
            self._pool = httpcore.AsyncConnectionPool(verify, network_backend=backend, **_LIMITS)


class _AsyncProofBackend(httpcore.AnyIOBackend):
    def __init__(self, start_proof: StartProof) -> None:
        self._start_proof = start_proof

    async def connect_tcp(
        self, host: str, port: int, *args: Any, **options: Any
    ) -> httpcore.AsyncNetworkStream:
        stream = await super().connect_tcp(host, port, *args, **options)
        exchange = self._start_proof(host, port)
        if exchange is None or await _prove(stream, exchange):
            return stream
        await stream.aclose()
        raise httpcore.ConnectError(_NO_PROOF)


async def _prove(stream: httpcore.AsyncNetworkStream, exchange: ProofExchange) -> bool:
    try:
        data = next(exchange)
        while True:
            if data:
                await stream.write(data, _PROOF_SECONDS)
            data = exchange.send(await stream.read(MAX_PROOF_BYTES, _PROOF_SECONDS))
    except StopIteration as end:
        return bool(end.value)
    except (httpcore.NetworkError, httpcore.TimeoutException, OSError, KitError):
        return False
