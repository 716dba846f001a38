"""What asks the service is awaited in the awaited face, and in the one made from it is not."""

from __future__ import annotations

import inspect

import pytest

from kit.explore.history import AsyncHistory, History
from kit.studio.aio import costs, generation, history, scripts, studio, sweeps, usage
from kit.studio.sync import costs as sync_costs
from kit.studio.sync import generation as sync_generation
from kit.studio.sync import history as sync_history
from kit.studio.sync import scripts as sync_scripts
from kit.studio.sync import studio as sync_studio
from kit.studio.sync import sweeps as sync_sweeps
from kit.studio.sync import usage as sync_usage

PAIRS: list[tuple[type, type]] = [
    (sync_studio.Studio, studio.AsyncStudio),
    (sync_scripts.Titles, scripts.AsyncTitles),
    (sync_scripts.Scripts, scripts.AsyncScripts),
    (sync_usage.Usage, usage.AsyncUsage),
    (sync_generation.Generation, generation.AsyncGeneration),
    (sync_costs.Costs, costs.AsyncCosts),
    (sync_sweeps.Sweeps, sweeps.AsyncSweeps),
    (sync_generation.Output, generation.AsyncOutput),
    (History, AsyncHistory),
    (sync_history.StudioHistory, history.AsyncStudioHistory),
]


def names(kind: type) -> list[str]:
    return sorted(name for name in dir(kind) if not name.startswith("_"))


@pytest.mark.parametrize(("blocking", "awaited"), PAIRS)
def test_whatever_asks_the_service_is_awaited(blocking: type, awaited: type) -> None:
    assert names(blocking) == names(awaited)
    for name in names(blocking):
        if inspect.isfunction(getattr(blocking, name)):
            assert inspect.iscoroutinefunction(getattr(awaited, name)), name
            assert not inspect.iscoroutinefunction(getattr(blocking, name)), name
