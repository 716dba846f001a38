from __future__ import annotations

import asyncio
import threading
import warnings
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from kit.errors import NoAnswerError
from kit.studio import AsyncStudio
from tests.client.third_party import ThirdParty, png


def run_cell(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine as a notebook's cell awaits it."""
    return asyncio.run(work)


def test_every_operation_can_be_awaited(astudio: AsyncStudio) -> None:
    async def use_studio() -> list[Any]:
        async with astudio as studio:
            made = await studio.generate("paint", "a lake")
            started = await studio.start("paint", "b")
            return [
                (await studio.account).name,
                list(await studio.models),
                list(await (await studio.models).refresh()),
                str((await studio.estimate("paint", "x")).total),
                made.status,
                await made.output.bytes() == png(),
                (await started.wait()).status,
                (await started.refresh()).status,
                [g.id async for g in studio.history],
                (await studio.history["job-1"]).prompt,
                (await studio.titles.suggest("SPACE")).title,
                len(await studio.scripts.write("SPACE", "T")),
            ]

    assert run_cell(use_studio()) == [
        "Ada",
        ["paint", "retouch"],
        ["paint", "retouch"],
        "0.25",
        "completed",
        True,
        "completed",
        "completed",
        ["job-2", "job-1"],
        "a lake",
        "T",
        1,
    ]


def test_a_history_that_is_not_awaited_is_an_error_instead_of_an_endless_loop(
    astudio: AsyncStudio,
) -> None:
    with pytest.raises(TypeError, match="not iterable"):
        list(astudio.history)  # type: ignore[call-overload]


def test_awaited_costs_are_computed_on_another_thread(astudio: AsyncStudio) -> None:
    found: list[threading.Thread] = []

    async def group() -> None:
        async with astudio as studio:
            await studio.generate("paint", "a lake")
            with warnings.catch_warnings():
                warnings.simplefilter("always")
                warnings.showwarning = lambda *_, **__: found.append(threading.current_thread())
                await studio.costs.by("tag.unknown")

    run_cell(group())

    assert found
    assert threading.current_thread() not in found


def test_one_studio_serves_many_loops_and_threads(astudio: AsyncStudio) -> None:
    def run_notebook(number: int) -> str:
        async def make() -> str:
            return (await astudio.generate("paint", f"lake {number}")).status

        return str(run_cell(make()))

    with ThreadPoolExecutor(8) as pool:
        states = list(pool.map(run_notebook, range(16)))
    run_cell(astudio.close())

    assert states == ["completed"] * 16


def test_a_preview_is_rendered_inside_a_running_loop(astudio: AsyncStudio) -> None:
    async def render() -> dict[str, str]:
        made = await astudio.generate("paint", "a lake")
        bundle = made._repr_mimebundle_()
        await astudio.close()
        return bundle

    assert "<img" in run_cell(render())["text/html"]


def test_an_error_can_be_resumed(astudio: AsyncStudio, backend: ThirdParty) -> None:
    backend.polls = 1000

    async def use_studio() -> str:
        with pytest.raises(NoAnswerError) as caught:
            await astudio.generate("paint", "a lake", timeout=5)
        backend.polls = 2
        assert caught.value.resume is not None
        resumed = await caught.value.resume()
        await astudio.close()
        return str(resumed.status)

    assert run_cell(use_studio()) == "completed"


def test_canceling_the_await_stops_the_polling(astudio: AsyncStudio, backend: ThirdParty) -> None:
    backend.polls = 10**9
    polled = threading.Event()
    answer = backend.get
    backend.get = lambda seen, number: (polled.set(), answer(seen, number))[1]  # type: ignore[method-assign]

    async def use_studio() -> None:
        waiting = asyncio.ensure_future(astudio.generate("paint", "a lake"))
        await asyncio.to_thread(polled.wait, 5)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert (await astudio.history["job-1"]).status == "processing"
        await astudio.close()

    run_cell(use_studio())


def test_an_interrupted_wait_for_a_finished_sweep_names_no_credits(astudio: AsyncStudio) -> None:
    async def use_studio() -> list[str]:
        sweep = await (await astudio.sweep("paint", "a lake")).run()
        waiting = asyncio.ensure_future(sweep.wait())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await waiting
        await astudio.close()
        return caught.value.__notes__

    assert run_cell(use_studio()) == ["1 completed"]
