"""Waiting for news of a generation."""

import asyncio

import pytest

from kit.service.http import patience
from kit.service.worker.hub import Hub


@pytest.mark.parametrize(
    ("prefer", "seconds"),
    [
        ("wait=5", 5),
        ("respond-async, wait=7", 7),
        ("Wait = 3", 3),
        ('wait="4"', 4),
        ("wait=100000", patience.LONGEST),
        ("await=5", 0),
        ("wait=soon", 0),
        ("return=minimal", 0),
    ],
)
def test_the_header_is_read_as_its_standard_has_it(prefer: str, seconds: int) -> None:
    assert patience.wanted({"prefer": prefer}) == seconds


def looking_at(states: list[str], hub: Hub, seconds: float) -> tuple[str, int]:
    """Wait for `done`, each look showing the next state; return what was seen, and the looks."""
    looks = 0

    async def look() -> str:
        nonlocal looks
        looks += 1
        return states[min(looks, len(states)) - 1]

    async def inside() -> str:
        asyncio.get_running_loop().call_later(0.01, hub.tell, "gen_1")
        return await patience.held(hub, "gen_1", look, lambda seen: seen == "done", seconds)

    return asyncio.run(inside()), looks


def test_what_happens_here_is_seen_as_soon_as_it_is_told() -> None:
    hub = Hub()

    assert looking_at(["running", "running", "done"], hub, 30) == ("done", 3)
    assert hub.watchers == 0


def test_a_service_that_stops_holds_nobody() -> None:
    hub = Hub()
    hub.close()

    assert looking_at(["running"], hub, 30)[0] == "running"


def test_the_time_is_up_some_day() -> None:
    assert looking_at(["running"], Hub(), 0.05)[0] == "running"


def test_a_crowd_is_answered_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "MOST_WATCHERS", 0)

    assert looking_at(["running"], Hub(), 30) == ("running", 1)
