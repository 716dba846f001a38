"""A connection that breaks while something renders: the line says so, and the result comes."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

import pytest

from kit.client.settings import Settings
from kit.studio import AsyncStudio, Studio
from kit.widgets import progress
from tests.client.third_party import Answer, Server

ONE = "/v1/creative-studio/generations/job-1"


class Line:
    """Where progress is shown."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def show(self, label: str, fraction: float | None, seconds: float) -> None:
        self.shown.append(label)

    def close(self) -> None:
        self.shown.append("")


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return dataclasses.replace(settings, progress=True)


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Line:
    line = Line()
    monkeypatch.setattr(progress, "_place", lambda: line)
    monkeypatch.setattr(progress, "EVERY", 0.0)
    return line


def told(line: Line) -> list[str]:
    return [label for label in line.shown if label.startswith("no connection for ")]


def test_the_line_says_that_there_is_no_connection(
    studio: Studio, other: Server, line: Line
) -> None:
    other.first("GET", ONE, *[Answer(drop=True)] * 12)

    made = studio.generate("paint", "a lake")

    assert made.status == "completed"
    assert len(told(line)) > 20
    assert told(line)[0] == "no connection for 2 s, trying again"
    assert line.shown[-1] == ""  # it is gone in the end


def test_the_awaited_face_says_so_too(astudio: AsyncStudio, other: Server, line: Line) -> None:
    other.first("GET", ONE, *[Answer(drop=True)] * 12)

    async def work() -> Any:
        async with astudio as studio:
            return await studio.generate("paint", "a lake")

    assert asyncio.run(work()).status == "completed"
    assert told(line)[0] == "no connection for 2 s, trying again"
