"""Methods that send requests are coroutines in the async face and not in the blocking one."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path

import pytest

from kit.client.aio import AsyncClient
from kit.client.sync import Client
from tests import sync_face


def import_path(path: Path) -> object:
    return import_module(
        ".".join(path.relative_to(sync_face.ROOT).with_suffix("").parts).removesuffix(".__init__")
    )


PAIRS: list[tuple[type, type]] = [
    (getattr(import_path(blocking), name.removeprefix("Async")), kind)
    for awaited, blocking in sync_face.list_pairs().items()
    for name, kind in vars(import_path(awaited)).items()
    if name.startswith("Async") and "kit." in str(getattr(kind, "__module__", ""))
    if "http" not in awaited.parts  # those have httpx's own names
]
#: The methods of both clients that block the caller or make a job of a flow.
BLOCKING = {"block", "wait_for", "disconnect", "run"}


def names(kind: type) -> list[str]:
    return sorted(name for name in dir(kind) if not name.startswith("_"))


@pytest.mark.parametrize(("blocking", "awaited"), PAIRS, ids=lambda kind: kind.__name__)
def test_the_async_face_has_the_same_names_as_coroutines(blocking: type, awaited: type) -> None:
    assert names(blocking) == names(awaited)
    for name in set(names(blocking)) - (BLOCKING if awaited is AsyncClient else set()):
        shared = getattr(blocking, name) is getattr(awaited, name)
        if inspect.isfunction(getattr(blocking, name)) and not shared:
            assert inspect.iscoroutinefunction(getattr(awaited, name)), name
            assert not inspect.iscoroutinefunction(getattr(blocking, name)), name


def test_all_faces_are_compared() -> None:
    assert (Client, AsyncClient) in PAIRS
    assert len(PAIRS) > 12
