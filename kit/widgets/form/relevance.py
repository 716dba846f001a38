"""Relevance: which fields of a form stand back, and which appear with what they depend on."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any

from kit.widgets.form.fields import Field
from kit.wire import Parameter


def is_advanced(parameter: Parameter) -> bool:
    """Return whether a setting is needed rarely.

    Examples
    --------
    >>> is_advanced(Parameter(name="seed", type="integer")), is_advanced(Parameter(name="size"))
    (True, False)
    """
    return not parameter.required and parameter.name in _known()["advanced"]


def is_relevant(field: Field, fields: Mapping[str, Field]) -> bool:
    """Return whether what else a form holds gives a field a meaning; one that was set has one."""
    if field.is_set():
        return True
    needed: Mapping[str, list[Any]] = _known()["depends"].get(field.parameter.name, {})
    return all(_is_chosen(name, values, fields) for name, values in needed.items())


def _is_chosen(name: str, values: list[Any], fields: Mapping[str, Field]) -> bool:
    other = fields.get(f"parameters.{name}") or fields.get(f"mediaUploads.{name}")
    if other is None:
        return True
    if not values:
        return other.is_set()
    if not set(values) <= set(other.parameter.enum or ()):
        return True  # a setting of that name, of another meaning
    return other.current(other.default) in values


@functools.cache
def _known() -> dict[str, Any]:
    file = resources.files(__package__).joinpath("relevance.toml")
    return tomllib.loads(file.read_text("utf-8"))
