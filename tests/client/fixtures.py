"""Fixtures that the tests of the notebook wing share; each folder's conftest names them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from kit.client.calls import Flow, Reply, Sleep
from kit.client.flows import Policy
from kit.client.settings import Settings
from kit.client.sync import Client
from kit.errors import KitError
from tests.client import third_party
from tests.client.third_party import KEY, Server, ThirdParty


@dataclass
class Clock:
    """A clock that advances only when a test sleeps."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    async def async_sleep(self, seconds: float) -> None:
        self.sleep(seconds)
        await asyncio.sleep(0)  # other tasks of the loop continue meanwhile


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def policy(clock: Clock) -> Policy:
    """The usual retry policy, without randomness, on the test's clock."""
    return Policy(clock=clock, dice=lambda: 0.0)


@pytest.fixture
def media() -> Iterator[Server]:
    """The server of another origin, where files are."""
    with third_party.serve(third_party.storage) as server:
        yield server


@pytest.fixture
def backend(media: Server) -> ThirdParty:
    """The third-party application; a test sets what it answers."""
    return ThirdParty(media.url)


@pytest.fixture
def api(backend: ThirdParty) -> Iterator[Server]:
    """The server of the third-party application."""
    with third_party.serve(backend) as server:
        yield server


@pytest.fixture
def settings(api: Server, tmp_path: Path) -> Settings:
    return Settings(api.url, KEY, data=tmp_path / "data", progress=False)


@pytest.fixture
def client(settings: Settings, clock: Clock) -> Iterator[Client]:
    with closing(Client(settings, sleep=clock.sleep)) as client:
        yield client


def ok(body: Any, **headers: str) -> Reply:
    return replace(status(200, **headers), content=json.dumps(body).encode())


def status(number: int, **headers: str) -> Reply:
    return Reply(number, {name.replace("_", "-"): v for name, v in headers.items()}, b"{}")


def get_pauses(steps: list[Any]) -> list[float]:
    return [step.seconds for step in steps if isinstance(step, Sleep)]


def drive(flow: Flow[Any], *outcomes: Any) -> tuple[list[Any], Any]:
    """Drive a flow with prepared outcomes; return its steps and its result or error.

    A `Sleep` gets None and takes no outcome.
    """
    left = list(outcomes)
    steps = []
    try:
        step = next(flow)
        while True:
            steps.append(step)
            step = flow.send(None if isinstance(step, Sleep) else left.pop(0))
    except StopIteration as stop:
        return steps, stop.value
    except KitError as error:
        return steps, error
