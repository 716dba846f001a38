"""Another implementation of the API document, and a client for it."""

from tests.client.fixtures import client, clock, media, other, party, policy, settings

__all__ = ["client", "clock", "media", "other", "party", "policy", "settings"]
