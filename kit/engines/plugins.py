"""Plug-ins: engines of other packages, checked before the service relies on them.

Their code may fail in any way, at any access. A failure becomes a sentence for the operator of the
service; no plug-in prevents other engines from being offered. They are first loaded in a separate
process: some end it, and some never return.
"""

from __future__ import annotations

import inspect
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import Distribution, EntryPoint
from typing import Any

from kit.engines.base import Asset, Definition, Engine, Job, Order, Problem, Progress
from kit.engines.configured.inputs import check_definition
from kit.engines.configured.place import ID, LeftOut, describe_error
from kit.errors import ConfigError
from kit.wire import Model, Parameter, Rule

#: The package of the built-in engines, and their module prefix.
_OWN_NAME, _OWN_MODULES = "creative-studio-kit", "kit.engines."
_TYPES: Mapping[str, tuple[Any, str]] = {
    "title": (str, "a text"),
    "description": (str, "a text"),
    "pricing": (Rule | None, "a Rule"),
    "media": (Sequence, "a list"),
    "settings": (Sequence, "a list"),
}
_SETTING_TYPES = ("string", "integer", "number", "boolean")
_MEDIA_TYPES = ("image", "video", "audio")
_REFUSED = (inspect.iscoroutinefunction, inspect.isasyncgenfunction, inspect.isgeneratorfunction)
#: Time limit for loading in seconds; the start of a service may be delayed by this.
TIMEOUT = 30.0
#: Exit code of a process that has loaded all plug-ins.
_LOADED_CODE = 93
_SCRIPT = (
    "import sys; sys.path[:] = {path!r}; from kit.engines import plugins;"
    " plugins.load_and_exit({points!r})"
)


def is_built_in(point: EntryPoint) -> bool:
    """Whether an entry point is one of the kit's own, and not only named like one."""
    ours = point.dist is None or re.sub("[-_.]+", "-", _package(point.dist)).lower() == _OWN_NAME
    return ours and point.value.startswith(_OWN_MODULES)


def rank(point: EntryPoint) -> tuple[str, bool, str, str]:
    """Return the sort key of an entry point: the first one with an id is offered."""
    return point.name, not is_built_in(point), _package(point.dist), point.value


def describe(point: EntryPoint) -> str:
    """Return the name of an entry point's engine with its package."""
    package = _package(point.dist)
    named = f"the package {package!r}" if package else "a package without a name"
    return f"the engine {point.name!r} of {named} ({point.value})"


@cache
def _package(package: Distribution | None) -> str:
    try:
        return str(package.metadata["Name"] or "") if package else ""
    except Exception:  # noqa: BLE001 - metadata may be broken, too
        return ""


def leave_out(point: EntryPoint, reason: str) -> LeftOut:
    """Return the report about a plug-in that is not offered."""
    return LeftOut(describe(point), reason, "update or uninstall that package")


def load(point: EntryPoint) -> Engine:
    """Return the engine of an entry point; its code may raise anything."""
    found = point.load()
    engine = found() if isinstance(found, type) else found
    if not isinstance(engine, Engine):
        raise ConfigError(f"{point.value} is not an Engine")
    return engine


