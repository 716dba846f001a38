"""Which engines there are: the entry points of the group ``kit.engines``, and what a file adds.

A plug-in is one line in its own package's metadata; nothing here names it. The entry point's name
is the model's id, so that a render process loads the one engine that it needs. Models that are
configured stand beside them; see `kit.engines.configured`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from kit.engines.base import Engine
from kit.engines.configured.place import Place
from kit.errors import ConfigError

GROUP = "kit.engines"
_BUILT_IN = "kit.engines."
_log = logging.getLogger(__name__)


@cache
def installed(place: Place | None = None) -> Mapping[str, Engine]:
    """Return the installed and the configured engines by model id, in the order of their names.

    A plug-in or a configured model that cannot be loaded is reported and left out; a built-in one
    is an error. Neither loads weights; the models of other services are asked for, briefly.

    Parameters
    ----------
    place : Place, optional
        Where configured models come from; without it there are none.

    Raises
    ------
    ConfigError
        Two engines serve one model, or a built-in engine is broken.
    """
    engines: dict[str, Engine] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        engine = _loaded(point)
        if engine is None:
            continue
        if point.name in engines:
            other = point.value
            raise ConfigError(f"two engines serve the model {point.name!r}; the second is {other}")
        engines[point.name] = engine
    for name, engine in _configured(place).items():
        if name in engines:
            _log.warning("the configured model %r is left out: one of that id is installed", name)
        engines.setdefault(name, engine)
    return dict(sorted(engines.items()))


@cache
def engine_for(model_id: str, place: Place | None = None) -> Engine:
    """Return the engine of a model, loading no other and asking no other service.

    Raises
    ------
    ConfigError
        There is none of that id.
    """
    for point in entry_points(group=GROUP, name=model_id):
        engine = _loaded(point)
        if engine is not None:
            return engine
    configured = _configured(place, only=model_id, refresh=False)
    if model_id in configured:
        return configured[model_id]
    raise ConfigError(f"no engine for the model {model_id!r} is installed here")


def _configured(place: Place | None, **how: Any) -> Mapping[str, Engine]:
    if place is None or not place.file.exists():
        return {}
    # Imported here: most services have no such file.
    from kit.engines.configured.listing import engines

    return engines(place, **how)


def _loaded(point: EntryPoint) -> Engine | None:
    try:
        found = point.load()
        engine = found() if isinstance(found, type) else found
    except Exception as error:
        if point.value.startswith(_BUILT_IN):
            raise ConfigError(f"the built-in engine {point.name!r} is broken: {error}") from error
        _log.warning("the engine %r is left out: %s: %s", point.name, type(error).__name__, error)
        return None
    if not isinstance(engine, Engine):
        _log.warning("the engine %r is left out: %s is no Engine", point.name, point.value)
        return None
    if engine.definition.id != point.name:
        other = engine.definition.id
        _log.warning("the engine %r is left out: its model's id is %r", point.name, other)
        return None
    return engine
