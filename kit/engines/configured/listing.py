"""The file of configured models, read: each entry becomes engines, or a warning.

Listing loads no weights. It asks the network only for the models of other services, and only where
`refresh` says so; a render process is content with the copy that was kept then.
"""

from __future__ import annotations

import logging
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kit.engines.base import Engine
from kit.engines.configured.place import Place
from kit.engines.diffusers.engine import engines as pipelines
from kit.engines.remote.images import engines as images
from kit.engines.remote.services import engines as services
from kit.engines.remote.videos import engines as videos
from kit.errors import ConfigError
from kit.parameters import suggest

_log = logging.getLogger(__name__)
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


def engines(place: Place, *, only: str | None = None, refresh: bool = True) -> dict[str, Engine]:
    """Return the configured engines by model id, in the order of the file.

    Parameters
    ----------
    only : str, optional
        A model's id: entries that cannot hold it are not looked at.
    refresh : bool
        Whether to ask other services what they offer now.

    Notes
    -----
    What is broken is logged and left out.
    """
    items = [item for item in _items(place.file) if _may_hold(item, only)]
    if not items:
        return {}

    def made(item: _Item) -> Sequence[Engine]:
        return _made(item, place.copies, refresh)

    found: dict[str, Engine] = {}
    with ThreadPoolExecutor(_TOGETHER) as pool:
        for item, group in zip(items, pool.map(made, items), strict=True):
            for engine in group:
                if found.setdefault(engine.definition.id, engine) is not engine:
                    _left_out(item, f"the model {engine.definition.id!r} is there already")
    return found


def _items(file: Path) -> Iterator[_Item]:
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        _log.error("no configured model is served: %s cannot be read: %s", file, error)
        return
    for kind, entries in content.items():
        if kind not in KINDS:
            _log.warning("%s: unknown table %r is left out%s", file, kind, suggest(kind, KINDS))
        elif not isinstance(entries, list):
            _log.warning("%s: %r is left out: write it as [[%s]]", file, kind, kind)
        else:
            yield from _numbered(kind, entries)


def _numbered(kind: str, entries: Sequence[Any]) -> Iterator[_Item]:
    for number, data in enumerate(entries, start=1):
        if isinstance(data, dict):
            yield _Item(kind, number, data)
        else:
            _log.warning("%s %d is left out: it is no table", kind, number)


def _may_hold(item: _Item, model_id: str | None) -> bool:
    if model_id is None:
        return True
    if "prefix" in item.data:
        return model_id.startswith(f"{item.data['prefix']}-")
    return item.data.get("id") == model_id


def _made(item: _Item, copies: Path, refresh: bool) -> Sequence[Engine]:
    try:
        return KINDS[item.kind](item.data, copies, refresh)
    except ConfigError as error:
        _left_out(item, str(error))
    except Exception as error:  # noqa: BLE001 - one entry must not take the others with it
        _left_out(item, f"{type(error).__name__}: {error}")
    return ()


def _left_out(item: _Item, why: str) -> None:
    _log.warning("the configured model %s is left out: %s", item, why)
