"""The blocking and the awaited face have the same names and the same signatures."""

from __future__ import annotations

import inspect
import re

import pytest

from kit.explore.history import AsyncHistory, History
from kit.studio import aio, costs, generation, sweeps, sync, tables

PAIRS = [
    (sync.Studio, aio.AsyncStudio),
    (sync.Titles, aio.AsyncTitles),
    (sync.Scripts, aio.AsyncScripts),
    (sync.Usage, aio.AsyncUsage),
    (generation.Generation, generation.AsyncGeneration),
    (costs.Costs, costs.AsyncCosts),
    (sweeps.Sweeps, sweeps.AsyncSweeps),
    (generation.Output, generation.AsyncOutput),
    (History, AsyncHistory),
    (tables.StudioHistory, tables.AsyncStudioHistory),
]


def names(kind: type) -> list[str]:
    return sorted(name for name in dir(kind) if not name.startswith("_"))


@pytest.mark.parametrize(("blocking", "awaited"), PAIRS)
def test_both_faces_have_the_same_names(blocking: type, awaited: type) -> None:
    assert names(blocking) == names(awaited)


@pytest.mark.parametrize(("blocking", "awaited"), PAIRS)
def test_both_faces_take_the_same_arguments(blocking: type, awaited: type) -> None:
    for name in names(blocking):
        one, other = getattr(blocking, name), getattr(awaited, name)
        if inspect.isfunction(one):
            taken, mine = inspect.signature(other).parameters, inspect.signature(one).parameters
            assert [str(p) for p in taken.values()] == [str(p) for p in mine.values()], name


@pytest.mark.parametrize(("blocking", "awaited"), PAIRS)
def test_both_faces_return_the_same(blocking: type, awaited: type) -> None:
    for name in names(blocking):
        one, other = getattr(blocking, name), getattr(awaited, name)
        if inspect.iscoroutinefunction(other):
            returned = str(inspect.signature(other).return_annotation)
            mine = str(inspect.signature(one).return_annotation)
            assert re.sub(r"\bAsync", "", returned) == mine, name


@pytest.mark.parametrize(("blocking", "awaited"), PAIRS)
def test_whatever_asks_the_service_is_awaited(blocking: type, awaited: type) -> None:
    for name in names(blocking):
        if inspect.isfunction(getattr(blocking, name)):
            assert inspect.iscoroutinefunction(getattr(awaited, name)), name
