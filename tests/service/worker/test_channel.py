"""The channel to a render process: only an answer to its task is accepted."""

import asyncio
import socket
from collections.abc import Callable, Coroutine
from typing import Any

import orjson
import pytest

from kit.service.worker.channel import Channel, LostError


def converse(talk: Callable[[Channel, socket.socket], Coroutine[Any, Any, Any]]) -> Any:
    """Run something with a channel and the other end of its line."""

    async def inside() -> Any:
        ours, theirs = socket.socketpair()
        loop = asyncio.get_running_loop()
        _, channel = await loop.create_connection(Channel, sock=ours)
        try:
            with theirs:
                theirs.sendall(message(task="", result={}))
                await channel.wait_ready()
                return await asyncio.wait_for(talk(channel, theirs), 20)
        finally:
            channel.close()

    return asyncio.run(inside())


def silent(_: float) -> None:
    """Ignore progress."""


def message(**fields: Any) -> bytes:
    return orjson.dumps(fields) + b"\n"


GOOD = message(task="a", result={"width": 1})


def test_the_answer_is_what_names_the_task() -> None:
    seen: list[float] = []

    async def talk(channel: Channel, other: socket.socket) -> Any:
        other.sendall(message(task="a", progress=0.25) + GOOD)
        answer = await channel.run("a", {"do": "render"}, seen.append)
        return answer["result"], orjson.loads(other.recv(1000)), channel.broken

    result, asked, broken = converse(talk)

    assert (result, seen, broken) == ({"width": 1}, [0.25], False)
    assert asked == {"do": "render", "task": "a"}


def test_an_answer_may_come_in_pieces() -> None:
    async def talk(channel: Channel, other: socket.socket) -> Any:
        asked = asyncio.create_task(channel.run("a", {}, silent))
        for byte in GOOD:
            other.sendall(bytes([byte]))
            await asyncio.sleep(0)
        return await asked

    assert converse(talk)["result"] == {"width": 1}


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
def test_anything_else_breaks_the_channel_for_good(
    line: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async def talk(channel: Channel, other: socket.socket) -> Any:
        other.sendall(line + GOOD)
        with pytest.raises(LostError):
            await channel.run("a", {}, silent)
        with pytest.raises(LostError):
            await channel.run("c", {}, silent)
        return channel.broken

    assert converse(talk)
    assert "a render process is killed" in caplog.text


@pytest.mark.parametrize("more", [GOOD, message(task="a", progress=1.0), b"{", b"\n"])
def test_an_answer_stands_and_what_follows_it_breaks_the_channel(more: bytes) -> None:
    async def talk(channel: Channel, other: socket.socket) -> Any:
        other.sendall(GOOD + more)
        return await channel.run("a", {}, silent), channel.broken

    answer, broken = converse(talk)

    assert (answer["result"], broken) == ({"width": 1}, True)


def test_what_is_said_while_nothing_is_asked_breaks_the_channel() -> None:
    async def talk(channel: Channel, other: socket.socket) -> Any:
        other.sendall(GOOD)
        while not channel.broken:
            await asyncio.sleep(0.001)
        with pytest.raises(LostError):
            await channel.run("a", {}, silent)

    converse(talk)


def test_a_line_without_end_is_not_read_to_its_end() -> None:
    async def talk(channel: Channel, other: socket.socket) -> Any:
        other.setblocking(False)
        asked = asyncio.create_task(channel.run("a", {}, silent))
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

    assert converse(talk) < 16 << 20


def test_whoever_hangs_up_gives_no_answer(caplog: pytest.LogCaptureFixture) -> None:
    async def talk(channel: Channel, other: socket.socket) -> Any:
        other.close()
        with pytest.raises(LostError):
            await channel.run("a", {}, silent)

    converse(talk)

    assert not caplog.text
