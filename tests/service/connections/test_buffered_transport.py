"""Small writes are sent together, in order, and all of them are sent."""

import asyncio
from typing import Any

from kit.service.connections import BufferedTransport


class RecordingTransport:
    """A transport that records its calls."""

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


async def recorded_calls(*writes: bytes, close: bool = False) -> list[Any]:
    """Return the transport's calls after one turn of the event loop."""
    recorded: Any = RecordingTransport()
    buffered = BufferedTransport(recorded, asyncio.get_running_loop())
    for data in writes:
        buffered.write(data)
    if close:
        buffered.close()
        assert buffered.is_closing()
    await asyncio.sleep(0)
    calls: list[Any] = recorded.calls
    return calls


def test_a_head_and_its_body_are_sent_in_one_write() -> None:
    assert asyncio.run(recorded_calls(b"head", b"body")) == [b"headbody"]


def test_a_large_body_is_sent_at_once_and_in_order() -> None:
    big = b"x" * 20_000

    assert asyncio.run(recorded_calls(b"head", big, b"tail")) == [b"head" + big, b"tail"]


def test_buffered_data_is_sent_before_the_connection_is_closed() -> None:
    assert asyncio.run(recorded_calls(b"head", b"body", close=True)) == [b"headbody", "closed"]


def test_buffered_data_is_sent_before_the_end_of_file() -> None:
    async def calls_after_end() -> list[Any]:
        recorded: Any = RecordingTransport()
        buffered = BufferedTransport(recorded, asyncio.get_running_loop())
        buffered.write(b"head")
        buffered.write_eof()
        calls: list[Any] = recorded.calls
        return calls

    assert asyncio.run(calls_after_end()) == [b"head", "ended"]
