"""What shows the known models at their best: words, inputs, and examples worth a place.

Models that are not named here get what the rules of `kit.commands.gallery.plan` give them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["NONE", "TASTES", "WORDS", "Taste", "Variant"]


@dataclass(frozen=True, slots=True)
class Variant:
    """How an example differs from a model's first one.

    Parameters
    ----------
    prompt, media : str, mapping of str to sequence of str
        In place of the first example's; media are names of samples.
    caption : str
        What is said of it; the settings themselves when empty.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    prompt: str | None = None
    media: Mapping[str, Sequence[str]] = field(default_factory=dict)
    caption: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taste:
    """A model's first example, and others that come before those of the rules.

    Parameters
    ----------
    most : int or None
        Examples of this model in all; None for as many as its kind may have.
    """

    prompt: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    media: Mapping[str, Sequence[str]] = field(default_factory=dict)
    variants: Sequence[Variant] = ()
    most: int | None = None


NONE = Taste()

#: Setting and value -> words that suit it.
WORDS: Mapping[tuple[str, Any], str] = {
    ("family", "lake"): "a mountain lake at dawn, mist over the water",
    ("family", "desert"): "golden dunes and mesas in the late afternoon",
    ("family", "forest"): "sun rays in a misty autumn forest",
    ("family", "sea"): "a stormy sea with cliffs at sunset",
    ("family", "city"): "a rainy street at night, neon signs",
    ("family", "space"): "a ringed planet before a teal nebula",
    ("family", "liquid"): "blue and gold ink marbled with gilded veins",
    ("family", "flow"): "flowing lines in coral and teal",
    ("family", "poster"): "layered hills at dusk, a crescent moon",
    ("land", "alps"): "over snowy alps at sunrise",
    ("land", "hills"): "over green hills on a spring morning",
    ("land", "forest"): "over an autumn forest in low mist",
    ("land", "islands"): "over tropical islands at noon",
    ("land", "desert"): "over golden dunes in the late afternoon",
    ("land", "canyon"): "through a red canyon at sunset",
}

_SUBJECT = {"image": ("portrait",)}
_WINTER = Variant(prompt="a snowy mountain lake on a winter night, aurora", caption="winter night")

