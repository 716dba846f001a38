"""The words that direct a landscape: time, place, weather, season, color, composition.

A word stands here in its base form; `kit.engines.prompt.words` also finds simple plurals.
"""

from __future__ import annotations

TIMES = {
    "dawn": "dawn sunrise morning daybreak aurore early rosy",
    "day": "day noon midday daylight sunny bright afternoon blue-sky",
    "sunset": "sunset golden evening sundown glowing fiery ember burning",
    "dusk": "dusk twilight nightfall gloaming",
    "night": "night midnight moon moonlit moonlight moonrise star starry starlight nocturnal dark",
}
SUBJECTS = {
    "mountains": "mountain alp alpine peak summit range ridge himalaya rocky rockies volcano cliff",
    "hills": "hill meadow countryside field valley tuscany pasture vineyard farm rolling highland",
    "desert": "desert dune sahara sand mesa canyon cactus butte arizona oasis savanna",
    "sea": "sea ocean island coast beach bay archipelago wave shore fjord harbor sail boat ship",
    "forest": "forest wood woodland tree pine fir spruce taiga jungle grove",
    "lake": "lake pond river reflection mirror lagoon loch water tarn",
}
WEATHERS = {
    "mist": "mist misty haze hazy smoky smoke",
    "fog": "fog foggy",
    "rain": "rain rainy drizzle storm stormy thunderstorm wet monsoon",
    "snow": "snowing snowfall blizzard snowstorm flurry snowflake",
    "clear": "clear cloudless crisp partly scattered",
    "overcast": "overcast cloudy clouded sunless",
}
SEASONS = {
    "winter": "winter snow snowy frozen ice icy frost arctic christmas snowing snowfall blizzard",
    "autumn": "autumn fall autumnal october november harvest",
    "spring": "spring blossom cherry april bloom",
    "summer": "summer july august green",
}
MOODS = {
    "calm": (
        "calm serene peaceful quiet tranquil still zen minimal minimalist gentle soothing relaxing"
        " meditative placid tranquility serenity"
    ),
    "dramatic": (
        "dramatic epic bold majestic grand mighty towering vast intense powerful heroic colossal"
        " thrilling"
    ),
    "pastel": (
        "pastel soft pale dreamy delicate faded romantic nostalgic nostalgia wistful ethereal"
        " dreamlike heavenly otherworldly whimsical tender"
    ),
    "vivid": (
        "vivid vibrant saturated neon psychedelic colorful colourful synthwave joyful joyous joy"
        " cheerful happy playful lively festive exuberant uplifting"
    ),
    "gloomy": (
        "gloomy gloom moody melancholy melancholic sad bleak grim dreary somber sombre"
        " desolate brooding ominous foreboding sinister eerie spooky haunted mysterious menacing"
        " menace threatening hostile dreadful dread apocalyptic doom oppressive forlorn sorrowful"
        " mournful dismal hopeless"
    ),
}
EXTRAS = {
    "birds": "bird gull seagull crow swallow geese goose flock",
    "aurora": "aurora borealis polar northern",
    "fireflies": "firefly fireflies lantern magical fairy",
    "crescent": "crescent sickle",
    "full_moon": "full",
}
#: How the camera stands.
COMPOSITIONS = {
    "wide": (
        "wide panorama panoramic vista sweeping expansive distant far vast establishing expanse"
        " sprawling boundless"
    ),
    "close": "close closeup macro telephoto zoom detail intimate near",
    "low": "low ground below worm upward",
    "high": "high aerial drone overhead above elevated",
    "centered": "centered centred symmetric symmetrical symmetry central",
    "minimal": (
        "minimal minimalist minimalistic simple empty negative sparse minimalism uncluttered"
        " lonely lone solitary solitude secluded"
    ),
    "dramatic": (
        "dramatic epic cinematic majestic towering monumental grand heroic colossal gigantic"
        " imposing"
    ),
    "thirds": "thirds",
}
#: Word -> which way it turns the white of the light: 1 toward amber, -1 toward blue.
WARMTHS = {
    **dict.fromkeys(("warm", "cozy", "cosy", "toasty"), 1),
    **dict.fromkeys(("hopeful", "optimistic", "romantic", "nostalgic", "nostalgia"), 1),
    **dict.fromkeys(("cool", "cold", "chilly", "freezing", "lonely", "forlorn"), -1),
}
#: Words of a sky that the sun shines from.
SUNNY = ("sun", "sunny", "sunlit", "sunshine", "bright")
#: Light of the sky -> words that ask for it by name. The sun and the moon, where they are named,
#: come out of a closed sky too, and what burns needs a low sun, seen or not.
LIGHTS = {
    "sun": "sun sunny sunlit sunlight sunray sunrays sunbeam sunbeams ray rays beam beams",
    "moon": "moon moonlit moonlight moonrise crescent",
    "stars": "star starry starlight milky",
    "fire": "sunset sunrise sundown golden glowing fiery ember burning rosy",
}
#: What is in the sky -> words before it that close the sky.
HEAVY = {
    "cloud": ("heavy", "dark", "thick", "dense", "low", "black", "gray", "grey", "leaden"),
    "sky": ("heavy", "gray", "grey", "leaden", "brooding", "ominous"),
}
#: Gloomy words of places where one does not see far.
GHOSTLY = ("eerie", "spooky", "haunted", "mysterious")
#: Color word -> (hue in degrees, chroma), in OKLCH.
COLORS: dict[str, tuple[float, float]] = {
    "red": (25, 0.17),
    "crimson": (18, 0.18),
    "scarlet": (30, 0.18),
    "rust": (42, 0.12),
    "coral": (32, 0.14),
    "orange": (55, 0.15),
    "amber": (72, 0.14),
    "gold": (85, 0.13),
    "yellow": (98, 0.14),
    "sepia": (70, 0.05),
    "brown": (58, 0.07),
    "olive": (112, 0.09),
    "lime": (128, 0.16),
    "green": (148, 0.12),
    "emerald": (160, 0.13),
    "mint": (168, 0.09),
    "teal": (192, 0.10),
    "turquoise": (198, 0.11),
    "cyan": (208, 0.11),
    "azure": (240, 0.13),
    "blue": (255, 0.14),
    "navy": (265, 0.11),
    "indigo": (278, 0.14),
    "violet": (297, 0.15),
    "lavender": (300, 0.09),
    "purple": (308, 0.16),
    "magenta": (330, 0.18),
    "pink": (352, 0.13),
    "rose": (8, 0.13),
    "grey": (255, 0.012),
    "gray": (255, 0.012),
    "silver": (245, 0.012),
    "monochrome": (255, 0.0),
}


def _by_word(groups: dict[str, str]) -> dict[str, str]:
    return {word: meaning for meaning, words in groups.items() for word in words.split()}


#: Axis of a scene -> word -> what it says there.
AXES = {
    "time": _by_word(TIMES),
    "subject": _by_word(SUBJECTS),
    "weather": _by_word(WEATHERS),
    "season": _by_word(SEASONS),
    "mood": _by_word(MOODS),
}
EXTRA_WORDS = _by_word(EXTRAS)
LIGHT_WORDS = _by_word(LIGHTS)
COMPOSITION_WORDS = _by_word(COMPOSITIONS)
