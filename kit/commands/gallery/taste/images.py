"""What shows the known image models at their best."""

from __future__ import annotations

from collections.abc import Mapping

from kit.commands.gallery.taste.shape import Taste, Variant
from kit.commands.gallery.taste.words import WORDS

__all__ = ["IMAGES"]

_FACE = {"image": ("portrait",)}
_VIEW = {"image": ("picture",)}
_LAKE = "a wide mountain lake at sunset, calm and clear"
_WINTER = Variant(prompt="a snowy mountain lake on a winter night, aurora", caption="Winter night")
_WIDE = Variant({"aspect_ratio": "16:9"}, prompt="a stormy sea with cliffs, dramatic, dusk")
_TALL = Variant({"aspect_ratio": "9:16"}, prompt="a rainy street at night, neon signs")
_FAMILIES = tuple(
    Variant({"family": family}, prompt=WORDS["family", family])
    for family in ("desert", "forest", "sea", "city", "space", "liquid", "flow", "poster")
)
_SIGHTS = (
    Variant(prompt="a palm beach on a tropical island at sunset", caption="Palms"),
    Variant(prompt="an erupting volcano by a lake at night", caption="A volcano"),
    Variant(prompt="a waterfall in the mountains at dawn", caption="A waterfall"),
    Variant(prompt="a black hole with an accretion disk", caption="A black hole"),
)
_LOOKS = (
    *("warm", "cold", "golden", "vivid", "pastel", "dreamy"),
    *("vintage", "matte", "sepia", "noir", "neon"),
)

IMAGES: Mapping[str, Taste] = {
    "poster": Taste(
        prompt="misty mountains at dawn with pine trees and birds",
        variants=(
            Variant(prompt="a lake under the stars on a winter night", caption="Winter night"),
            Variant(prompt="autumn hills at sunset, warm and calm", caption="Autumn sunset"),
            Variant(prompt="a rainy teal sea, dramatic", caption="Rain"),
            Variant({"aspect_ratio": "16:9"}, prompt="desert mesas at sunset, a low sun"),
            Variant({"aspect_ratio": "9:16"}, prompt="a pine forest at dusk, a crescent moon"),
            Variant({"layers": 4, "mist": 0.0}),
            Variant({"layers": 9, "mist": 1.0}),
            *(Variant({"palette": name}) for name in ("ember", "coral", "lagoon", "lavender")),
        ),
        most=12,
    ),
    "scene": Taste(
        prompt=_LAKE,
        variants=(
            _WINTER,
            Variant(
                prompt="a mountain lake, gloomy and dramatic, heavy clouds",
                caption="Mood: gloomy, dramatic",
            ),
            Variant(
                prompt="a mountain lake, dreamy and serene, pastel morning",
                caption="Mood: dreamy, serene",
            ),
            *_FAMILIES,
            *_SIGHTS,
            _WIDE,
            _TALL,
            Variant({"palette": "ember"}),
            Variant({"detail": "high"}),
        ),
        most=20,
    ),
    "scene-fast": Taste(
        prompt=_LAKE,
        variants=(_WINTER, *_FAMILIES[:4], _WIDE, _TALL),
        most=8,
    ),
    "title-card": Taste(
        prompt="The Long Way Home",
        settings={"subtitle": "A film about distance"},
        variants=(
            Variant(media=_VIEW, caption="On a picture"),
            Variant({"position": "bottom"}, media=_VIEW),
            Variant({"position": "center", "style": "elegant"}, media=_VIEW),
            Variant(
                {"aspect_ratio": "4:5", "subtitle": "What a look tells"},
                prompt="Face to face",
                media=_FACE,
            ),
            Variant({"background": "navy to black"}, prompt="Seven habits of quiet teams"),
            Variant({"background": "foggy forest", "accent": "gold"}, prompt="Into the woods"),
            *(Variant({"style": style}) for style in ("elegant", "clean", "neon", "editorial")),
            Variant(
                {"aspect_ratio": "9:16", "subtitle": "A guide for the restless"},
                prompt="How to fall asleep in two minutes",
            ),
            Variant({"aspect_ratio": "1:1", "accent": "tomato"}, prompt="Eat the street"),
        ),
        most=13,
    ),
    "background": Taste(
        settings={"operation": "remove"},
        media=_FACE,
        variants=(
            Variant(
                {"operation": "replace"},
                prompt="a misty forest in the morning",
                caption="By words",
            ),
            Variant(
                {"operation": "replace"},
                prompt="coral to plum",
                caption="By colors",
            ),
            Variant(
                {"operation": "replace"},
                media={"backdrop": ("picture",)},
                caption="By a picture",
            ),
            Variant({"operation": "blur", "blur_strength": 0.8}),
            Variant(media=_VIEW, caption="No face in the picture"),
        ),
    ),
    "restyle": Taste(
        settings={"look": "cinematic"},
        variants=(
            Variant({"look": "none", "stylize": "painting"}),
            Variant({"look": "none", "stylize": "sketch"}),
            Variant({"look": "none", "stylize": "poster"}),
            Variant({"text": "Above the lake"}),
            *(Variant({"look": look}) for look in _LOOKS),
            Variant(
                {"look": "auto"}, prompt="a warm, dreamy summer evening", caption="Look by words"
            ),
            Variant(
                {"look": "golden", "stylize": "painting"}, media=_FACE, caption="A face, painted"
            ),
        ),
        most=18,
    ),
    "retouch": Taste(
        settings={"operation": "erase"},
        media={"mask": ("mask",)},
        variants=(
            Variant(
                {"operation": "upscale", "scale": 4},
                media={"image": ("small",), "mask": ()},
                close=True,
            ),
            Variant({"operation": "denoise"}, media={"image": ("grainy",), "mask": ()}, close=True),
            Variant({"operation": "sharpen"}, media={"mask": ()}, close=True),
        ),
    ),
    "reframe": Taste(
        variants=(
            Variant({"mode": "blurred_fill"}),
            Variant({"aspect_ratio": "1:1"}),
            Variant({"mode": "stretch_edges", "aspect_ratio": "21:9"}),
            Variant({"aspect_ratio": "4:5"}, media=_FACE, caption="A face"),
            Variant(
                {"aspect_ratio": "16:9", "mode": "blurred_fill"},
                media=_FACE,
                caption="Tall to wide",
            ),
        ),
        most=6,
    ),
}
