"""The file of configured models, read: each entry becomes engines, or a warning.

Listing loads no weights. It asks the network only for the models of other services, and only where
`refresh` says so; a render process is content with the copy that was kept then.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kit.engines.base import Engine
from kit.engines.configured.entries import said
from kit.engines.configured.place import LeftOut, Listing, ModelSource
from kit.engines.diffusers.engine import engines as pipelines
from kit.engines.remote.endpoints import images, videos
from kit.engines.remote.services import services
from kit.engines.remote.site import Site
from kit.errors import EngineError
from kit.parameters import suggest

#: Entries looked at together: a service that is down must not add its wait to that of the others.
_TOGETHER = 8


@dataclass(frozen=True, slots=True)
class _Item:
    kind: str
    number: int
    data: Mapping[str, Any]

    def __str__(self) -> str:
        name = self.data.get("id") or self.data.get("prefix") or "without an id"
        return f"{self.kind} {self.number} ({name})"


#: Table of the file -> what makes engines of one of its entries.
KINDS: Mapping[str, Callable[[Mapping[str, Any], Path, bool], Sequence[Engine]]] = {
    "diffusers": pipelines,
    "images": images,
    "videos": videos,
    "services": services,
}


def listed(place: ModelSource, *, only: str | None = None, refresh: bool = True) -> Listing:
    """Return what the file holds.

    Parameters
    ----------
    only : str, optional
        A model's id: entries that cannot hold it are not looked at.
    refresh : bool
        Whether to ask other services what they offer now.

    Notes
    -----
    Nothing that is broken in it raises: it is left out, and the listing says why.
    """
    file = _File(place.file)
    items = [item for item in file.items() if _may_hold(item, only)]

    def made(item: _Item) -> Sequence[Engine]:
        try:
            return KINDS[item.kind](item.data, place.copies, refresh)
        except Exception as error:  # noqa: BLE001 - one entry must not take the others with it
            file.leave_out(item, said(error))
            return ()

    found: dict[str, Engine] = {}
    with ThreadPoolExecutor(_TOGETHER) as pool:
        for item, group in zip(items, pool.map(made, items), strict=True):
            for engine in group:
                if found.setdefault(engine.definition.id, engine) is not engine:
                    file.leave_out(item, f"the model {engine.definition.id!r} is there already")
            if group:
                file.remarks.extend(_keyless(item))
    return Listing(found, tuple(file.left_out), tuple(file.remarks), file.remedy)


class _File:
    """The file as it is read: its entries, and what is wrong with it so far."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.remedy = f"correct {path}"
        self.left_out: list[LeftOut] = []
        self.remarks: list[str] = []

    def leave_out(self, item: _Item, why: str) -> None:
        self.left_out.append(LeftOut(f"the configured model {item}", why, self.remedy))

    def items(self) -> Iterator[_Item]:
        try:
            content = tomllib.loads(self._path.read_text(encoding="utf-8-sig"))
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            self._reject("every model", f"the file cannot be read: {error}")
            return
        for kind, entries in content.items():
            if kind not in KINDS:
                self._reject(repr(kind), f"it is an unknown table{suggest(kind, KINDS)}")
            elif not isinstance(entries, list):
                self._reject(repr(kind), f"write it as [[{kind}]]")
            else:
                yield from self._numbered(kind, entries)

    def _numbered(self, kind: str, entries: Sequence[Any]) -> Iterator[_Item]:
        for number, data in enumerate(entries, start=1):
            if isinstance(data, dict):
                yield _Item(kind, number, data)
            else:
                self._reject(f"{kind} {number}", "it is no table")

    def _reject(self, what: str, why: str) -> None:
        self.left_out.append(LeftOut(f"{what} in {self._path}", why, self.remedy))


def _may_hold(item: _Item, model_id: str | None) -> bool:
    if model_id is None:
        return True
    if "prefix" in item.data:
        return model_id.startswith(f"{item.data['prefix']}-")
    return item.data.get("id") == model_id


def _keyless(item: _Item) -> Iterator[str]:
    """Yield what whoever orders from a service would else be the first to notice."""
    if "key_env" in item.data:
        try:
            Site("", item.data["key_env"]).key()
        except EngineError as error:
            yield f"the configured model {item} cannot be used yet: {said(error)}"
