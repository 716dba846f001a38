"""A request, and what is known of its price before anybody is asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from kit import pricing, wire
from kit.client.actions import Flow
from kit.errors import ConfigError, ParameterError
from kit.parameters import Request
from kit.studio.matching import normalize_numbers


def body_of(
    request: Request, references: Mapping[str, str | list[str]] = MappingProxyType({})
) -> wire.StartGeneration:
    """Return the body of a start, with the ids of what was uploaded."""
    return wire.StartGeneration(
        model_id=request.model.id,
        prompt=request.prompt,
        parameters=dict(request.parameters),
        media_uploads=dict(references),
    )


def digests_of(request: Request) -> tuple[str, ...]:
    """Return a hash that equal requests share: of model, prompt, parameters and files.

    A number is the same however it is written: 7 is 7.0. A second hash is that of journals of
    before, where it differs.
    """
    media = {name: [f.sha256() for f in files] for name, files in request.media.items()}
    found = dict[str, None]()
    for parameters in (normalize_numbers(request.complete), request.complete):
        facts = [request.model.id, request.prompt, parameters, media]
        text = json.dumps(facts, sort_keys=True, default=str)
        found[hashlib.sha256(text.encode()).hexdigest()] = None
    return tuple(found)


def separate_media(
    model: wire.Model, media: Any, given: Mapping[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Return the files and the settings of a request; files may stand among the settings by name.

    Raises
    ------
    ParameterError
        Files are given both ways.
    """
    named = {p.name: given[p.name] for p in model.media_parameters if p.name in given}
    rest = {name: value for name, value in given.items() if name not in named}
    named = {name: value for name, value in named.items() if value is not None}
    if not named or media is None:
        return named or media, rest
    if not isinstance(media, Mapping) or named.keys() & media.keys():
        names = ", ".join(map(repr, named))
        raise ParameterError(f"given in media and by itself: {names}; say media={{name: file}}")
    return {**media, **named}, rest


def price_by_rule(request: Request) -> wire.Quote | None:
    """Return the price by the model's rule, or None where it has none.

    Raises
    ------
    ConfigError
        The price depends on the length of a file, and nothing installed can tell it.
    """
    rule = request.model.pricing
    if rule is None:
        return None
    found = media_lengths(request, {unit.medium for unit in rule.units if unit.medium})
    for name, files in found.items():
        if any(seconds is None for _, seconds in files):
            raise ConfigError(
                f"the price of {request.model.id!r} depends on the length of {name}, which cannot "
                "be told here"
            )
    media = {
        name: [pricing.Medium(kind, seconds) for kind, seconds in files if seconds is not None]
        for name, files in found.items()
    }
    return pricing.price(rule, request.complete, media)


def media_lengths(
    request: Request, names: Iterable[str]
) -> dict[str, list[tuple[str, Fraction | None]]]:
    """Return kind and seconds of the files of some media parameters.

    Seconds are whole milliseconds, rounded the way the service records them: a price depends on
    what is recorded.
    """
    return {
        name: [(file.kind, _recorded(file.seconds())) for file in request.media.get(name, ())]
        for name in names
    }


def default_quote(request: Request) -> wire.Quote:
    """Return the price of a request with every default, the last resort without a rule."""
    model = request.model
    if model.credits_at_defaults is None:
        raise ConfigError(f"the service does not say what the model {model.id!r} costs")
    return wire.Quote(total=model.credits_at_defaults, source="default")


def _recorded(seconds: Fraction | None) -> Fraction | None:
    return None if seconds is None else Fraction(round(round(float(seconds), 3) * 1000), 1000)


def merge_parameters(
    parameters: Mapping[str, Any] | None, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the settings that were given as a mapping and those given as keywords, together.

    Raises
    ------
    ParameterError
        A name is given both ways, or there is no mapping.

    Examples
    --------
    >>> merged({"model": "v2"}, {"steps": 20})
    {'model': 'v2', 'steps': 20}
    """
    if parameters is None:
        return dict(settings)
    if not isinstance(parameters, Mapping):
        raise ParameterError(
            "parameters is a mapping of names to values, such as {'steps': 20}, not a "
            f"{type(parameters).__name__}"
        )
    if twice := parameters.keys() & settings.keys():
        names = ", ".join(map(repr, sorted(map(str, twice))))
        raise ParameterError(f"given twice, in parameters and by itself: {names}")
    return {**parameters, **settings}


def resolve_media(media: Any) -> Flow[Any]:
    """Return input files with the kept file in the place of each generation and each output.

    One that is not here yet is fetched.
    """
    if isinstance(media, Mapping):
        named = {}
        for name, value in media.items():
            named[name] = yield from resolve_media(value)
        return named
    if isinstance(media, (list, tuple)):
        several = []
        for value in media:
            several.append((yield from resolve_media(value)))
        return several
    return (yield from media._kit_file()) if hasattr(media, "_kit_file") else media
