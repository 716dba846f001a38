"""Reads the file of configured models: each entry becomes engines, or a warning.

Listing loads no weights. Only the models of other services need the network, and only if `refresh`
is set; a render process uses the copy that was stored then.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kit.engines.base import Engine
from kit.engines.configured.place import EngineList, LeftOut, ModelSource, describe_error
from kit.engines.diffusers.engine import diffusers
from kit.engines.remote.endpoints import images, videos
from kit.engines.remote.services import services
from kit.engines.remote.site import Site
from kit.errors import EngineError
from kit.parameters import suggest

Kinds = Mapping[str, Callable[[Mapping[str, Any], Path, bool], Sequence[Engine]]]
#: Functions that create engines of an entry, by table of the file.
KINDS: Kinds = {"diffusers": diffusers, "images": images, "videos": videos, "services": services}
#: Entries that are read concurrently, so that the wait for one service does not delay others.
_MAX_THREADS = 8


@dataclass(frozen=True, slots=True)
class _Item:
    kind: str
    number: int
    data: Mapping[str, Any]

    def __str__(self) -> str:
        name = self.data.get("id") or self.data.get("prefix") or "without an id"
        return f"the configured model {self.kind} {self.number} ({name})"

    def may_define(self, model_id: str | None) -> bool:
        """Whether the entry may define a model; for None, whether it is an entry at all."""
        if model_id is None or "prefix" not in self.data:
            return model_id in (None, self.data.get("id"))
        return model_id.startswith(f"{self.data['prefix']}-")


def list_configured(
    source: ModelSource, *, only: str | None = None, refresh: bool = True, kinds: Kinds = KINDS
) -> EngineList:
    """Return the models of the file; broken entries are left out and reported in the listing.

    Parameters
    ----------
    only : str, optional
        A model's id: entries that cannot define it are skipped.
    refresh : bool
        Whether to request the current models of other services.
    """
    left_out: list[LeftOut] = []
    notices: list[str] = []

    def leave_out(subject: object, reason: str) -> None:
        left_out.append(LeftOut(str(subject), reason, f"correct {source.file}"))

    def make(item: _Item) -> Sequence[Engine]:
        try:
            return kinds[item.kind](item.data, source.copies, refresh)
        except Exception as error:  # noqa: BLE001 - one entry must not prevent the others
            leave_out(item, describe_error(error))
            return ()

    items = [item for item in _items(source.file, kinds, leave_out) if item.may_define(only)]
    found: dict[str, Engine] = {}
    with ThreadPoolExecutor(_MAX_THREADS) as pool:
        for item, group in zip(items, pool.map(make, items), strict=True):
            for engine in group:
                if found.setdefault(engine.definition.id, engine) is not engine:
                    leave_out(item, f"the model {engine.definition.id!r} exists already")
            if group:
                notices.extend(_find_notices(item))
    return EngineList(found, tuple(left_out), tuple(notices))


def _items(path: Path, kinds: Kinds, leave_out: Callable[[object, str], None]) -> Iterator[_Item]:
    try:
        if path.exists() and not path.is_file():  # a named pipe would never end
            raise OSError("it is not a regular file")
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        leave_out(f"every model in {path}", f"the file cannot be read: {error}")
        return
    for kind, entries in content.items():
        if kind not in kinds:
            leave_out(f"{kind!r} in {path}", f"it is an unknown table{suggest(kind, kinds)}")
        elif not isinstance(entries, list):
            leave_out(f"{kind!r} in {path}", f"write it as [[{kind}]]")
        else:
            for number, data in enumerate(entries, start=1):
                if isinstance(data, dict):
                    yield _Item(kind, number, data)
                else:
                    leave_out(f"{kind} {number} in {path}", "it is not a table")


def _find_notices(item: _Item) -> Iterator[str]:
    if "key_env" in item.data:
        try:
            Site("", item.data["key_env"]).key()
        except EngineError as error:
            yield f"{item} cannot be used yet: {describe_error(error)}"
