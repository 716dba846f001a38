"""What shows the known video models at their best."""

from __future__ import annotations

from collections.abc import Mapping

from kit.commands.gallery.taste.shape import Taste, Variant

__all__ = ["VIDEOS"]

_FACE = {"image": ("portrait",)}
_MUSIC = {"soundtrack": ("music",)}
_TWO = {"clips": ("clip", "clip-1")}
_SAID = "Up here the morning belongs to no one but the wind"

VIDEOS: Mapping[str, Taste] = {
    "drift": Taste(
        prompt="misty mountains at dawn with birds",
        variants=(
            Variant({"camera": "push"}, prompt="falling snow over a lake at night, stars"),
            Variant({"camera": "pan_right"}, prompt="autumn hills at sunset"),
            Variant({"palette": "lagoon"}, prompt="a calm sea by day"),
            Variant(
                {"camera": "rise"},
                prompt="desert mesas in the last light",
                media=_MUSIC,
                caption="With music",
            ),
            Variant({"aspect_ratio": "9:16", "loop": True}, prompt="a forest at dusk, fireflies"),
        ),
        most=6,
    ),
    "flythrough": Taste(
        prompt="a mountain lake at sunrise, clear sky",
        variants=(
            Variant({"land": "canyon", "camera": "forward"}, prompt="a red canyon at sunset"),
            Variant({"land": "islands", "camera": "orbit"}, prompt="tropical islands at noon"),
            Variant({"land": "forest", "camera": "skim"}, prompt="an autumn forest in mist"),
            Variant({"land": "alps", "camera": "rise"}, prompt="snowy peaks on a winter night"),
            Variant(
                {"land": "hills"},
                prompt="green hills in heavy rain, dark clouds",
                caption="Weather: rain",
            ),
            Variant(
                {"land": "alps", "camera": "forward"},
                prompt="a mountain valley in falling snow",
                caption="Weather: snow",
            ),
            Variant({"land": "desert", "camera": "high"}, prompt="golden dunes at dusk"),
        ),
        most=8,
    ),
    "living-scene": Taste(
        prompt="a mountain lake at sunset, clear sky, vivid",
        variants=(
            Variant({"weather": "snow"}, prompt="a quiet pine forest in winter"),
            Variant({"family": "city"}, prompt="a rainy street at night, neon signs"),
            Variant({"hours": "day_to_night"}, prompt="a mountain lake, clear sky"),
            Variant({"family": "sea", "camera": "pan_left"}, prompt="a sea at dusk, low waves"),
            Variant(
                {"weather": "fireflies", "loop": True, "camera": "drift"},
                prompt="a forest on a summer night",
                caption="A loop",
            ),
            Variant({"aspect_ratio": "9:16", "hours": "night_to_day"}, prompt="desert dunes"),
            Variant(
                {"family": "space", "camera": "arc"},
                prompt="a ringed planet before a teal nebula",
                media=_MUSIC,
                caption="With music",
            ),
        ),
        most=8,
    ),
    "animate": Taste(
        variants=(
            Variant({"camera": "arc", "technique": "parallax"}),
            Variant({"weather": "snow"}),
            Variant({"weather": "rain", "camera": "pan_right"}),
            Variant({"technique": "cutout"}, media=_FACE, caption="A face"),
        ),
        most=5,
    ),
    "ken-burns": Taste(
        variants=(
            Variant({"camera": "pan_right"}, media=_MUSIC, caption="With music"),
            Variant({"focus_x": 0.7, "focus_y": 0.3, "motion": 1.0}),
            Variant({"camera": "zoom_out", "easing": "linear"}),
            Variant({"aspect_ratio": "9:16", "camera": "pan_up"}),
            Variant(media=_FACE, caption="A face"),
        ),
        most=6,
    ),
    "lip-sync": Taste(
        variants=(
            Variant({"intensity": 1.5}),
            Variant({"head_motion": 1.0, "intensity": 0.6}),
            Variant(media={"portrait": (), "video": ("speaker",)}, caption="A video"),
        ),
        most=4,
    ),
    "video-edit": Taste(
        settings={"look": "cinematic", "resolution": "480p"},
        variants=(
            Variant({"aspect_ratio": "9:16"}),
            Variant({"aspect_ratio": "1:1", "fit": "blurred_fill"}),
            Variant({"captions": _SAID, "caption_style": "bold"}),
            Variant({"captions": _SAID, "caption_style": "karaoke"}),
            Variant(
                {"captions": _SAID, "caption_style": "clean", "caption_position": "middle"},
                media={"voice": ("voice",)},
                caption="Words timed by a voice",
            ),
            Variant(
                {"sound": "replace", "music_volume": 0.6, "duck": True},
                media={"voice": ("voice",), "music": ("music",)},
                caption="Music under a voice",
            ),
            Variant({"start": 0.5, "end": 2.5, "fade_in": 0.4, "fade_out": 0.6}),
            Variant({"stabilize": True, "speed": 0.5}),
        ),
        most=9,
    ),
    "video-join": Taste(
        settings={"transition": "crossfade", "transition_seconds": 1.0, "resolution": "480p"},
        variants=(
            Variant({"transition": "slide"}, media=_TWO),
            Variant({"transition": "wipe"}, media=_TWO),
            Variant(
                {"transition": "fade_black"},
                media={**_TWO, "music": ("music",)},
                caption="With music",
            ),
            Variant({"aspect_ratio": "9:16"}, media=_TWO),
        ),
    ),
}
