"""Which examples are made of which model: one that shows it, then one for each telling setting.

The rules here work for any model, by the names and kinds of its parameters; ``examples.toml`` only
chooses words, inputs and favorites for those that are known.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from itertools import chain, islice, zip_longest
from typing import Any

from kit import wire

__all__ = ["MOST", "Example", "favorites", "format_value", "plan"]

#: Examples of one model, by what it makes.
MOST = {"image": 12, "video": 5}
#: Settings that change a file rather than what is seen.
_TECHNICAL = frozenset(
    {
        *("format", "fps", "resolution", "quality", "size", "detail", "seed", "sound"),
        *("scale", "font", "position"),
    }
)
#: Settings that say most about a model; others follow in the order of its form.
_TELLING = ("operation", "family", "land", "style", "stylize", "look", "technique", "transition")
_RANK = {"aspect_ratio": len(_TELLING) + 1, **{name: at for at, name in enumerate(_TELLING)}}
#: Words of a setting that do nothing by themselves.
_IDLE = frozenset({"auto", "none", "keep", "still"})
#: Settings that keep an example of a video small and short, as far as a model has them.
_SMALL: Mapping[str, Any] = {
    "resolution": ("360p", "480p"),
    "quality": ("small",),
    "duration": 3,
}
_SEED = 7
_PROMPT = "a mountain lake at dawn with mist over the water"
#: Part of a medium's name, or its kind -> the sample that fills it; the first that fits.
_FILLS = (
    *(("portrait", "portrait"), ("face", "portrait"), ("mask", "mask"), ("music", "music")),
    *(("soundtrack", "music"), ("image", "picture"), ("video", "clip"), ("audio", "voice")),
)
_CLIPS = ("clip", "clip-1", "clip-2")
_VISUAL = frozenset({"image", "video"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One thing to make.

    Parameters
    ----------
    caption : str
        What is special about it beside its settings; often empty.
    shown : mapping of str to any
        The settings that make it what it is; empty where everything is as the model has it.
    settings : mapping of str to any
        All that are asked for, with those that only keep it small and its runs alike.
    media : mapping of str to sequence of str
        Names of samples by parameter name; see `kit.engines.samples`.
    close : bool
        Show a part of the result closely, beside the same part of the picture it was made from.
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
        """What it is called in a line: its caption and its settings."""
        settings = " ".join(f"{name}={format_value(value)}" for name, value in self.shown.items())
        return ", ".join(part for part in (self.caption, settings) if part)


def format_value(value: Any) -> str:
    """Return a value as it is typed behind ``name=``.

    Examples
    --------
    >>> format_value(True), format_value(0.5), format_value("navy to black")
    ('true', '0.5', '"navy to black"')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return f'"{text}"' if " " in text else text


@cache
def favorites() -> Mapping[str, Any]:
    """Return what ``examples.toml`` says: ``models`` by id, ``prompts`` by setting and value."""
    file = resources.files(__package__).joinpath("examples.toml")
    return tomllib.loads(file.read_text("utf-8"))


def plan(models: Iterable[wire.Model]) -> list[Example]:
    """Return the examples of some models, model by model.

    Each model has at least one, and those without favorites at most as many as `MOST` says. One
    setting changes at a time, beside what it needs to be seen.
    """
    return list(chain.from_iterable(map(_plan_model, models)))


def _plan_model(model: wire.Model) -> Iterator[Example]:
    known = favorites()["models"].get(model.id, {})
    base = _first_example(model, known)
    variants = known.get("variants", ())
    covered = {name for variant in variants for name in variant.get("settings", ())}
    choices = [_vary_setting(base, parameter) for parameter in _rank_settings(model, covered)]
    if model.asset_type == "video":  # one of each setting, then the second of each, and so on
        rounds = chain.from_iterable(zip_longest(*choices))
        others: Iterable[Example] = (example for example in rounds if example is not None)
    else:
        others = chain(*choices)
    most = known.get("most") or MOST.get(model.asset_type, min(MOST.values()))
    return islice(chain([base], (_vary(base, **v) for v in variants), others), most)


def _first_example(model: wire.Model, known: Mapping[str, Any]) -> Example:
    prompt = known.get("prompt") or (_PROMPT if model.prompt_required else None)
    settings = known.get("settings", {})
    small: dict[str, Any] = {}
    for parameter in model.setting_parameters:
        wish = {**_SMALL, "seed": _SEED}.get(parameter.name)
        if isinstance(wish, tuple):
            wish = next((value for value in wish if value in (parameter.enum or ())), None)
        if wish is not None and (model.asset_type == "video" or parameter.name == "seed"):
            small[parameter.name] = wish
    return Example(
        model=model,
        shown={n: v for n, v in settings.items() if n not in _TECHNICAL} or settings,
        prompt=prompt if model.supports_prompt else None,
        settings={**small, **settings},
        media={**_fill_media(model), **known.get("media", {})},
    )


def _fill_media(model: wire.Model) -> dict[str, tuple[str, ...]]:
    """Return the samples for what a model must have, or for the first of several alternatives."""
    needed = [p for p in model.media_parameters if p.required]
    # What makes pictures from words is shown doing that, whatever else it can take.
    if not model.prompt_required and not any(p.type in _VISUAL for p in needed):
        alternatives = [p for p in model.media_parameters if p.type in _VISUAL]
        needed += alternatives[:1] if len(alternatives) > 1 else []
    return {parameter.name: _choose_sample(parameter) for parameter in needed}


def _choose_sample(parameter: wire.Parameter) -> tuple[str, ...]:
    if parameter.type == "video" and (parameter.max_items or 1) > 1:
        return _CLIPS[: parameter.max_items]
    named = f"{parameter.name} {parameter.type}"
    return (next((sample for part, sample in _FILLS if part in named), "picture"),)


def _rank_settings(model: wire.Model, covered: Iterable[str]) -> list[wire.Parameter]:
    """Return the settings with fixed values that are worth showing, the most telling first."""
    chosen = [p for p in model.setting_parameters if p.enum and p.name not in covered]
    telling = [p for p in chosen if p.name not in _TECHNICAL]
    found = telling or covered
    return sorted(telling if found else chosen, key=lambda p: _RANK.get(p.name, len(_TELLING)))


def _vary_setting(base: Example, parameter: wire.Parameter) -> Iterator[Example]:
    default = base.settings.get(parameter.name, parameter.default)
    values = [v for v in parameter.enum or () if v != default and v not in _IDLE]
    prompts = favorites()["prompts"].get(parameter.name, {})
    for value in values[:2] if parameter.name == "aspect_ratio" else values:
        yield _vary(base, {parameter.name: value}, prompt=prompts.get(value))


def _vary(
    base: Example,
    settings: Mapping[str, Any] | None = None,
    *,
    prompt: str | None = None,
    media: Mapping[str, Sequence[str]] | None = None,
    caption: str = "",
    close: bool = False,
) -> Example:
    files = {**base.media, **(media or {})}
    return Example(
        model=base.model,
        caption=caption,
        prompt=prompt if prompt and base.model.supports_prompt else base.prompt,
        shown=settings or {},
        settings={**base.settings, **(settings or {})},
        media={name: tuple(given) for name, given in files.items() if given},
        close=close,
    )
