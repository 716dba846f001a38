"""The HTTP client of the model writer: one address, one key, bounded answers, one deadline.

The key goes to the address that it was set for and nowhere else: redirects are not followed.
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

#: Bytes of an answer; a script of three minutes has about three thousand.
ANSWER_BYTES = 1_000_000
#: How often a call is sent while the service is busy.
ATTEMPTS = 4
_BACKOFF_SECONDS = 0.5
_CONNECT_SECONDS = 10.0
#: Seconds until another try makes sense, by default: longer than a client waits.
LATER = 60.0
#: Answers that say "not now".
_BUSY = frozenset({429, 502, 503, 504})
_AGENT = f"creative-studio-kit/{__version__}"
#: No proxy to this machine.
_LOOPBACK = ("all://127.0.0.1", "all://localhost", "all://[::1]")


@dataclass(frozen=True, slots=True)
class ChatEndpoint:
    """An OpenAI-compatible service and one of its models."""

    #: What its paths are below, usually ending with ``/v1``; see `endpoint`.
    url: str
    model: str
    key: str = field(default="", repr=False)


class ChatReply(NamedTuple):
    """An answer."""

    status: int
    headers: Mapping[str, str]
    content: bytes


def parse_endpoint(url: str, model: str, key: str = "") -> ChatEndpoint:
    """Return the endpoint that an address means, however much of it was given."""
    base = url.rstrip("/").removesuffix("/chat/completions").rstrip("/")
    return ChatEndpoint(base if urlsplit(base).path else f"{base}/v1", model, key)


class ChatClient:
    """The connection to an endpoint for one order; use it as ``async with``."""

    def __init__(self, endpoint: ChatEndpoint, until: float) -> None:
        self.model = endpoint.model
        self._url = f"{endpoint.url}/chat/completions"
        self._until = until
        # Asked for as it is: a small body that unpacks into a huge one cannot come.
        headers = {"Accept-Encoding": "identity", "User-Agent": _AGENT}
        if endpoint.key:
            headers["Authorization"] = f"Bearer {endpoint.key}"
        secure = endpoint.url.startswith("https:")
        self._client = httpx.AsyncClient(
            headers=headers,
            follow_redirects=False,
            timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
            # Without certificates it costs nothing to build, and http never uses it.
            verify=_certificates() if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            mounts=dict.fromkeys(_LOOPBACK),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._client.aclose()

    async def post(self, body: Mapping[str, Any]) -> ChatReply:
        """Send a call, again while the service is busy, and return its answer whatever it is."""
        for attempt in range(1, ATTEMPTS + 1):
            reply = await self._send(body)
            if reply is not None and reply.status not in _BUSY:
                return reply
            asked = None if reply is None else retry_after(reply.headers.get("retry-after"))
            wait = _BACKOFF_SECONDS * 2 ** (attempt - 1) if asked is None else asked
            now = asyncio.get_running_loop().time()
            if attempt == ATTEMPTS or now + wait >= self._until:
                broken = "breaks off before its answer is complete"
                what = broken if reply is None else "is too busy just now"
                raise order_error(f"the language model {what}", later=asked)
            await asyncio.sleep(wait)
        raise AssertionError  # the last attempt returns or raises

    async def _send(self, body: Mapping[str, Any]) -> ChatReply | None:
        """Send a call once; None when the connection broke before the answer was complete."""
        try:
            async with self._client.stream("POST", self._url, json=body) as response:
                content = bytearray()
                async for chunk in response.aiter_raw():
                    content += chunk
                    if len(content) > ANSWER_BYTES:
                        raise order_error("the language model sends more than a text can have")
                return ChatReply(response.status_code, response.headers, bytes(content))
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol) as error:
            # A proxy's or a certificate's sentence may tell of the network inside: only the kind.
            sentence = f"the language model cannot be reached ({type(error).__name__})"
            raise order_error(sentence) from None
        except httpx.InvalidURL:
            raise order_error("the language model's address cannot be one") from None
        except httpx.HTTPError:
            return None


def order_error(sentence: str, *, later: float | None = None) -> UnavailableError:
    """Return the error that ends an order, with none of the model's words in it."""
    seconds = LATER if later is None else max(1.0, later)
    return UnavailableError(
        f"{sentence}; nothing was charged", headers={"Retry-After": str(math.ceil(seconds))}
    )


@cache
def _certificates() -> ssl.SSLContext:
    return httpx.create_ssl_context()  # 18 ms, once
