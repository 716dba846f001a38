"""Briefs: the scene that a prompt, settings and a seed describe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from kit.engines.prompt.vocabulary import Tint

T = TypeVar("T")

#: Hours with a low sun.
LOW_SUN = ("dawn", "sunset", "dusk")
#: Hour -> sky objects that may be visible.
_SKY_LIGHTS = {
    **{hour: {"sun"} for hour in ("dawn", "day", "sunset")},
    "dusk": {"sun", "moon", "stars"},
    "night": {"moon", "stars"},
}
#: Weathers with a closed sky.
CLOSED_SKY = ("rain", "snow", "overcast", "fog")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """The tone adjustments of moods and tones."""

    exposure: float = 1.0  # factors
    contrast: float = 1.0
    saturation: float = 1.0
    corners: float = 0.0  # share of the light lost in corners, added to a film's own
    lift: float = 0.0  # how much the darks are lightened, 0 to 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """The description of a picture, film or background to be made."""

    family: str  # of painters: one of `kit.engines.painting.families.FAMILIES`
    place: str  # type of a flat landscape: mountains, hills, desert, sea, forest or lake
    hour: str  # dawn, day, sunset, dusk or night
    season: str  # winter, spring, summer or autumn
    weather: str  # clear, overcast, mist, fog, rain or snow
    mood: str  # balanced, calm, dramatic, pastel, vivid or gloomy
    tones: tuple[str, ...] = ()  # of light: bright, dark, hard, soft, outline
    #: Any of wide, close, low, high, centered, minimal, dramatic, thirds.
    composition: tuple[str, ...] = ()
    things: frozenset[str] = frozenset()  # other objects and states: names of ``things.toml``
    lights: tuple[str, ...] = ()  # named explicitly: any of sun, moon, stars, fire
    colors: tuple[Tint, ...] = ()  # of the light of the whole picture, at most three
    land: Tint | None = None  # of the ground and its vegetation
    water: Tint | None = None  # of lakes and seas
    warmth: int = 0  # 1 if the light is warmer than the hour's, -1 if cooler
    grade: Grade = Grade()
    horizon: float = 0.0  # shift down, as a share of the frame's height
    lens: float = 1.0  # factor on the focal length
    camera: str = ""  # move of the setting or the prompt; empty if neither has one
    hours: str = "fixed"  # passage of time: fixed, night_to_day or day_to_night
    palette: str = "auto"  # or a named one of `kit.engines.painting.tints`
    width: int  # in pixels
    height: int
    detail: str = "standard"  # or low, high: rendering effort
    #: From the job's seed and the prompt without its mood and camera words: these change only how
    #: the same scene is seen.
    seed: int
    falling: bool = True  # whether rain and snow are drawn, or only affect the light
    #: Words of the prompt that direct the scene, and meaningful ones that do not.
    used: tuple[str, ...] = field(default=(), compare=False)
    unused: tuple[str, ...] = field(default=(), compare=False)

    @property
    def closed_sky(self) -> bool:
        """Whether clouds hide sun, moon and stars."""
        return self.weather in CLOSED_SKY

    @property
    def open_sky(self) -> bool:
        """Whether sun or moon are visible: under a closed sky only if asked for."""
        return not self.closed_sky or not _SKY_LIGHTS[self.hour].isdisjoint(self.lights)

    @property
    def dim(self) -> bool:
        """Whether a closed sky removes the colors of a low sun."""
        return self.closed_sky and self.hour in LOW_SUN and {"sun", "fire"}.isdisjoint(self.lights)

    @property
    def dark(self) -> bool:
        """Whether it is an hour of artificial light and stars."""
        return self.hour in ("dusk", "night")

    @property
    def glows(self) -> bool:
        """Whether it is vivid because of neon: an object that shines, not only a mood."""
        return self.mood == "vivid" and "glow" in self.things

    @property
    def crescent(self) -> bool:
        """Whether the moon is a crescent: if asked for, or by chance if no moon is named."""
        if not self.things.isdisjoint(("crescent", "full_moon")):
            return "crescent" in self.things
        return self.seed % 5 < 2

    def select(self, table: Mapping[str, T]) -> Iterator[T]:
        """Yield a table's values for the mood, the tones and the composition.

        A minimal composition is also calm, and a dramatic composition has a dramatic mood.
        """
        mood = "" if self.mood == "calm" and "minimal" in self.composition else self.mood
        if "dramatic" in self.composition and mood not in ("dramatic", "gloomy"):
            yield table["dramatic"]
        yield from (table[n] for n in (mood, *self.tones, *self.composition) if n in table)

    def facts(self) -> dict[str, Any]:
        """Return the metadata of an asset: the scene, and the words of the prompt that made it."""
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
