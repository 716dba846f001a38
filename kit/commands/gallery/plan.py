"""Plans the examples of each model.

``examples.toml`` chooses them for known models. Any other model is shown with its defaults, and
then with each choice of each of its settings, kept small by the rules in that file.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from itertools import chain, islice
from typing import Any

from kit import wire

#: The content of ``examples.toml``: examples by model id, and rules for any model.
FAVORITES = tomllib.loads(resources.files(__package__).joinpath("examples.toml").read_text("utf-8"))
RULES: Mapping[str, Any] = FAVORITES.pop("any model")


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A request for the gallery, with a caption, and inputs by the names of `kit.engines.samples`.

    The settings in `shown` are characteristic of it; the others keep it small. With `close`, a part
    of it is shown beside the same part of its input.
    """

    model: wire.Model
    caption: str = ""
    prompt: str | None = None
    shown: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    media: Mapping[str, Sequence[str]] = field(default_factory=dict)
    close: bool = False

    @property
    def title(self) -> str:
        """Its one-line title: the caption and the characteristic settings."""
        settings = " ".join(f"{name}={format_value(value)}" for name, value in self.shown.items())
        return ", ".join(part for part in (self.caption, settings) if part)

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of its input samples, without duplicates."""
        return tuple(dict.fromkeys(chain.from_iterable(self.media.values())))


def format_value(value: Any) -> str:
    """Return a value as typed after ``name=``."""
    if isinstance(value, str):
        return f'"{value}"' if " " in value else value
    return f"{value:g}" if isinstance(value, float) and abs(value) < 1e6 else json.dumps(value)


def plan(models: Iterable[wire.Model]) -> list[Example]:
    """Return the examples of models, model by model; each has at least one."""
    return list(chain.from_iterable(map(_plan_model, models)))


def _plan_model(model: wire.Model) -> Iterator[Example]:
    favorite = FAVORITES.get(model.id, {})
    first = _first_example(model, favorite)
    choices = (
        {"settings": {parameter.name: value}}
        for parameter in model.setting_parameters
        for value in parameter.enum or ()
        if value != parameter.default and parameter.name not in RULES["technical"]
    )
    variants = islice(choices, RULES["most"].get(model.asset_type, RULES["most"]["video"]) - 1)
    yield first
    for variant in favorite.get("variants", ()) if favorite else variants:
        shown = variant.get("settings", {})
        media = {**first.media, **variant.get("media", {})}
        given = {name: tuple(files) for name, files in media.items() if files}
        settings = {**first.settings, **shown}
        yield replace(first, **{**variant, "shown": shown, "settings": settings, "media": given})


def _first_example(model: wire.Model, favorite: Mapping[str, Any]) -> Example:
    settings = favorite.get("settings", {})
    rule = RULES["small_video" if model.asset_type == "video" else "small_image"]
    small = {
        parameter.name: value
        for parameter in model.setting_parameters
        for value in rule.get(parameter.name, ())
        if value in (parameter.enum or [value])
    }
    prompt = favorite.get("prompt") or (RULES["prompt"] if model.prompt_required else None)
    needed = {p.name: _choose_sample(p) for p in model.media_parameters if p.required}
    return Example(
        model=model,
        shown={name: value for name, value in settings.items() if name not in RULES["technical"]},
        prompt=prompt if model.supports_prompt else None,
        settings={**small, **settings},
        media={**needed, **favorite.get("media", {})},
    )


def _choose_sample(parameter: wire.Parameter) -> tuple[str, ...]:
    if parameter.type == "video" and (parameter.max_items or 1) > 1:
        return tuple(RULES["clips"][: parameter.max_items])
    named = f"{parameter.name} {parameter.type}"
    return (
        next((sample for part, sample in RULES["samples"].items() if part in named), "picture"),
    )
