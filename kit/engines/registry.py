"""Which engines there are: the entry points of the group ``kit.engines``, built-in ones included.

A plug-in is one line in its own package's metadata; nothing here names it. The entry point's name
is the model's id, so that a render process loads the one engine that it needs.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from kit.engines.base import Engine
from kit.errors import ConfigError

GROUP = "kit.engines"
_BUILT_IN = "kit.engines."
_log = logging.getLogger(__name__)


@cache
def installed() -> Mapping[str, Engine]:
    """Return the installed engines by model id, in the order of their names.

    A plug-in that cannot be loaded is reported and left out; a built-in one is an error.

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
    return engines


@cache
def engine_for(model_id: str) -> Engine:
    """Return the engine of a model, loading no other."""
    for point in entry_points(group=GROUP, name=model_id):
        engine = _loaded(point)
        if engine is not None:
            return engine
    raise ConfigError(f"no engine for the model {model_id!r} is installed here")


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
