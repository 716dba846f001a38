"""Webhooks: addresses that are notified when generations end."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from kit.wire.base import Body, Hidden, Instant, Wire
from kit.wire.bounds import ADDRESS


class CreateWebhook(Body):
    """Body of ``POST /v1/webhooks``."""

    url: Annotated[str, Field(max_length=ADDRESS)]


class Webhook(Wire):
    """A webhook of an account. Source: contract, "Webhooks"."""

    id: str
    url: str
    created_at: Instant | None = None
    disabled_at: Instant | None = None
    secret: Hidden[str | None] = None
    pending: int = 0
    failed: int = 0
