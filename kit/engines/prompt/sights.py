"""Sights: single things that a prompt asks for by name, besides the place that it names.

Which of them a picture shows depends on its family: a black hole stands in space alone.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

#: Mountains of fire, and what only they do.
VOLCANOES = (
    "volcano volcanic stratovolcano caldera eruption erupting erupt erupts erupted fuji fujiyama"
    " fujisan vesuvius etna kilimanjaro krakatoa stromboli popocatepetl cotopaxi"
)
#: What palms are, and where they grow.
PALMS = (
    "palm coconut tropical tropic hawaii hawaiian caribbean maldives bali polynesia polynesian"
    " tahiti fiji seychelles bahamas waikiki zanzibar"
)
#: Holes in space, and what lies around them.
HOLES = "blackhole accretion gargantua singularity wormhole quasar"
#: Where a river drops.
FALLS = "waterfall cascade niagara iguazu"
_ERUPTING = "eruption erupting erupt erupts erupted lava magma active krakatoa stromboli"


@dataclass(frozen=True, slots=True)
class Sight:
    """A thing that may be asked for.

    Parameters
    ----------
    words : frozenset of str
        Any of them asks for it.
    denials : frozenset of str
        Any of them, denied, keeps it away whatever else is said.
    families : frozenset of str
        Where it can be shown.
    """

    words: frozenset[str]
    denials: frozenset[str]
    families: frozenset[str]


def _sight(words: str, denials: str, families: str) -> Sight:
    return Sight(*(frozenset(part.split()) for part in (words, denials, families)))


#: Name in the metadata -> when it is shown.
SIGHTS = {
    "volcano": _sight(f"{VOLCANOES} lava magma", "volcano", "lake sea desert"),
    "palms": _sight(f"{PALMS} oasis", "palm coconut tree tropical", "lake sea desert"),
    "waterfall": _sight(FALLS, "waterfall cascade", "lake"),
    "sailboat": _sight("sail boat ship sailboat yacht harbor", "sail boat sailboat", "sea"),
    "lighthouse": _sight("lighthouse", "lighthouse", "sea"),
    "black_hole": _sight(HOLES, "blackhole", "space"),
    "comet": _sight("comet meteor shooting", "comet", "space"),
}
#: What a sight may do besides standing there.
_ACTS = {"eruption": ("volcano", _sight(_ERUPTING, "eruption erupting lava fire smoke", ""))}
#: All words that ask for a sight, which a prompt may deny.
WORDS = frozenset().union(*(sight.words for sight in SIGHTS.values()), _ERUPTING.split())
#: Sight -> the family where it is shown, from another one that could not show it.
_ELSEWHERE = {
    ("forest", "volcano"): "lake",
    ("forest", "waterfall"): "lake",
    ("forest", "palms"): "sea",
    ("sea", "waterfall"): "lake",
}
#: Words of a shore that stays one whatever drops there, as the waves of a cascade.
_SALT = (
    "sea ocean coast beach bay archipelago wave shore harbor sail boat ship lighthouse surf"
    " seascape sailboat yacht horizon seaside seashore coastline"
)
#: Sight -> words that put it by the sea, though others speak of lakes or streams.
_SHORES = {"palms": frozenset({"lagoon"}), "volcano": frozenset({"sea", "ocean"})}
#: Words of palms that a forest has room for.
_JUNGLES = frozenset({"tropical", "tropic", "bali", "hawaii", "hawaiian"})


def sights_of(words: Collection[str], family: str) -> tuple[str, ...]:
    """Return the names of what a family shows of the things that words ask for.

    Examples
    --------
    >>> sights_of(["erupting", "volcano", "tropical", "island"], "sea")
    ('volcano', 'palms', 'eruption')
    >>> sights_of(["tropical", "island", "no", "no-palm"], "sea")
    ()
    """
    said = frozenset(words)
    shown = [
        name for name, sight in SIGHTS.items() if family in sight.families and _asks(said, sight)
    ]
    acts = [name for name, (who, sight) in _ACTS.items() if who in shown and _asks(said, sight)]
    return (*shown, *acts)


def place_for(words: Collection[str], family: str) -> str:
    """Return the family for words that name one, where what they ask for can be seen.

    Examples
    --------
    >>> place_for(["volcano", "over", "jungle"], "forest")
    'lake'
    >>> place_for(["tropical", "waterfall"], "sea")
    'lake'
    """
    said = frozenset(words)
    if family == "sea" and not said.isdisjoint(_SALT.split()):
        return family
    for (here, name), there in _ELSEWHERE.items():
        asked = SIGHTS[name].words - (_JUNGLES if name == "palms" else frozenset())
        if family == here and said & asked and name in sights_of(words, there):
            return there
    wet = any(said & near and name in sights_of(words, "sea") for name, near in _SHORES.items())
    return "sea" if family == "lake" and wet else family


def _asks(said: frozenset[str], sight: Sight) -> bool:
    denied = (f"no-{word}" for word in sight.denials)
    return not said.isdisjoint(sight.words) and said.isdisjoint(denied)
