"""The writer that needs no other service."""

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


def test_the_offline_writer_signs_and_measures_what_it_writes() -> None:
    writer = BuiltInWriter(4.35)
    title = asyncio.run(writer.title("SPACE", seed=1, avoid=[]))
    one, two = asyncio.run(writer.scripts(BRIEF, seed=1))

    assert {title.writer, one.writer, two.writer} == {"offline"}
    assert one.content != two.content
    assert one.seconds == pytest.approx(30, rel=0.1)
    assert one.words == pytest.approx(len(one.content.split()), abs=3)


def test_the_offline_writer_leaves_the_loop_alone() -> None:
    async def both() -> int:
        order = asyncio.create_task(BuiltInWriter(4.35).scripts(BRIEF, seed=1))
        beats = 0
        while not order.done():
            await asyncio.sleep(0)
            beats += 1
        return beats

    assert asyncio.run(both()) > 10