TASTES: Mapping[str, Taste] = {
    "poster": Taste(
        prompt="misty mountains at dawn with pine trees and birds",
        variants=(
            Variant(prompt="a lake under the stars on a winter night", caption="winter night"),
            Variant(prompt="autumn hills at sunset, warm and calm", caption="autumn sunset"),
            Variant(prompt="a rainy teal sea, dramatic", caption="rain"),
            Variant({"layers": 4}),
        ),
    ),
    "scene": Taste(
        prompt="a wide mountain lake at sunset, calm and clear",
        variants=(_WINTER,),
    ),
    "scene-fast": Taste(
        prompt="a wide mountain lake at sunset, calm and clear",
        variants=(_WINTER,),
    ),
    "title-card": Taste(
        prompt="The Long Way Home",
        settings={"subtitle": "A film about distance"},
        variants=(
            Variant(media={"image": ("picture",)}, caption="on a picture"),
            Variant(
                {"background": "navy to black", "subtitle": "What the best ones leave out"},
                prompt="Seven habits of quiet teams",
                caption="background: navy to black",
            ),
            Variant(
                {"aspect_ratio": "9:16", "subtitle": "A guide for the restless"},
                prompt="How to fall asleep in two minutes",
                caption="aspect_ratio: 9:16",
            ),
        ),
        most=10,
    ),
    "background": Taste(
        settings={"operation": "remove"},
        media=_SUBJECT,
        variants=(
            Variant(
                {"operation": "replace"},
                prompt="a misty forest in the morning",
                caption="operation: replace, by words",
            ),
            Variant(
                {"operation": "replace"},
                media={"backdrop": ("picture",)},
                caption="operation: replace, by a picture",
            ),
            Variant(
                {"operation": "replace"},
                prompt="coral to plum",
                caption="operation: replace, by colors",
            ),
            Variant({"operation": "blur", "blur_strength": 0.8}),
            Variant(media={"image": ("picture",)}, caption="no face in the picture"),
        ),
    ),
    "restyle": Taste(
        settings={"look": "cinematic"},
        variants=(
            Variant({"look": "none", "stylize": "painting"}, caption="stylize: painting"),
            Variant({"look": "none", "stylize": "sketch"}, caption="stylize: sketch"),
            Variant({"look": "none", "stylize": "poster"}, caption="stylize: poster"),
            Variant({"text": "Above the lake"}),
            *(
                Variant({"look": look})
                for look in ("warm", "cold", "vintage", "noir", "neon", "pastel", "dreamy")
            ),
        ),
    ),
    "retouch": Taste(
        settings={"operation": "erase"},
        media={"mask": ("mask",)},
        variants=(
            Variant({"operation": "denoise"}, media={"image": ("grainy",), "mask": ()}),
            Variant({"operation": "sharpen"}, media={"mask": ()}),
            Variant({"operation": "upscale", "scale": 4}, media={"image": ("small",), "mask": ()}),
        ),
    ),
    "reframe": Taste(
        variants=(
            Variant({"mode": "blurred_fill"}),
            Variant({"mode": "stretch_edges", "aspect_ratio": "21:9"}),
            Variant({"aspect_ratio": "1:1"}),
            Variant({"aspect_ratio": "4:5"}, media=_SUBJECT, caption="aspect_ratio: 4:5, a face"),
        ),
        most=5,
    ),
    "drift": Taste(
        prompt="misty mountains at dawn with birds",
        variants=(
            Variant({"camera": "push"}, prompt="falling snow over a lake at night, stars"),
            Variant({"camera": "pan_right"}, prompt="autumn hills at sunset"),
            Variant({"palette": "lagoon"}, prompt="a calm sea by day"),
        ),
    ),
    "flythrough": Taste(
        prompt="a mountain lake at sunrise, clear sky",
        variants=(
            Variant({"land": "canyon", "camera": "forward"}, prompt="a red canyon at sunset"),
            Variant({"land": "islands", "camera": "orbit"}, prompt="tropical islands at noon"),
            Variant({"land": "forest", "camera": "skim"}, prompt="an autumn forest in mist"),
            Variant({"land": "alps", "camera": "rise"}, prompt="snowy peaks on a winter night"),
        ),
    ),
    "living-scene": Taste(
        prompt="a mountain lake at sunset, clear sky, vivid",
        variants=(
            Variant({"weather": "snow"}, prompt="a quiet pine forest in winter"),
            Variant({"family": "city"}, prompt="a rainy street at night, neon signs"),
            Variant({"hours": "day_to_night"}, prompt="a mountain lake, clear sky"),
            Variant({"family": "sea", "camera": "pan_left"}, prompt="a sea at dusk, low waves"),
        ),
    ),
    "animate": Taste(
        variants=(
            Variant({"technique": "cutout"}, media=_SUBJECT, caption="technique: cutout, a face"),
            Variant({"camera": "arc", "technique": "parallax"}),
            Variant({"weather": "snow"}),
            Variant({"weather": "rain", "camera": "pan_right"}),
        ),
    ),
    "ken-burns": Taste(
        variants=(
            Variant({"camera": "pan_right"}),
            Variant({"camera": "zoom_out", "easing": "linear"}),
            Variant({"aspect_ratio": "9:16", "camera": "pan_up"}),
            Variant(media=_SUBJECT, caption="a face"),
        ),
    ),
    "lip-sync": Taste(
        variants=(Variant({"intensity": 1.5}), Variant({"head_motion": 1.0, "intensity": 0.6})),
        most=3,
    ),
    "video-edit": Taste(
        settings={"look": "cinematic", "resolution": "480p"},
        variants=(
            Variant({"aspect_ratio": "9:16"}),
            Variant(
                {
                    "captions": "Up here the morning belongs to no one but the wind",
                    "caption_style": "karaoke",
                },
                caption="captions, caption_style: karaoke",
            ),
            Variant({"stabilize": True, "speed": 0.5}),
            Variant({"aspect_ratio": "1:1", "fit": "blurred_fill"}),
        ),
    ),
    "video-join": Taste(
        settings={"transition": "crossfade", "transition_seconds": 1.0, "resolution": "480p"},
        variants=(
            Variant({"transition": "slide"}),
            Variant({"transition": "wipe"}),
            Variant({"transition": "fade_black"}, media={"music": ("music",)}),
            Variant({"aspect_ratio": "9:16"}),
        ),
    ),
}
