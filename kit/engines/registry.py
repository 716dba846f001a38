"""Which engines there are: the entry points of the group ``kit.engines``, and what a file adds.

A plug-in is one line in its own package's metadata; nothing here names it. The entry point's name
is the model's id, so that a render process loads the one engine that it needs. Models that are
configured stand beside them; see `kit.engines.configured`.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from time import perf_counter

from kit.engines.base import Engine
from kit.engines.configured.entries import said
from kit.engines.configured.place import LeftOut, Listing, ModelSource
from kit.engines.plugins import fatal, is_built_in, left_out, loaded, rank, vetted, whose
from kit.errors import ConfigError

GROUP = "kit.engines"
#: Seconds that an engine may take to load without a word.
_SLOW = 1.0
_log = logging.getLogger(__name__)


def installed(place: ModelSource | None = None) -> Mapping[str, Engine]:
    """Return the installed and the configured engines by model id, in the order of their names.

    Parameters
    ----------
    place : Place, optional
        Where configured models come from; without it there are none.

    Raises
    ------
    ConfigError
        A built-in engine is broken.

    See Also
    --------
    survey : Tells what was left out as well.
    """
    return survey(place).engines


@cache
def survey(place: ModelSource | None = None) -> Listing:
    """Return the engines that there are, and what is wrong with the others.

    A plug-in or a configured model that cannot be served is reported, once, and left out; a
    built-in one is an error. Neither loads weights; the models of other services are asked for,
    briefly.

    Raises
    ------
    ConfigError
        A built-in engine is broken.
    """
    listing = look(place)
    for sentence in (*listing.left_out, *listing.remarks):
        _log.warning("%s", sentence)
    return listing


def look(place: ModelSource | None = None, *, refresh: bool = True) -> Listing:
    """Return what `survey` does, anew and without a word in the log.

    Parameters
    ----------
    refresh : bool
        Whether to ask other services what they offer now; else what they last said is taken.

    Raises
    ------
    ConfigError
        A built-in engine is broken.
    """
    points = sorted(entry_points(group=GROUP), key=rank)
    engines, broken = _plugged(points, _fatal(points))
    listing = _configured(place, refresh=refresh)
    for name, engine in listing.engines.items():
        if name in engines:
            what, why = f"the configured model {name!r}", "an installed engine has this id"
            broken.append(LeftOut(what, why, listing.remedy))
        engines.setdefault(name, engine)
    broken += listing.left_out
    return Listing(dict(sorted(engines.items())), tuple(broken), listing.remarks)


@cache
def engine_for(model_id: str, place: ModelSource | None = None) -> Engine:
    """Return the engine of a model, loading no other, asking no other service, saying nothing.

    Raises
    ------
    ConfigError
        There is none of that id.
    """
    for point in sorted(entry_points(group=GROUP, name=model_id), key=rank):
        engine = _loaded(point)
        if isinstance(engine, Engine):
            return engine
    listing = _configured(place, only=model_id, refresh=False)
    if model_id in listing.engines:
        return listing.engines[model_id]
    raise ConfigError(f"no engine for the model {model_id!r} is installed here")


def _fatal(points: Sequence[EntryPoint]) -> Mapping[tuple[str, str], str]:
    """Return which plug-ins must not be loaded here, and why."""
    ours = {point.name for point in points if is_built_in(point)}
    others = [point for point in points if not is_built_in(point) and point.name not in ours]
    return fatal(others) if others else {}


def _plugged(
    points: Iterable[EntryPoint], fatal: Mapping[tuple[str, str], str]
) -> tuple[dict[str, Engine], list[LeftOut]]:
    engines: dict[str, Engine] = {}
    owners: dict[str, EntryPoint] = {}
    broken = []
    for point in points:
        if point.name in engines:
            owner = owners[point.name]
            other = "a built-in engine" if is_built_in(owner) else whose(owner)
            broken.append(left_out(point, f"{other} has this id"))
            continue
        started = perf_counter()
        why = fatal.get((point.name, point.value))
        engine = left_out(point, why) if why else _loaded(point)
        if isinstance(engine, LeftOut):
            broken.append(engine)
        else:
            _note_slow(point, perf_counter() - started)
            engines[point.name], owners[point.name] = engine, point
    return engines, broken


def _note_slow(point: EntryPoint, seconds: float) -> None:
    """Tell whose module everybody waits for, who only lists models."""
    if seconds > _SLOW and not is_built_in(point):
        sentence = "%s takes %.1f s to load: import what is heavy inside its render"
        _log.warning(sentence, whose(point), seconds)


def _loaded(point: EntryPoint) -> Engine | LeftOut:
    if not is_built_in(point):
        with redirect_stdout(sys.stderr):  # what it says is none of what a command prints
            return vetted(point)
    try:
        return loaded(point)
    except Exception as error:
        why = said(error)
        raise ConfigError(f"the built-in engine {point.name!r} is broken: {why}") from error


def _configured(place: ModelSource | None, *, only: str | None = None, refresh: bool) -> Listing:
    if place is None or not place.file.exists():
        return Listing({})
    # Imported here: most services have no such file.
    from kit.engines.listing import listed

    return listed(place, only=only, refresh=refresh)
