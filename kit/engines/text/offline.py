"""The offline writer: titles and voice-over scripts from a curated bank, without a language model.

The same order and the same seed give the same text.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from kit.engines.text.assembly import Ends, EntryRules, FilledScript, fill_script
from kit.engines.text.bank import Bank, BankEntry, bank, covers, find_lead, rank_entries, stems
from kit.engines.text.phrases import clean, hook_sentence, sentence, shorten, strip_directive
from kit.engines.text.speech import RATE, seconds
from kit.errors import BadRequestError
from kit.wire import Title

#: Maximum characters of a suggested title, and limits of a script's length in seconds.
TITLE_LIMIT = 100
DURATIONS = range(10, 181)
#: Limits of the rate in syllables per second that can be spoken and followed.
_RATE_LIMITS = (3.0, 7.0)
#: Seconds of a first sentence from which a shorter one is better.
_LONG_SECONDS = 8.0
#: Seconds up to which a hook angle is spoken unchanged, as those of suggested titles are.
_SHORT_SECONDS = 4.5
#: Seconds up to which the second script has one sentence on its lead, to differ from the first.
_BRIEF_SECONDS = 20
#: Number of the shortest bridges that a script up to this length chooses from.
_SHORTEST_BRIDGES = 5
#: Seconds up to which there is no room to name the title and tell of something else.
_TIGHT_SECONDS = 14

#: A wording, and its cost.
_Choice = tuple[tuple[str, ...], float]
_NOTHING: _Choice = ((), 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptOrder:
    """The subject and the style of a script.

    Source: API document, "Generate scripts"; contract, "Titles and scripts".
    """

    topic: str
    title: str
    duration_seconds: int  # 10 to 180
    hook_angle: str | None = None  # content of the first sentence, with `use_hook`
    use_hook: bool = False
    use_cta: bool = False
    use_ragebait: bool = False
    variations: int = 1  # or 2
    rate: float = RATE  # speaking rate in syllables per second, 3 to 7

    def __post_init__(self) -> None:
        length, rate, (low, high) = self.duration_seconds, self.rate, _RATE_LIMITS
        problems = []
        if not self.title.strip():
            problems.append(("title", "is required and may not be blank"))
        if length not in DURATIONS:
            problems.append(("duration", f"must be 10 to 180 seconds, not {length}"))
        if self.variations not in (1, 2):
            problems.append(("variations", f"must be 1 or 2, not {self.variations}"))
        if not low <= rate <= high:
            sentence = f"must be {low:g} to {high:g} syllables a second, not {rate:g}"
            problems.append(("rate", sentence))
        if problems:
            raise BadRequestError.fields(problems)


def suggest_title(topic: str, *, seed: int, avoid: Collection[str] = ()) -> Title:
    """Return a title with its hook angle, one of the least frequent in `avoid`.

    So titles repeat only after all others were used equally often. The comparison ignores upper and
    lower case.
    """
    titles = [(name, entry.hook) for entry in bank(topic).entries for name in entry.titles]
    order = random.Random(f"{seed} {topic}").sample(titles, len(titles))  # noqa: S311 - no secret
    counts = Counter(name.casefold() for name in avoid)
    name, hook = min(order, key=lambda pair: counts[pair[0].casefold()])
    return Title(title=name, hook_angle=hook)


def write_scripts(order: ScriptOrder, *, seed: int) -> list[str]:
    """Return the ordered number of scripts, within a tenth of the requested time.

    The second one has other facts, in another order and another voice.
    """
    # By the values of the order: the texts of a seed stay the same if the class is renamed.
    key = f"{seed} Order({repr(order).partition('(')[2]}"
    rng = random.Random(key)  # noqa: S311 - no secret
    source = bank(order.topic)
    title, angle = clean(order.title)[:300], clean(order.hook_angle or "")[:300]  # ligatures grow
    lead = find_lead(order.topic, title)
    texts: list[str] = []
    used: set[str] = set()
    # In an order that the seed decides.
    voices = [_Voice(rules, rng) for rules in rng.sample(source.voices, len(source.voices))]
    for number, voice in enumerate(voices[: order.variations]):
        entries = rank_entries(order.topic, _relevant_text(title, angle), lead, rng, used)
        draft = _Draft(order, source, title or source.noun, angle, lead, voice, own=number > 0)
        found = _write(draft, entries, texts, used)
        used.update(found.subjects)
        texts.append(found.text)
    return texts


def _write(
    draft: _Draft, entries: Sequence[BankEntry], texts: Sequence[str], used: Collection[str]
) -> FilledScript:
    length, rules = draft.order.duration_seconds, draft.make_rules(used)
    found = fill_script(entries, draft.ends(), length, rules, lead=draft.lead, unlike=texts)
    if found.fits or not draft.lead:
        return found
    if not draft.own:
        # A hook on something missing in the script misleads; the provocation makes room for it.
        bare = replace(draft, bare=True)
        second = fill_script(entries, bare.ends(), length, rules, lead=draft.lead, unlike=texts)
        return second if second.fits else found
    # No room for both the lead and new facts: the lead is named and the new facts are told.
    others = [entry for entry in entries if entry.subject not in used]
    aside = fill_script(others, replace(draft, aside=True).ends(), length, rules, unlike=texts)
    return aside if aside.fits else found


_SLOT = re.compile(r"\{(\w+)\}")


class _Voice:
    """A style of speech: a symbol's templates in an order that the seed decides."""

    def __init__(self, rules: Mapping[str, Sequence[str]], rng: random.Random) -> None:
        self._rules = {symbol: rng.sample(lines, len(lines)) for symbol, lines in rules.items()}

    def say(self, symbol: str, **slots: str) -> list[str]:
        # Every sentence of a symbol with all its slots given, the preferred one first.
        lines = (line for line in self._rules[symbol] if set(_SLOT.findall(line)) <= set(slots))
        filled = (_SLOT.sub(lambda slot: slots[slot[1]], line) for line in lines)
        return [line[:1].upper() + line[1:] for line in filled]


