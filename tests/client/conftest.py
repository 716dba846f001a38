"""A third-party implementation of the API document, and a client for it."""

from tests.client.fixtures import api, backend, client, clock, media, policy, settings

__all__ = ["api", "backend", "client", "clock", "media", "policy", "settings"]
