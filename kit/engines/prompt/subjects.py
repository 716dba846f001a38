"""The words that choose a family of scenes and place the camera.

Time of day, season, weather, mood, color and composition are read with the words of
`kit.engines.prompt.lexicon`; what stands here is what a painted scene knows beyond it.
"""

from __future__ import annotations

from kit.engines.prompt import sights

#: Family -> words that name it. The family named most often is painted; of equals, the first.
SUBJECTS = {
    "lake": (
        "lake pond river reflection mirror lagoon loch water tarn fjord mountain alp alpine peak"
        " summit range ridge himalaya rocky rockies hill meadow countryside field valley"
        " tuscany pasture vineyard farm rolling highland landscape scenery stream glacier"
        f" prairie steppe tundra {sights.VOLCANOES} {sights.FALLS}"
    ),
    "desert": (
        "desert dune sahara sand mesa canyon cactus butte arizona oasis savanna badlands mars"
        " martian outback sandstone"
    ),
    "forest": (
        "forest wood woodland tree pine fir spruce taiga jungle grove birch oak conifer redwood"
        " rainforest bamboo maple"
    ),
    "sea": (
        "sea ocean island coast beach bay archipelago wave shore harbor sail boat ship cliff"
        " lighthouse surf seascape sailboat yacht horizon seaside seashore coastline"
        f" {sights.PALMS}"
    ),
    "city": (
        "city street neon town downtown skyscraper cyberpunk alley urban tokyo metropolis avenue"
        " skyline traffic building sidewalk manhattan paris london"
    ),
    "space": (
        "space galaxy nebula planet cosmos cosmic universe saturn jupiter ringed orbit comet"
        " interstellar supernova milky asteroid starfield spacecraft moonscape exoplanet astronomy"
        " spaceship starship venus neptune uranus pluto constellation meteor"
        f" {sights.HOLES}"
    ),
    "liquid": (
        "ink marble liquid abstract fluid silk oil agate smoke kintsugi swirl paint acrylic lava"
        " marbled marbling satin"
    ),
    "flow": (
        "flow line contour topographic topography curl streamline generative pattern strand"
        " flowfield stroke isoline joyplot thread"
    ),
    "poster": "poster flat vector illustration papercut",
}
#: Words that name a way to print: a landscape that one of them is said of is printed so.
PRINTED = ("poster", "vector", "illustration", "papercut")
#: Words that count where no place is named, those of the first line first: an oil painting of a
#: lake is a lake, the waves of a pattern are no sea, and a beach has sand. A volcano or a palm
#: stands in many places, and where it is alone with smoke or lava it is no abstract.
FAINT = (
    f"{sights.VOLCANOES} {sights.PALMS}",
    "ink oil paint acrylic line pattern stroke smoke flow fluid swirl satin silk lava",
    "neon horizon milky thread",
    f"sand tree water wave {sights.FALLS}",
)


def _by_word(groups: dict[str, str]) -> dict[str, str]:
    return {word: meaning for meaning, words in groups.items() for word in words.split()}


SUBJECT_WORDS = _by_word(SUBJECTS)
