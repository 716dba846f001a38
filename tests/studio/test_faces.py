"""What asks the service is awaited in the awaited face, and in the one made from it is not."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path

import pytest

from kit.client.aio import AsyncClient
from kit.client.sync import Client
from tests import sync_face


def imported(path: Path) -> object:
    return import_module(
        ".".join(path.relative_to(sync_face.ROOT).with_suffix("").parts).removesuffix(".__init__")
    )


PAIRS: list[tuple[type, type]] = [
    (getattr(imported(blocking), name.removeprefix("Async")), kind)
    for awaited, blocking in sync_face.list_pairs().items()
    for name, kind in vars(imported(awaited)).items()
    if name.startswith("Async") and "kit." in str(getattr(kind, "__module__", ""))
    if "http" not in awaited.parts  # those have httpx's own names
]
#: What both clients have to run things while the caller waits, and what makes a job of a flow.
WAITING = {"block", "wait_for", "disconnect", "run"}


def names(kind: type) -> list[str]:
    return sorted(name for name in dir(kind) if not name.startswith("_"))


@pytest.mark.parametrize(("blocking", "awaited"), PAIRS, ids=lambda kind: kind.__name__)
def test_what_asks_the_service_is_awaited(blocking: type, awaited: type) -> None:
    assert names(blocking) == names(awaited)
    for name in set(names(blocking)) - (WAITING if awaited is AsyncClient else set()):
        shared = getattr(blocking, name) is getattr(awaited, name)
        if inspect.isfunction(getattr(blocking, name)) and not shared:
            assert inspect.iscoroutinefunction(getattr(awaited, name)), name
            assert not inspect.iscoroutinefunction(getattr(blocking, name)), name


def test_all_faces_are_compared() -> None:
    assert (Client, AsyncClient) in PAIRS
    assert len(PAIRS) > 12
