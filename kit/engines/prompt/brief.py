"""Briefs: what a prompt, settings and a seed ask for, without its words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from kit.engines.prompt.vocabulary import Tint

T = TypeVar("T")

#: Hours of a low sun.
LOW = ("dawn", "sunset", "dusk")
#: Hour -> what may shine in its sky.
_SHINING = {
    **{hour: {"sun"} for hour in ("dawn", "day", "sunset")},
    "dusk": {"sun", "moon", "stars"},
    "night": {"moon", "stars"},
}
#: Weathers under a closed sky.
COVERED = ("rain", "snow", "overcast", "fog")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """What moods and tones make of a print."""

    exposure: float = 1.0  # factors
    contrast: float = 1.0
    saturation: float = 1.0
    corners: float = 0.0  # share of the light that corners lose, added to a film's own
    lift: float = 0.0  # how much darkness is lightened, 0 to 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What is to be painted, filmed or put behind a title."""

    family: str  # which painter: one of `kit.engines.painting.families.FAMILIES`
    place: str  # land of a flat landscape: mountains, hills, desert, sea, forest or lake
    hour: str  # dawn, day, sunset, dusk or night
    season: str  # winter, spring, summer or autumn
    weather: str  # clear, overcast, mist, fog, rain or snow
    mood: str  # balanced, calm, dramatic, pastel, vivid or gloomy
    tones: tuple[str, ...] = ()  # how the light is set: bright, dark, hard, soft, outline
    #: Any of wide, close, low, high, centered, minimal, dramatic, thirds.
    composition: tuple[str, ...] = ()
    things: frozenset[str] = frozenset()  # what else shows: names of ``things.toml``
    lights: tuple[str, ...] = ()  # asked for by name: any of sun, moon, stars, fire
    colors: tuple[Tint, ...] = ()  # of the light of the whole picture, at most three
    land: Tint | None = None  # of the ground and what grows on it
    water: Tint | None = None  # of lakes and seas
    warmth: int = 0  # 1 where the light is warmer than the hour's, -1 where it is cooler
    grade: Grade = Grade()
    horizon: float = 0.0  # how much farther down it stands, as a share of the frame's height
    lens: float = 1.0  # factor on the focal length
    camera: str = ""  # how it moves, as the setting or the prompt says; empty where neither does
    hours: str = "fixed"  # which pass: or night_to_day, day_to_night
    palette: str = "auto"  # or a named one of `kit.engines.painting.tints`
    width: int  # in pixels
    height: int
    detail: str = "standard"  # or low, high: how much time to spend
    #: From the job's seed and the prompt, but not from what it says of mood and camera: they change
    #: how the same scene is seen.
    seed: int
    falling: bool = True  # whether rain and snow are drawn, or only show in the light
    #: Words of the prompt that direct this, and those that do not and speak of something.
    used: tuple[str, ...] = field(default=(), compare=False)
    unused: tuple[str, ...] = field(default=(), compare=False)

    @property
    def covered(self) -> bool:
        """Whether clouds hide sun, moon and stars."""
        return self.weather in COVERED

    @property
    def open(self) -> bool:
        """Whether sun or moon are seen: under a closed sky only where they are asked for."""
        return not self.covered or not _SHINING[self.hour].isdisjoint(self.lights)

    @property
    def dim(self) -> bool:
        """Whether a closed sky swallows the colors of a low sun."""
        return self.covered and self.hour in LOW and {"sun", "fire"}.isdisjoint(self.lights)

    @property
    def dark(self) -> bool:
        """Whether the hour is one of artificial light and stars."""
        return self.hour in ("dusk", "night")

    @property
    def glows(self) -> bool:
        """Whether it is vivid for its neon: a thing that shines, and not a mood alone."""
        return self.mood == "vivid" and "glow" in self.things

    @property
    def crescent(self) -> bool:
        """Whether the moon is a crescent: it is asked for, or nothing is said of it."""
        if not self.things.isdisjoint(("crescent", "full_moon")):
            return "crescent" in self.things
        return self.seed % 5 < 2

    def select(self, table: Mapping[str, T]) -> Iterator[T]:
        """Yield what a table holds for the mood, the tones and the composition.

        What is minimal is calm by itself, and what is dramatic to the camera is so in its mood.
        """
        mood = "" if self.mood == "calm" and "minimal" in self.composition else self.mood
        if "dramatic" in self.composition and mood not in ("dramatic", "gloomy"):
            yield table["dramatic"]
        yield from (table[n] for n in (mood, *self.tones, *self.composition) if n in table)

    def facts(self) -> dict[str, Any]:
        """Return the metadata of an asset: the scene, and which words of the prompt made it."""
        scene = {
            "family": self.family,
            "place": self.place,
            "hour": self.hour,
            "season": self.season,
            "weather": self.weather,
            "mood": self.mood,
            "tones": list(self.tones),
            "composition": list(self.composition),
            "things": sorted(self.things),
            "warmth": self.warmth,
            "palette": self.palette,
            "number": self.seed,
        }
        return {"scene": scene, "words": {"used": list(self.used), "unused": list(self.unused)}}
