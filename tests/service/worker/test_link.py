"""The line to a render process: only what answers the question is heard."""

import asyncio
import socket
from collections.abc import Callable, Coroutine
from typing import Any

import orjson
import pytest

from kit.service.worker.link import Link, LostError


def talked(talk: Callable[[Link, socket.socket], Coroutine[Any, Any, Any]]) -> Any:
    """Run something with a link and the other end of its line."""

    async def inside() -> Any:
        ours, theirs = socket.socketpair()
        loop = asyncio.get_running_loop()
        _, link = await loop.create_connection(Link, sock=ours)
        try:
            with theirs:
                return await asyncio.wait_for(talk(link, theirs), 20)
        finally:
            link.close()

    return asyncio.run(inside())


def silent(_: float) -> None:
    """Ignore progress."""


def said(**message: Any) -> bytes:
    return orjson.dumps(message) + b"\n"


GOOD = said(task="a", result={"width": 1})


def test_the_answer_is_what_names_the_task() -> None:
    seen: list[float] = []

    async def talk(link: Link, other: socket.socket) -> Any:
        other.sendall(said(task="a", progress=0.25) + GOOD)
        answer = await link.ask("a", {"do": "render"}, seen.append)
        return answer["result"], orjson.loads(other.recv(1000)), link.broken

    result, asked, broken = talked(talk)

    assert (result, seen, broken) == ({"width": 1}, [0.25], False)
    assert asked == {"do": "render", "task": "a"}


def test_an_answer_may_come_in_pieces() -> None:
    async def talk(link: Link, other: socket.socket) -> Any:
        asked = asyncio.create_task(link.ask("a", {}, silent))
        for byte in GOOD:
            other.sendall(bytes([byte]))
            await asyncio.sleep(0)
        return await asked

    assert talked(talk)["result"] == {"width": 1}


@pytest.mark.parametrize(
    "line",
    [
        said(task="b", result={}),
        said(task="b", progress=0.5),
        said(result={}),
        said(task="a"),
        said(task="a", result=None),
        said(task="a", result=[]),
        said(task="a", error="x"),
        said(task="a", error="x", code=7),
        said(task="a", progress="half"),
        said(task="a", progress=1.5),
        b"[]\n",
        b"\n",
        b"{\n",
        b"\xff\n",
    ],
)
def test_anything_else_breaks_the_link_for_good(
    line: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async def talk(link: Link, other: socket.socket) -> Any:
        other.sendall(line + GOOD)
        with pytest.raises(LostError):
            await link.ask("a", {}, silent)
        with pytest.raises(LostError):
            await link.ask("c", {}, silent)
        return link.broken

    assert talked(talk)
    assert "a render process is given up" in caplog.text


@pytest.mark.parametrize("more", [GOOD, said(task="a", progress=1.0), b"{", b"\n"])
def test_an_answer_stands_and_what_follows_it_breaks_the_link(more: bytes) -> None:
    async def talk(link: Link, other: socket.socket) -> Any:
        other.sendall(GOOD + more)
        return await link.ask("a", {}, silent), link.broken

    answer, broken = talked(talk)

    assert (answer["result"], broken) == ({"width": 1}, True)


def test_what_is_said_while_nothing_is_asked_breaks_the_link() -> None:
    async def talk(link: Link, other: socket.socket) -> Any:
        other.sendall(GOOD)
        while not link.broken:
            await asyncio.sleep(0.001)
        with pytest.raises(LostError):
            await link.ask("a", {}, silent)

    talked(talk)


def test_a_line_without_end_is_not_read_to_its_end() -> None:
    async def talk(link: Link, other: socket.socket) -> Any:
        other.setblocking(False)
        asked = asyncio.create_task(link.ask("a", {}, silent))
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

    assert talked(talk) < 4 << 20


def test_whoever_hangs_up_gives_no_answer(caplog: pytest.LogCaptureFixture) -> None:
    async def talk(link: Link, other: socket.socket) -> Any:
        other.close()
        with pytest.raises(LostError):
            await link.ask("a", {}, silent)

    talked(talk)

    assert not caplog.text
