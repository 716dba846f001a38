"""The writers that need no other service."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from kit.errors import UnavailableError
from kit.service.domain.writing import Draft, ScriptBrief
from kit.service.writer.factory import BuiltInWriter, FallbackWriter
from kit.wire import Title

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


@dataclass
class Told:
    """A writer that writes its name, or fails."""

    name: str
    error: Exception | None = None
    asked: list[object] = field(default_factory=list)

    async def title(self, topic: str, *, seed: int, avoid: Sequence[str]) -> Title:
        self._note((topic, seed, avoid))
        return Title(title=self.name, writer=self.name)

    async def scripts(self, brief: ScriptBrief, *, seed: int) -> Sequence[Draft]:
        self._note((brief, seed))
        return [Draft(self.name, 1.0, 1, self.name)]

    def _note(self, asked: object) -> None:
        self.asked.append(asked)
        if self.error:
            raise self.error


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


def test_the_second_writer_is_left_alone_while_the_first_can_write() -> None:
    first, second = Told("first"), Told("second")
    writer = FallbackWriter(first, second)

    assert asyncio.run(writer.title("SPACE", seed=3, avoid=["x"])).writer == "first"
    assert asyncio.run(writer.scripts(BRIEF, seed=3))[0].writer == "first"
    assert first.asked == [("SPACE", 3, ["x"]), (BRIEF, 3)]
    assert second.asked == []


def test_the_second_writer_writes_where_the_first_cannot(caplog: pytest.LogCaptureFixture) -> None:
    first, second = Told("first", UnavailableError("it sleeps")), Told("second")
    writer = FallbackWriter(first, second)

    assert asyncio.run(writer.title("SPACE", seed=3, avoid=["x"])).writer == "second"
    assert asyncio.run(writer.scripts(BRIEF, seed=3))[0].writer == "second"
    assert second.asked == first.asked
    assert "the built-in writer writes instead: it sleeps" in caplog.text


def test_a_mistake_in_the_first_writer_is_not_hidden() -> None:
    writer = FallbackWriter(Told("first", RuntimeError("oops")), Told("second"))

    with pytest.raises(RuntimeError, match="oops"):
        asyncio.run(writer.title("SPACE", seed=3, avoid=[]))
