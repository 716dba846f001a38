"""Spoken duration of text: syllables at a rate, plus a pause for each comma and full stop.

Words per minute is a poor unit, because words differ in length; syllables per second holds across
texts. Figures, years, units, currency and acronyms count as read aloud.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

#: Syllables per second of a relaxed voice-over.
RATE = 4.35
#: Seconds of silence at a comma, and between two sentences.
COMMA, STOP = 0.18, 0.42

_WORD = re.compile(r"[$€£]?[^\W_]+(?:[.,'’\-][^\W_]+)*[%°]?")
_COMMA = re.compile(r"[,;:—–](?=\s)")
_STOP = re.compile(r"(?<![.!?])[.!?]+[\"')]*\s+(?=\S)")
_ABBREVIATION = re.compile(r"\b(Dr|Mr|Mrs|Ms|St|vs|Jr|Sr|U\.S|U\.K)\.")
_NUMBER = re.compile(r"([$€£])?(\d+(?:,\d{3})*)(?:\.(\d+))?(%|°|[A-Za-z]{1,4})?")
_PIECES = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?|[^\W\d_]+(?:['’][^\W\d_]+)*")

_NUMBER_NAMES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety"
)
_ONES = _NUMBER_NAMES.split()[:20]
_TENS = ["", "ten", *_NUMBER_NAMES.split()[20:]]
_SCALES = (
    *((10**12, "trillion"), (10**9, "billion"), (10**6, "million")),
    *((1000, "thousand"), (100, "hundred")),
)
_CURRENCY = {"$": "dollars", "€": "euros", "£": "pounds"}
_METERS = {"km": "kilometers", "cm": "centimeters", "mm": "millimeters", "m": "meters"}
_GRAMS = {"kg": "kilograms", "mg": "milligrams", "g": "grams"}
_SPEEDS = {"h": "hours", "mph": "miles per hour", "kmh": "kilometers per hour"}
_SILENT_SUFFIXES = dict.fromkeys(("s", "st", "nd", "rd", "th"), "")  # the 1920s
_UNITS = {"%": "percent", "°": "degrees", **_METERS, **_GRAMS, **_SPEEDS, **_SILENT_SUFFIXES}
_TITLES = {"dr": "doctor", "mr": "mister", "mrs": "misses", "st": "saint", "vs": "versus"}
_READ_AS = {**{u: _UNITS[u] for u in ("km", "cm", "mm", "kg", "mg", "mph")}, **_TITLES}
#: Words for which the rules below are wrong.
_EXCEPTIONS = {
    word: count
    for count, group in {
        1: "eye eyes eyed aged rogue vague",
        2: "people being seeing science quiet trial giant lion species diet poem poet create react "
        "business evening every something sometimes someone somewhere lifetime ocean moment "
        "movement statement lonely useful surely safely hopeful careful grateful homeless "
        "timeless namesake chocolate chaos fluid ruin iron vineyard moreover therefore driest "
        "riot bias dial argue cafe cruel fuel jewel dual client ninety nineteen doing going "
        "knowing grapevine household forehead pavement basement placement lovely likely largely "
        "rarely merely closely barely sincere homemade wavelength gameplay cheesecake lifelike "
        "rosebud widespread smokestack spacecraft baseball wisely riding facebook casework "
        "livestock hundred sacred naked wicked rugged wretched crooked learned crying drying "
        "dying lying flying trying buying neon naive",
        3: "area idea violin created creator reaction museum theater theatre everything everyone "
        "everybody everywhere violence violent diamond scientist pioneer influence quietly "
        "usually separate interest different favorite difference family memory history camera "
        "energy animal company library diary poetry chariot theory realize hideous alien idolize "
        "karate simile recipe apostrophe coyote somebody anyone graduate valuable actual ritual "
        "visual gradual manual mutual casual archaeal poetic heroic stoic rewarded loneliness "
        "advancement engagement arrangement piano dinosaur",
        4: "reality variety society anxiety scientific california material bacteria experience "
        "catastrophe unusual biography geography geology biology theology actually eventually "
        "situation evaluate original environment helicopter community january february television "
        "necessary military adversary secretary territory dictionary ceremony",
        5: "university creativity electricity extraordinary immediately archaeology evolutionary "
        "curiosity imagination organization civilization",
    }.items()
    for word in group.split()
}


def words(text: str) -> list[str]:
    """Return the words of a text; a figure with its sign, or a hyphenated word, is one word.

    Examples
    --------
    >>> words("It's 4,500 km - about 12% of well-known roads.")
    ["It's", '4,500', 'km', 'about', '12%', 'of', 'well-known', 'roads']
    """
    return _WORD.findall(text)


def seconds(text: str, *, rate: float = RATE) -> float:
    """Return the spoken duration of a text in seconds, without a pause after the last sentence.

    Examples
    --------
    >>> round(seconds("Honey never spoils."), 2)
    1.15
    """
    if rate <= 0:
        raise ValueError(f"the rate must be above 0 syllables a second, not {rate}")
    plain = _ABBREVIATION.sub(r"\1", text.strip())
    spoken = sum(map(syllables, words(plain)))
    pauses = COMMA * len(_COMMA.findall(plain)) + STOP * len(_STOP.findall(plain))
    return spoken / rate + pauses


@lru_cache(maxsize=16_384)
def syllables(word: str) -> int:
    """Return the number of syllables of a word or figure read aloud; at least 1.

    Examples
    --------
    >>> [syllables(word) for word in ("honey", "1969", "$3", "NASA", "DNA")]
    [2, 5, 3, 2, 3]
    """
    return max(1, sum(_count_syllables(part) for part in _spell(word)))


def _spell(word: str) -> list[str]:
    # Figures, units and acronyms are spelled out.
    number = _NUMBER.fullmatch(word)
    if number:
        return _figure(number)
    if "-" in word or any(c.isdigit() for c in word):
        pieces = _PIECES.findall(word)
        return [part for piece in pieces for part in (_spell(piece) if piece != word else [piece])]
    if word.isupper() and 1 < len(word) <= 5 and (len(word) < 4 or not re.search("[AEIOUY]", word)):
        return ["double" if letter == "W" else "a" for letter in word]
    return _READ_AS.get(word.lower(), word).split()


def _figure(number: re.Match[str]) -> list[str]:
    sign, whole, decimals, suffix = number.groups()
    if len(whole) > 20:
        return [_ONES[int(digit)] for digit in whole if digit != ","]
    value = int(whole.replace(",", ""))
    year = len(whole) == 4 and 1100 <= value < 2000 and not decimals and not sign
    parts = _cardinal(value)
    if year:
        century, rest = divmod(value, 100)
        end = _cardinal(rest) if rest else ["hundred"]
        parts = [*_cardinal(century), *["oh"] * (0 < rest < 10), *end]
    if decimals:
        parts += ["point", *(_ONES[int(digit)] for digit in decimals)]
    if suffix:
        parts += _UNITS.get(suffix, suffix).split()
    return [*parts, _CURRENCY[sign]] if sign else parts


def _cardinal(value: int) -> list[str]:
    if value < 20:
        return [_ONES[value]]
    if value < 100:
        tens, ones = divmod(value, 10)
        return [_TENS[tens], *([_ONES[ones]] if ones else [])]
    size, name = next(scale for scale in _SCALES if value >= scale[0])
    head, rest = divmod(value, size)
    return [*_cardinal(head), name, *(_cardinal(rest) if rest else [])]


def _count_syllables(word: str) -> int:
    folded = unicodedata.normalize("NFKD", word.lower().replace("’", "'"))
    letters = "".join(c for c in folded if not unicodedata.combining(c))
    base = re.sub(r"'s$|s'?$", "", letters)
    if count := _EXCEPTIONS.get(letters) or (letters.isascii() and _EXCEPTIONS.get(base)):
        return count
    if not letters.isascii():
        # An estimate: a sign of Chinese, Japanese or Korean is one syllable.
        signs = sum(ord(c) > 0x2E80 for c in letters)
        return max(1, signs + round((len(letters) - signs) / 2.2))
    spelled = re.sub("[^a-z']", "", letters)
    count = len(_VOWEL_GROUPS.findall(spelled))
    if count > 1 or spelled.endswith(("n't", "thm", "sm")):
        count += sum(change * len(pattern.findall(spelled)) for pattern, change in _RULES)
    return max(1, count)


#: Pattern -> syllables it adds to the number of vowel groups.
_RULES = tuple(
    (re.compile(pattern), change)
    for pattern, change in (
        (r"(?<![aeioulryw])e$|(?<=[aeiouy][lr])e$|(?<=[rl][lr])e$|(?<=ew)e$", -1),  # make, whole
        (r"[aeiouy][^aeiouy]*[^aeiouytd]ed$|[aeo]yed$", -1),  # jumped
        (r"(?<=[aeiouylr]l)es$|(?<=[^aeiousxzcghl])es$|[tg]hes$", -1),  # makes, but not tables
        (
            r"(?<![tcsgnlx])io(?!u)|(?<=[^tcsg])ia(?!r)|(?<=[^tcsgx])iou|(?<=[^tc])ien[ct]|eo(?!u)|[aiou]ing|[^aeiou]ying",
            1,
        ),
        (r"[a-z]sms?$|thms?$", 1),  # organism, rhythm
        (r"[ds]n't$", 1),  # didn't
        (r"(?<=[aeiouy])[^aeiouy]el(?:y|ess)$|(?<=[aeiou][^aeiouy])ement|(?<=[aeiou]p)eful", -1),
        (r"[aeiouy]n?[gq]ue$|vior", -1),  # league, behavior
        (r"(?<![gq])ua[lt]|uou|iu|ii|iet", 1),  # mutual, continuous, radius
    )
)
_VOWEL_GROUPS = re.compile(r"[aeiou]+y?(?![aeiou])|[aeiou]+|y(?![aeiou])")
