"""The built-in writer, which needs no other service."""

import asyncio

import pytest

from kit.service.domain.writing import ScriptBrief
from kit.service.writer import BuiltInWriter

BRIEF = ScriptBrief(
    topic="SPACE",
    title="Ten facts",
    duration_seconds=30,
    hook_angle=None,
    use_hook=False,
    use_cta=False,
    use_ragebait=False,
    variations=2,
)


def test_built_in_texts_have_their_writer_and_their_duration() -> None:
    writer = BuiltInWriter(4.35)
    title = asyncio.run(writer.title("SPACE", seed=1, avoid=[]))
    one, two = asyncio.run(writer.scripts(BRIEF, seed=1))

    assert {title.writer, one.writer, two.writer} == {"offline"}
    assert one.content != two.content
    assert one.seconds == pytest.approx(30, rel=0.1)
    assert one.words == pytest.approx(len(one.content.split()), abs=3)


def test_the_event_loop_runs_while_the_built_in_writer_writes() -> None:
    async def count_turns() -> int:
        order = asyncio.create_task(BuiltInWriter(4.35).scripts(BRIEF, seed=1))
        turns = 0
        while not order.done():
            await asyncio.sleep(0)
            turns += 1
        return turns

    assert asyncio.run(count_turns()) > 10
