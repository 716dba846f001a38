"""The channel to a render process: it accepts only the result of its task."""

import asyncio
import socket
from collections.abc import Callable, Coroutine
from typing import Any

import orjson
import pytest

from kit.service.worker.channel import Channel, LostError


def run_channel(exchange: Callable[[Channel, socket.socket], Coroutine[Any, Any, Any]]) -> Any:
    """Run a coroutine function with a channel and the other end of its connection."""

    async def inside() -> Any:
        ours, theirs = socket.socketpair()
        loop = asyncio.get_running_loop()
        _, channel = await loop.create_connection(Channel, sock=ours)
        try:
            with theirs:
                theirs.sendall(message(task="", result={}))
                await channel.wait_ready()
                return await asyncio.wait_for(exchange(channel, theirs), 20)
        finally:
            channel.close()

    return asyncio.run(inside())


def ignore(_: float) -> None:
    """Ignore progress."""


def message(**fields: Any) -> bytes:
    return orjson.dumps(fields) + b"\n"


GOOD = message(task="a", result={"width": 1})


def test_the_result_with_the_id_of_the_task_is_returned() -> None:
    seen: list[float] = []

    async def exchange(channel: Channel, other: socket.socket) -> Any:
        other.sendall(message(task="a", progress=0.25) + GOOD)
        answer = await channel.run("a", {"do": "render"}, seen.append)
        return answer["result"], orjson.loads(other.recv(1000)), channel.broken

    result, asked, broken = run_channel(exchange)

    assert (result, seen, broken) == ({"width": 1}, [0.25], False)
    assert asked == {"do": "render", "task": "a"}


def test_a_task_that_is_canceled_before_it_is_sent_does_not_begin() -> None:
    async def exchange(channel: Channel, other: socket.socket) -> Any:
        channel.cancel()
        answer = await channel.run("b", {}, ignore)
        other.sendall(GOOD)
        return answer["code"], await channel.run("a", {}, ignore), other.recv(1000)

    code, answer, sent = run_channel(exchange)

    assert (code, answer["result"]) == ("canceled", {"width": 1})
    assert sent == message(task="a")


def test_a_result_may_arrive_in_pieces() -> None:
    async def exchange(channel: Channel, other: socket.socket) -> Any:
        asked = asyncio.create_task(channel.run("a", {}, ignore))
        for byte in GOOD:
            other.sendall(bytes([byte]))
            await asyncio.sleep(0)
        return await asked

    assert run_channel(exchange)["result"] == {"width": 1}


@pytest.mark.parametrize(
    "line",
    [
        message(task="b", result={}),
        message(task="b", progress=0.5),
        message(result={}),
        message(task="a"),
        message(task="a", result=None),
        message(task="a", result=[]),
        message(task="a", error="x"),
        message(task="a", error="x", code=7),
        message(task="a", progress="half"),
        message(task="a", progress=1.5),
        b"[]\n",
        b"\n",
        b"{\n",
        b"\xff\n",
    ],
)
def test_any_other_message_breaks_the_channel(
    line: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async def exchange(channel: Channel, other: socket.socket) -> Any:
        other.sendall(line + GOOD)
        with pytest.raises(LostError):
            await channel.run("a", {}, ignore)
        with pytest.raises(LostError):
            await channel.run("c", {}, ignore)
        return channel.broken

    assert run_channel(exchange)
    assert "a render process is killed" in caplog.text


@pytest.mark.parametrize("more", [GOOD, message(task="a", progress=1.0), b"{", b"\n"])
def test_bytes_after_a_result_break_the_channel_but_the_result_counts(more: bytes) -> None:
    async def exchange(channel: Channel, other: socket.socket) -> Any:
        other.sendall(GOOD + more)
        return await channel.run("a", {}, ignore), channel.broken

    answer, broken = run_channel(exchange)

    assert (answer["result"], broken) == ({"width": 1}, True)


def test_a_message_without_a_task_breaks_the_channel() -> None:
    async def exchange(channel: Channel, other: socket.socket) -> Any:
        other.sendall(GOOD)
        while not channel.broken:
            await asyncio.sleep(0.001)
        with pytest.raises(LostError):
            await channel.run("a", {}, ignore)

    run_channel(exchange)


def test_an_endless_message_is_not_read_completely() -> None:
    async def exchange(channel: Channel, other: socket.socket) -> Any:
        other.setblocking(False)
        asked = asyncio.create_task(channel.run("a", {}, ignore))
        loop, size = asyncio.get_running_loop(), 0
        while not asked.done() and size < 100 << 20:
            try:
                await loop.sock_sendall(other, b"y" * 100_000)
            except ConnectionError:
                break
            size += 100_000
        with pytest.raises(LostError):
            await asked
        return size

    assert run_channel(exchange) < 16 << 20


def test_a_closed_connection_is_lost_without_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    async def exchange(channel: Channel, other: socket.socket) -> Any:
        other.close()
        with pytest.raises(LostError):
            await channel.run("a", {}, ignore)

    run_channel(exchange)

    assert not caplog.text
