"""A third-party implementation of the API document, and studios for it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.client.aio import AsyncClient
from kit.client.flows import Policy
from kit.client.settings import Settings
from kit.client.sync import Client
from kit.studio import AsyncStudio, Studio
from kit.studio.operations import Operations
from tests.client.fixtures import Clock, api, backend, client, clock, media, policy, settings
from tests.conftest import Service
from tests.waiting import until

__all__ = ["api", "backend", "client", "clock", "media", "policy", "settings"]


@pytest.fixture
def studio(settings: Settings, clock: Clock, policy: Policy) -> Iterator[Studio]:
    """A studio on whose clock waiting takes no time."""
    client = Client(settings, sleep=clock.sleep)
    with Studio(settings, client=client, operations=Operations(settings, policy=policy)) as studio:
        yield studio


@pytest.fixture
def astudio(settings: Settings, clock: Clock, policy: Policy) -> AsyncStudio:
    """Its awaited snapshot; close it in the test."""
    blocking = Client(settings, sleep=clock.sleep)
    client = AsyncClient(settings, sleep=clock.async_sleep, blocking=blocking)
    return AsyncStudio(settings, client=client, operations=Operations(settings, policy=policy))


@pytest.fixture
def own(service: Service, key: str, tmp_path: Path) -> Iterator[Studio]:
    """A studio of our own service."""
    with Studio(Settings(service.url, key, data=tmp_path / "own", progress=False)) as studio:
        yield studio


@pytest.fixture
def end_forms(studio: Studio, astudio: AsyncStudio) -> Iterator[None]:
    """Let what a form does in the background end before the studio is closed."""
    yield
    until(lambda: all(thread.name != "kit-form" for thread in threading.enumerate()))
