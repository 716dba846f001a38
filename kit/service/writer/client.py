"""The HTTP client of the model writer: one URL, one key, limited responses, one deadline.

The key is sent only to the URL for which it is set: redirects are not followed.
"""

from __future__ import annotations

import asyncio
import math
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

import httpx

from kit.errors import UnavailableError
from kit.internet import retry_after
from kit.version import __version__

#: Maximum size of a response in bytes; a script of three minutes has about three thousand.
ANSWER_BYTES = 1_000_000
#: Maximum of attempts of a call while the service is busy.
ATTEMPTS = 4
_BACKOFF_SECONDS = 0.5
_CONNECT_SECONDS = 10.0
#: Default for ``Retry-After`` in seconds: longer than a client waits.
RETRY_AFTER_SECONDS = 60.0
#: Statuses of a busy service.
_BUSY_STATUSES = frozenset({429, 502, 503, 504})
_AGENT = f"creative-studio-kit/{__version__}"
#: Hosts for which no proxy is used.
_LOOPBACK = ("all://127.0.0.1", "all://localhost", "all://[::1]")


@dataclass(frozen=True, slots=True)
class ChatEndpoint:
    """An OpenAI-compatible service and one of its models."""

    #: Base URL, usually ending with ``/v1``; see `parse_endpoint`.
    url: str
    model: str
    key: str = field(default="", repr=False)


class ChatReply(NamedTuple):
    """The response to a call."""

    status: int
    headers: Mapping[str, str]
    content: bytes


def parse_endpoint(url: str, model: str, key: str = "") -> ChatEndpoint:
    """Return the endpoint of a URL, with or without the path of the API."""
    base = url.rstrip("/").removesuffix("/chat/completions").rstrip("/")
    return ChatEndpoint(base if urlsplit(base).path else f"{base}/v1", model, key)


class ChatClient:
    """The connection to an endpoint for one order; use it with ``async with``."""

    def __init__(self, endpoint: ChatEndpoint, deadline: float) -> None:
        self.model = endpoint.model
        self._url = f"{endpoint.url}/chat/completions"
        self._deadline = deadline
        # Uncompressed, so that a small response cannot unpack into a huge one.
        headers = {"Accept-Encoding": "identity", "User-Agent": _AGENT}
        if endpoint.key:
            headers["Authorization"] = f"Bearer {endpoint.key}"
        secure = endpoint.url.startswith("https:")
        self._client = httpx.AsyncClient(
            headers=headers,
            follow_redirects=False,
            timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
            # An empty SSL context is cheap to create, and http does not use it.
            verify=_certificates() if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            mounts=dict.fromkeys(_LOOPBACK),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._client.aclose()

    async def post(self, body: Mapping[str, Any]) -> ChatReply:
        """Send a call, retry while the service is busy, and return its response of any status."""
        for attempt in range(1, ATTEMPTS + 1):
            reply = await self._send(body)
            if reply is not None and reply.status not in _BUSY_STATUSES:
                return reply
            retry = None if reply is None else retry_after(reply.headers.get("retry-after"))
            wait = _BACKOFF_SECONDS * 2 ** (attempt - 1) if retry is None else retry
            now = asyncio.get_running_loop().time()
            if attempt == ATTEMPTS or now + wait >= self._deadline:
                broken = "breaks off before its answer is complete"
                what = broken if reply is None else "is too busy"
                raise order_error(f"the language model {what}", retry_seconds=retry)
            await asyncio.sleep(wait)
        raise AssertionError  # the last attempt returns or raises

    async def _send(self, body: Mapping[str, Any]) -> ChatReply | None:
        """Send a call once; None if the connection broke before the response was complete."""
        try:
            async with self._client.stream("POST", self._url, json=body) as response:
                content = bytearray()
                async for chunk in response.aiter_raw():
                    content += chunk
                    if len(content) > ANSWER_BYTES:
                        raise order_error("the language model sends more than a text can have")
                return ChatReply(response.status_code, response.headers, bytes(content))
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol) as error:
            # Only the class: messages of proxies or certificates may describe the internal network.
            sentence = f"the language model cannot be reached ({type(error).__name__})"
            raise order_error(sentence) from None
        except httpx.InvalidURL:
            raise order_error("the language model's address cannot be one") from None
        except httpx.HTTPError:
            return None


def order_error(sentence: str, *, retry_seconds: float | None = None) -> UnavailableError:
    """Return the error that ends an order, without any text of the model."""
    seconds = RETRY_AFTER_SECONDS if retry_seconds is None else max(1.0, retry_seconds)
    return UnavailableError(
        f"{sentence}; nothing was charged", headers={"Retry-After": str(math.ceil(seconds))}
    )


@cache
def _certificates() -> ssl.SSLContext:
    return httpx.create_ssl_context()  # 18 ms, once