@dataclass(frozen=True, slots=True)
class _Draft:
    """A script in progress: all its possible beginnings and ends."""

    order: ScriptOrder
    source: Bank
    title: str
    angle: str
    lead: BankEntry | None
    voice: _Voice
    own: bool  # avoids the obvious way that another script took
    aside: bool = False  # names its lead and tells of something else
    bare: bool = False  # without provocation

    def make_rules(self, used: Collection[str]) -> EntryRules:
        lines = self.voice.say("bridge")
        if self.order.duration_seconds <= _BRIEF_SECONDS:
            # Prefer those that leave a short script time for its content.
            short = sorted(lines, key=seconds)[:_SHORTEST_BRIDGES]
            lines = [line for line in lines if line in short]
        return EntryRules(
            naming=self.voice.say("bridge_to", subject="{subject}"),
            plain=lines,
            whole=self.source.manner == "stories",
            brief=self._is_brief(),
            stale=used,
            rate=self.order.rate,
        )

    def ends(self) -> list[Ends]:
        combinations = product(self._hooks(), self._names(), self._frames(), self._closings())
        # An aside introduces the next part, so it must directly precede it.
        return [
            Ends(
                opening=hook + (frame + name if self.aside else name + frame),
                closing=closing,
                cost=a + b + c + d,
            )
            for (hook, a), (name, b), (frame, c), (closing, d) in combinations
        ]

    def _hooks(self) -> list[_Choice]:
        if not self.order.use_hook:
            return [_NOTHING]
        if self.angle:
            # A part of a short angle has another meaning.
            cut = self._cut(strip_directive(self.angle), hook_sentence)
            return cut if seconds(cut[0][0][0]) > _SHORT_SECONDS else cut[:1]
        if self.aside or not self.lead:
            return _choices(self.voice.say("hook"))
        hooks = _choices(self.voice.say("hook", subject=self.lead.subject))
        return [((self.lead.hook,), 0.8 if self.own else -0.3), *hooks]

    def _names(self) -> list[_Choice]:
        # A script about its lead names the title anyway.
        if self.aside and self.lead:
            # The hook was about the lead, so the lead has to be named.
            aside = "aside_hooked" if self.order.use_hook and self.angle else "aside"
            return _choices(self.voice.say(aside, subject=self.lead.subject))
        names_lead = self.lead and stems(self.title) <= stems(self.lead.subject)
        has_hook = self.order.use_hook
        if self.lead and (names_lead or has_hook or not self._is_brief() or self._is_tight()):
            return [_NOTHING]
        plain = self.title.rstrip(".!")
        first, *cuts = self._cut(plain, sentence)
        is_question = self.title.endswith("?")
        lines = [first] if is_question else _choices(self.voice.say("line", title=plain))
        if self.lead:  # the other script on it begins with the lead at once
            return [_NOTHING, *((line, cost - 1.5) for line, cost in lines)]
        if covers(self.order.topic, _relevant_text(self.title, self.angle)):
            return [*lines, *cuts]
        # A turn to what the bank has, if it has nothing on the title.
        turn = self.voice.say("pivot")
        turned = [((*a, turn[n % len(turn)]), cost - 0.6) for n, (a, cost) in enumerate(lines)]
        return [*turned, *lines, *cuts]

    def _is_brief(self) -> bool:
        return self.own and self.order.duration_seconds <= _BRIEF_SECONDS

    def _is_tight(self) -> bool:
        tight = self.own and self.order.duration_seconds <= _TIGHT_SECONDS
        return tight and bool(self.lead) and self.source.manner != "stories"

    def _frames(self) -> list[_Choice]:
        if not self._provokes():
            return [_NOTHING]
        # Some only make sense after a claim.
        after = self.voice.say("frame_hooked") if self.order.use_hook else []
        return _choices([*self.voice.say("frame"), *after])

    def _provokes(self) -> bool:
        return self.order.use_ragebait and not self.bare

    def _closings(self) -> list[_Choice]:
        if not self.order.use_cta:
            close = [((), 0.3), *_choices(self.voice.say("close"))]
            return [_NOTHING] if self._is_tight() else close
        calls = _choices(self.voice.say("cta", noun=self.source.noun))
        sharp = _choices(self.voice.say("cta_frame")) if self._provokes() else []
        both = [((*a, *b), cost + more) for (a, cost), (b, more) in zip(sharp, calls, strict=False)]
        return [*both, *calls]

    def _cut(self, phrase: str, to_sentence: Callable[[str], str]) -> list[_Choice]:
        longest = min(self.order.duration_seconds / 2.5, _LONG_SECONDS)
        limits = sorted({longest, 4.0, 2.6, 1.7, 1.2}, reverse=True)
        cuts = (to_sentence(shorten(phrase, limit, rate=self.order.rate)) for limit in limits)
        whole = to_sentence(phrase)
        shorter = [cut for cut in dict.fromkeys(cuts) if seconds(cut) < seconds(whole)]
        penalty = max(0.0, seconds(whole, rate=self.order.rate) - _LONG_SECONDS) / 2
        return [((whole,), penalty), *(((cut,), 3.0 + 0.8 * n) for n, cut in enumerate(shorter))]


def _relevant_text(title: str, angle: str) -> str:
    # The words that decide the relevance; only the beginning of a long hook angle.
    return f"{title} {shorten(strip_directive(angle), _LONG_SECONDS / 2)}"


def _choices(lines: Sequence[str]) -> list[_Choice]:
    return [((line,), 0.15 * number) for number, line in enumerate(lines)]