def load_plugin(point: EntryPoint) -> Engine | LeftOut:
    """Return the engine of a plug-in if the service can offer it, or the reason if not."""
    try:
        return _check_engine(load(point), point.name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a plug-in may even raise SystemExit
        return leave_out(point, describe_error(error))


class PinnedEngine(Engine):
    """An engine with a computed definition, fixed to its value at the time of the check."""

    def __init__(self, engine: Engine, **facts: Any) -> None:
        self._engine = engine
        vars(self).update(facts)

    def check(self, order: Order) -> Iterable[Problem]:
        """Yield the problems that the engine reports."""
        return self._engine.check(order)

    def render(self, job: Job, progress: Progress) -> Asset:
        """Render with the engine."""
        return self._engine.render(job, progress)


def _check_engine(engine: Engine, name: str) -> Engine:
    facts: dict[str, Any] = {
        "definition": getattr(engine, "definition", None),
        "resident": engine.resident,
        "environment": engine.environment,
        "trained": engine.trained,
    }
    definition, resident, environment, _ = facts.values()
    if not isinstance(definition, Definition):
        if definition is None:
            raise ConfigError("it has no definition")
        kind = type(definition).__name__
        raise ConfigError(f"its definition is not a Definition, but of type {kind!r}")
    if definition.id != name:
        raise ConfigError(
            f"its model's id is {definition.id!r}; the entry point must have the same name"
        )
    if not re.fullmatch(ID, name):
        raise ConfigError("a model's id has small letters, digits, dots and dashes only")
    _check_render(engine)
    if not isinstance(resident, bool):
        raise ConfigError("its 'resident' must be True or False")
    if not isinstance(environment, (tuple, list)) or not all(
        isinstance(name, str) and name and {"=", "\0"}.isdisjoint(name) for name in environment
    ):
        raise ConfigError("its 'environment' must be a tuple of names of variables")
    _check_types(definition)
    check_definition(definition, ("prompt",), "say supports_prompt instead")
    # A value that JSON cannot represent would break the list of all models.
    Model(id=name, setting_parameters=list(definition.settings)).model_dump_json()
    is_plain = all(inspect.getattr_static(engine, name, None) is facts[name] for name in facts)
    return engine if is_plain else PinnedEngine(engine, **facts)


def _check_render(engine: Engine) -> None:
    """Refuse a method that would fail for every job, after the charge."""
    render = engine.render
    if any(is_kind(render) for is_kind in _REFUSED):
        raise ConfigError("its render is not plain: write 'def', return an Asset, no 'yield'")
    try:
        inspect.signature(render).bind(None, None)
    except TypeError:
        raise ConfigError("its render cannot be called as render(job, progress)") from None


def _check_types(definition: Definition) -> None:
    """Refuse wrong types, which the API's models accept for the sake of other services."""
    for name, (kind, words) in _TYPES.items():
        if not isinstance(getattr(definition, name), kind):
            raise ConfigError(f"its {name} is not {words}")
    if definition.pricing and not definition.pricing.model_fields_set:
        raise ConfigError("its pricing is an empty Rule; a model without a price has Rule(base=0)")
    for media, inputs in ((True, definition.media), (False, definition.settings)):
        for parameter in inputs:
            if not isinstance(parameter, Parameter):
                raise ConfigError(f"it has a parameter that is not a Parameter, but {parameter!r}")
            if problem := _find_problem(parameter, media):
                raise ConfigError(f"its parameter {parameter.name!r} {problem}")


def _find_problem(parameter: Parameter, media: bool) -> str:
    known = _MEDIA_TYPES if media else _SETTING_TYPES
    if not parameter.name.isidentifier():
        return "cannot be typed as a name: use letters, digits and underscores"
    if parameter.media != media:
        return "is not marked media=True" if media else "is a medium, but is in the settings"
    if parameter.type not in known:
        return f"has the type {parameter.type!r}, which is none of {', '.join(known)}"
    return ""


@cache
def find_fatal(
    points: tuple[EntryPoint, ...], seconds: float = TIMEOUT
) -> Mapping[EntryPoint, str]:
    """Return the entry points that end a process when loaded, and how.

    First all are loaded in one process; only if it fails, each in its own.
    """
    if not points or not _try_loading(points, seconds):
        return {}
    return {point: reason for point in points if (reason := _try_loading((point,), seconds))}


def load_and_exit(points: Sequence[tuple[str, str]]) -> None:
    """Load plug-ins, given by name and value, in this process; then end it."""
    for name, value in points:
        with suppress(BaseException):
            load(EntryPoint(name, value, "kit.engines"))
    os._exit(_LOADED_CODE)  # without waiting for threads or exit hooks of plug-ins


def _try_loading(points: Sequence[EntryPoint], seconds: float) -> str:
    """Return why a process that loads plug-ins fails; empty if it does not."""
    script = _SCRIPT.format(path=sys.path, points=[(p.name, p.value) for p in points])
    streams: dict[str, Any] = dict.fromkeys(
        ("stdin", "stdout", "stderr"), subprocess.DEVNULL
    )  # plug-ins may print
    command = [sys.executable, "-c", script]
    try:
        # Repeated after a signal, which may have another cause.
        for _ in range(2):
            code = subprocess.run(command, timeout=seconds, check=False, **streams).returncode  # noqa: S603
            if code >= 0:
                break
    except subprocess.TimeoutExpired:
        return f"it is not loaded within {seconds:g} s: move heavy imports into its render"
    except OSError:  # no process can be started, which is not the plug-ins' fault
        return ""
    end = f"exit code {code}"
    with suppress(ValueError):
        end = signal.Signals(-code).name
    return "" if code == _LOADED_CODE else f"it ends the process that loads it ({end})"
