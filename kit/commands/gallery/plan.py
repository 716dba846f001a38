"""Which examples are made of which model: one that shows it, then one for each telling setting.

The rules here work for any model, by the names and kinds of its parameters; `kit.commands.gallery.
taste` only chooses words, inputs and favorites for those that are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest
from typing import Any

from kit import wire
from kit.commands.gallery.taste import NONE, TASTES, WORDS, Variant

__all__ = ["MOST", "Example", "format_value", "plan"]

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
#: Settings of which so many values tell all.
_FEW = {"aspect_ratio": 2}
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
    ("portrait", "portrait"),
    ("face", "portrait"),
    ("mask", "mask"),
    ("music", "music"),
    ("soundtrack", "music"),
    ("image", "picture"),
    ("video", "clip"),
    ("audio", "voice"),
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
    told : mapping of str to any
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
    told: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    media: Mapping[str, Sequence[str]] = field(default_factory=dict)
    close: bool = False

    @property
    def title(self) -> str:
        """What it is called in a line: its caption and its settings."""
        settings = " ".join(f"{name}={format_value(value)}" for name, value in self.told.items())
        return ", ".join(part for part in (self.caption, settings) if part)


def format_value(value: Any) -> str:
    """Return a value as it is typed behind ``name=``.

    Examples
    --------
    >>> typed(True), typed(0.5), typed("navy to black")
    ('true', '0.5', '"navy to black"')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return f'"{text}"' if " " in text else text


def plan(models: Iterable[wire.Model]) -> list[Example]:
    """Return the examples of some models, model by model.

    Each model has at least one, and those that no taste is known for at most as many as `MOST`
    says. One setting changes at a time, beside what it needs to be seen.
    """
    return list(chain.from_iterable(map(_of, models)))


def _of(model: wire.Model) -> Iterator[Example]:
    base = _base(model)
    taste = TASTES.get(model.id, NONE)
    favorites = [_varied(base, variant) for variant in taste.variants]
    covered = {name for variant in taste.variants for name in variant.settings}
    choices = [_choices(base, p) for p in _ranked(model, covered)]
    found = chain(favorites, _dealt(choices) if model.asset_type == "video" else chain(*choices))
    most = MOST.get(model.asset_type, min(MOST.values()))
    return islice(chain([base], found), taste.most or most)


def _base(model: wire.Model) -> Example:
    taste = TASTES.get(model.id, NONE)
    prompt = taste.prompt or (_PROMPT if model.prompt_required else None)
    return Example(
        model=model,
        told=_telling(taste.settings),
        prompt=prompt if model.supports_prompt else None,
        settings={**_modest(model), **taste.settings},
        media={**_filled(model), **taste.media},
    )


def _modest(model: wire.Model) -> dict[str, Any]:
    """Return the settings that make every run of an example alike, and a video's small."""
    found: dict[str, Any] = {}
    for parameter in model.setting_parameters:
        wish = {**_SMALL, "seed": _SEED}.get(parameter.name)
        if isinstance(wish, tuple):
            wish = next((value for value in wish if value in (parameter.enum or ())), None)
        if wish is not None and (model.asset_type == "video" or parameter.name == "seed"):
            found[parameter.name] = wish
    return found


def _filled(model: wire.Model) -> dict[str, tuple[str, ...]]:
    """Return the samples for what a model must have, or for the first of several alternatives."""
    needed = [p for p in model.media_parameters if p.required]
    # What makes pictures from words is shown doing that, whatever else it can take.
    if not model.prompt_required and not any(p.type in _VISUAL for p in needed):
        alternatives = [p for p in model.media_parameters if p.type in _VISUAL]
        needed += alternatives[:1] if len(alternatives) > 1 else []
    return {parameter.name: _sample(parameter) for parameter in needed}


def _sample(parameter: wire.Parameter) -> tuple[str, ...]:
    if parameter.type == "video" and (parameter.max_items or 1) > 1:
        return _CLIPS[: parameter.max_items]
    named = f"{parameter.name} {parameter.type}"
    return (next((sample for part, sample in _FILLS if part in named), "picture"),)


def _ranked(model: wire.Model, covered: Iterable[str]) -> list[wire.Parameter]:
    """Return the settings with fixed values that are worth showing, the most telling first."""
    chosen = [p for p in model.setting_parameters if p.enum and p.name not in covered]
    telling = [p for p in chosen if p.name not in _TECHNICAL]
    rank = {name: place for place, name in enumerate(_TELLING)}
    nothing_else = not telling and not covered
    last = {"aspect_ratio": len(rank) + 1}
    order = {**rank, **last}
    return sorted(chosen if nothing_else else telling, key=lambda p: order.get(p.name, len(rank)))


def _choices(base: Example, parameter: wire.Parameter) -> Iterator[Example]:
    shown = base.settings.get(parameter.name, parameter.default)
    values = [v for v in parameter.enum or () if v != shown and v not in _IDLE]
    for value in values[: _FEW.get(parameter.name)]:
        words = WORDS.get((parameter.name, value))
        yield _varied(base, Variant({parameter.name: value}, prompt=words))


def _dealt(choices: Sequence[Iterator[Example]]) -> Iterator[Example]:
    """Yield one example of each setting, then the second of each, and so on."""
    rounds = zip_longest(*choices)
    return (example for dealt in rounds for example in dealt if example is not None)


def _varied(base: Example, variant: Variant) -> Example:
    prompt = variant.prompt if variant.prompt and base.model.supports_prompt else base.prompt
    return Example(
        model=base.model,
        caption=variant.caption,
        prompt=prompt,
        told=variant.settings,
        settings={**base.settings, **variant.settings},
        media={name: files for name, files in ({**base.media, **variant.media}).items() if files},
        close=variant.close,
    )


def _telling(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in settings.items() if name not in _TECHNICAL} or settings
