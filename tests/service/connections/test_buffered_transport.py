"""Small writes leave together, in order, and none is kept back."""

import asyncio
from typing import Any

from kit.service.connections import BufferedTransport


class Recorded:
    """A transport that notes what it is asked."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def write(self, data: bytes) -> None:
        self.calls.append(data)

    def close(self) -> None:
        self.calls.append("closed")

    def write_eof(self) -> None:
        self.calls.append("ended")

    def is_closing(self) -> bool:
        return "closed" in self.calls


async def after(*writes: bytes, close: bool = False) -> list[Any]:
    """Return what the transport was asked once the loop has gone round."""
    recorded: Any = Recorded()
    gathering = BufferedTransport(recorded, asyncio.get_running_loop())
    for data in writes:
        gathering.write(data)
    if close:
        gathering.close()
        assert gathering.is_closing()
    await asyncio.sleep(0)
    calls: list[Any] = recorded.calls
    return calls


def test_a_head_and_its_body_are_one_piece() -> None:
    assert asyncio.run(after(b"head", b"body")) == [b"headbody"]


def test_much_is_sent_at_once_and_in_order() -> None:
    big = b"x" * 20_000

    assert asyncio.run(after(b"head", big, b"tail")) == [b"head" + big, b"tail"]


def test_what_waits_leaves_before_the_connection_is_closed() -> None:
    assert asyncio.run(after(b"head", b"body", close=True)) == [b"headbody", "closed"]


def test_what_waits_leaves_before_the_end_is_told() -> None:
    async def ended() -> list[Any]:
        recorded: Any = Recorded()
        gathering = BufferedTransport(recorded, asyncio.get_running_loop())
        gathering.write(b"head")
        gathering.write_eof()
        calls: list[Any] = recorded.calls
        return calls

    assert asyncio.run(ended()) == [b"head", "ended"]
