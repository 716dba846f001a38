"""The registry of engines: entry points of the group ``kit.engines``, and models of a file.

A plug-in is one line in its own package's metadata; nothing here names it. The entry point's name
is the model's id, so that a render process loads only the engine that it needs. Configured models
are added to them; see `kit.engines.configured`.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from time import perf_counter

from kit.engines import plugins
from kit.engines.base import Engine
from kit.engines.configured.place import EngineList, LeftOut, ModelSource, describe_error
from kit.errors import ConfigError
from kit.version import __version__

GROUP = "kit.engines"
#: Seconds for loading an engine after which a warning is logged.
_SLOW_SECONDS = 1.0
_log = logging.getLogger(__name__)


def list_engines(source: ModelSource | None = None) -> Mapping[str, Engine]:
    """Return the installed and the configured engines by model id, in order of their names.

    Raises ConfigError if a built-in engine is broken. `survey` also returns what was left out.
    """
    return survey(source).engines


@cache
def survey(source: ModelSource | None = None) -> EngineList:
    """Return the engines and the problems of the others, which are logged once.

    A broken plug-in or configured model is left out; a broken built-in engine is an error. No
    weights are loaded; the models of other services are requested with a short time limit.
    """
    listing = read_listing(source)
    for sentence in (*listing.left_out, *listing.notices):
        _log.warning("%s", sentence)
    return listing


def read_listing(
    source: ModelSource | None = None, *, refresh: bool = True, seconds: float = plugins.TIMEOUT
) -> EngineList:
    """Return the result of `survey` without cache and without logging.

    Without `refresh`, cached models of other services are used. `seconds` limits plug-ins.
    """
    points = sorted(entry_points(group=GROUP), key=plugins.rank)
    engines, left_out = _load_all(points, seconds)
    listing = _list_configured(source, None, refresh=refresh)
    for name, engine in listing.engines.items():
        if source and name in engines:
            subject, reason = f"the configured model {name!r}", "an installed engine has this id"
            left_out.append(LeftOut(subject, reason, f"correct {source.file}"))
        engines.setdefault(name, engine)
    left_out += listing.left_out
    return EngineList(dict(sorted(engines.items())), tuple(left_out), listing.notices)


@cache
def engine_for(model_id: str, source: ModelSource | None = None) -> Engine:
    """Return the engine of a model, without loading others, network access or logging."""
    for point in _find_points(model_id):
        engine = load_any(point)
        if isinstance(engine, Engine):
            return engine
    listing = _list_configured(source, model_id, refresh=False)
    if model_id in listing.engines:
        return listing.engines[model_id]
    raise ConfigError(f"no engine for the model {model_id!r} is installed here")


@cache
def software_of(model_id: str) -> str:
    """Return the package of a model's engine, with its version."""
    point = next(iter(_find_points(model_id)), None)
    if point is None or point.dist is None or plugins.is_built_in(point):
        return f"creative-studio-kit {__version__}"
    return f"{point.dist.name} {point.dist.version}"


@cache
def _find_points(model_id: str) -> list[EntryPoint]:
    return sorted(entry_points(group=GROUP, name=model_id), key=plugins.rank)


def load_any(point: EntryPoint) -> Engine | LeftOut:
    """Return the engine of an entry point, or why it is left out; a built-in one must work."""
    if not plugins.is_built_in(point):
        with redirect_stdout(sys.stderr):  # its prints do not belong to a command's output
            return plugins.load_plugin(point)
    try:
        return plugins.load(point)
    except Exception as error:
        reason = describe_error(error)
        raise ConfigError(f"the built-in engine {point.name!r} is broken: {reason}") from error


def _load_all(
    points: Iterable[EntryPoint], seconds: float
) -> tuple[dict[str, Engine], list[LeftOut]]:
    """Load the first entry point of each id, unless it would end the process."""
    owners: dict[str, EntryPoint] = {}
    for point in points:
        owners.setdefault(point.name, point)
    plug_ins = tuple(p for p in points if not plugins.is_built_in(owners[p.name]))
    fatal = plugins.find_fatal(plug_ins, seconds)
    engines: dict[str, Engine] = {}
    left_out = []
    owners.clear()
    for point in points:
        if owner := owners.get(point.name):
            other = "a built-in engine" if plugins.is_built_in(owner) else plugins.describe(owner)
            left_out.append(plugins.leave_out(point, f"{other} has this id"))
            continue
        started = perf_counter()
        reason = fatal.get(point)
        engine = plugins.leave_out(point, reason) if reason else load_any(point)
        if isinstance(engine, LeftOut):
            left_out.append(engine)
            continue
        owners[point.name], engines[point.name] = point, engine
        if (elapsed := perf_counter() - started) > _SLOW_SECONDS and not plugins.is_built_in(point):
            sentence = "%s takes %.1f s to load: move heavy imports into its render"
            _log.warning(sentence, plugins.describe(point), elapsed)
    return engines, left_out


def _list_configured(source: ModelSource | None, only: str | None, *, refresh: bool) -> EngineList:
    if source is None or not source.file.exists():
        return EngineList({})
    # Imported here: most services have no such file.
    from kit.engines.listing import list_configured

    return list_configured(source, only=only, refresh=refresh)
