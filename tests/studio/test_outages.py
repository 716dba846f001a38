"""A connection lost during a generation: the progress line shows it, and the result arrives."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest

from kit.client.flows import Policy
from kit.client.settings import Settings
from kit.client.sync import Client
from kit.studio import Studio
from kit.studio.operations import Operations
from tests.client.fixtures import Clock
from tests.client.third_party import Answer, Server
from tests.studio.progress_lines import ShownLine

ONE = "/v1/creative-studio/generations/job-1"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return dataclasses.replace(settings, progress=True)


@pytest.fixture
def line() -> ShownLine:
    return ShownLine()


@pytest.fixture
def operations(settings: Settings, policy: Policy, line: ShownLine) -> Operations:
    return Operations(settings, policy=policy, line=line)


@pytest.fixture
def studio(settings: Settings, clock: Clock, operations: Operations) -> Iterator[Studio]:
    client = Client(settings, sleep=clock.sleep)
    with Studio(settings, client=client, operations=operations) as studio:
        yield studio


def find_outages(line: ShownLine) -> list[str]:
    return [label for label in line.labels if label.startswith("no connection for ")]


def test_the_progress_line_shows_a_lost_connection(
    studio: Studio, api: Server, line: ShownLine
) -> None:
    api.script("GET", ONE, *[Answer(drop=True)] * 12)

    made = studio.generate("paint", "a lake")

    assert made.status == "completed"
    assert len(find_outages(line)) > 20
    assert find_outages(line)[0] == "no connection for 2 s, trying again"
    assert line.labels[-1] == ""  # the line is closed
