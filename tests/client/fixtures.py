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
    """Time that passes only when somebody sleeps."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    async def asleep(self, seconds: float) -> None:
        self.sleep(seconds)
        await asyncio.sleep(0)  # the others on the loop go on meanwhile


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def policy(clock: Clock) -> Policy:
    """As patient as usual, without dice, on a clock that takes no time."""
    return Policy(clock=clock, dice=lambda: 0.0)


@pytest.fixture
def media() -> Iterator[Server]:
    """The other origin, where files are."""
    with third_party.serving(third_party.storage) as server:
        yield server


@pytest.fixture
def party(media: Server) -> ThirdParty:
    """What the other implementation knows."""
    return ThirdParty(media.url)


@pytest.fixture
def other(party: ThirdParty) -> Iterator[Server]:
    """The other implementation."""
    with third_party.serving(party) as server:
        yield server


@pytest.fixture
def settings(other: Server, tmp_path: Path) -> Settings:
    return Settings(other.url, KEY, data=tmp_path / "data", progress=False)


@pytest.fixture
def client(settings: Settings, clock: Clock) -> Iterator[Client]:
    with closing(Client(settings, sleep=clock.sleep)) as client:
        yield client


def ok(body: Any, **headers: str) -> Reply:
    return replace(status(200, **headers), content=json.dumps(body).encode())


def status(number: int, **headers: str) -> Reply:
    return Reply(number, {name.replace("_", "-"): v for name, v in headers.items()}, b"{}")


def sleeps(steps: list[Any]) -> list[float]:
    return [step.seconds for step in steps if isinstance(step, Sleep)]


def driven(flow: Flow[Any], *outcomes: Any) -> tuple[list[Any], Any]:
    """Drive a flow with outcomes made up beforehand; return its steps and its result or error.

    A `Sleep` takes its own outcome, None, by itself.
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
