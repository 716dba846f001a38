"""Prompt templates: a text with choices, which expands to many prompts.

The syntax is that of dynamic prompts: ``{red|blue}`` is one of them, ``{2$$fog|rain|snow}`` two,
joined by commas, ``{1-2$$ and $$fog|rain}`` one or two, joined by `` and ``, and ``__place__`` one
of a named list. A backslash escapes a brace.
"""

from __future__ import annotations

import itertools
import math
import random
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kit.errors import ConfigError
from kit.parameters import check_count
from kit.private import user_path

if TYPE_CHECKING:
    import pandas as pd

#: Prefix of the columns of choices.
CHOICE = "choice."
#: Limits: listed prompts, ways to pick from a list, levels of nested choices, and characters of a
#: template.
MAX_PROMPTS, _WAYS, _MAX_DEPTH, _MAX_CHARACTERS = 10_000, 10_000, 8, 20_000
_MARK = re.compile(r"\\([{}|\\_])|(\{)|(\})|(\|)|__([A-Za-z][\w-]{0,63}?)__")
_COUNT = re.compile(r"(\d{1,3})(?:-(\d{1,3}))?\$\$(?:([^${}|]{0,20})\$\$)?")


class PromptVariant(str):
    """A prompt with the choices made for it."""

    __slots__ = ("choices",)
    choices: Mapping[str, str]


class UnknownListError(ConfigError):
    """A template refers to an unknown list."""


@dataclass(frozen=True, slots=True)
class _Sequence:
    parts: Sequence[str | _PromptChoice | _Sequence]

    @property
    def count(self) -> int:
        return math.prod(1 if isinstance(part, str) else part.count for part in self.parts)

    def split(self, number: int) -> list[str]:
        """Return the text of each part for a combination; the last part varies fastest."""
        found = []
        for part in reversed(self.parts):
            if isinstance(part, str):
                found.append(part)
            else:
                number, index = divmod(number, part.count)
                found.append(part.text_at(index))
        return found[::-1]

    def text_at(self, number: int) -> str:
        return "".join(self.split(number))


@dataclass(frozen=True, slots=True)
class _PromptChoice:
    """One or more of several options, with all ways to pick them in order."""

    name: str
    ways: Sequence[_Sequence]
    separator: str = ", "

    @property
    def count(self) -> int:
        return sum(way.count for way in self.ways)

    def text_at(self, number: int) -> str:
        for way in self.ways:
            if number < way.count:
                return self.separator.join(way.split(number))
            number -= way.count
        raise IndexError(number)


class PromptTemplate:
    """The prompts of a template: all of them, or a random sample.

    Pass it to a sweep as its prompt, or its `frame` to `generate_many`: the results have the
    choices as columns ``choice.NAME``.

    Examples
    --------
    >>> barns = template("a {red|blue} barn in {fog|rain}")
    >>> len(barns), list(barns)[0], list(barns)[0].choices
    (4, 'a red barn in fog', {'1': 'red', '2': 'fog'})
    """

    def __init__(self, text: str, parts: _Sequence) -> None:
        self.text, self._parts = text, parts

    def __len__(self) -> int:
        return self._parts.count

    def __iter__(self) -> Iterator[PromptVariant]:
        if len(self) > MAX_PROMPTS:
            raise ConfigError(
                f"this template has {len(self):,} prompts, at most {MAX_PROMPTS:,} are listed; "
                ".sample(100) draws a hundred of them"
            )
        return map(self._prompt_at, range(len(self)))

    def sample(self, count: int, seed: int = 0) -> list[PromptVariant]:
        """Return a random sample of its prompts; the same for the same seed."""
        count = check_count("count", count, 1)
        rng, size = random.Random(seed), len(self)  # noqa: S311 - no secret
        if count >= size:
            return list(self)
        if size <= MAX_PROMPTS:
            return [self._prompt_at(number) for number in sorted(rng.sample(range(size), count))]
        picked: dict[int, None] = {}
        while len(picked) < min(count, MAX_PROMPTS):  # duplicates are rare among so many
            picked[rng.randrange(size)] = None
        return [self._prompt_at(number) for number in sorted(picked)]

    def frame(self, count: int | None = None, seed: int = 0) -> pd.DataFrame:
        """Return its prompts, or a random sample, as a dataframe with their choices."""
        import pandas as pd

        found = list(self) if count is None else self.sample(count, seed)
        return pd.DataFrame({"prompt": pd.Series(found, dtype=object), **choice_columns(found)})

    def __repr__(self) -> str:
        return f"<PromptTemplate {self.text!r} · {len(self):,} prompts>"

    def _prompt_at(self, number: int) -> PromptVariant:
        texts = self._parts.split(number)
        found = PromptVariant(" ".join("".join(texts).split()))
        pairs = zip(self._parts.parts, texts, strict=True)
        found.choices = {part.name: text for part, text in pairs if isinstance(part, _PromptChoice)}
        return found


def choice_columns(prompts: Sequence[object]) -> dict[str, list[str | None]]:
    """Return the choices of each prompt of a template, by column."""
    chosen = [prompt.choices if isinstance(prompt, PromptVariant) else {} for prompt in prompts]
    names = dict.fromkeys(name for choices in chosen for name in choices)
    return {f"{CHOICE}{name}": [choices.get(name) for choices in chosen] for name in names}


def template(text: str, folder: Path | str | None = None, **lists: Iterable[str]) -> PromptTemplate:
    """Return the prompts of a template, which is a text with choices.

    ``__place__`` is a named list: ``place=[...]``, or the lines of ``place.txt`` in a `folder`.
    Raises `ConfigError` if a brace is not closed, or a list is unknown.

    Examples
    --------
    >>> lakes = template("a lake in __season__, {2$$fog|rain|snow}", season=["spring", "autumn"])
    >>> len(lakes), lakes.sample(2, seed=1)
    (6, ['a lake in spring, fog, snow', 'a lake in autumn, fog, snow'])
    """
    if not isinstance(text, str) or len(text) > _MAX_CHARACTERS:
        raise ConfigError(f"a template is a text of at most {_MAX_CHARACTERS:,} characters")
    parts = _Reader(text, {name: list(found) for name, found in lists.items()}, folder).read()
    if parts.count > sys.maxsize:
        raise ConfigError("the template has more prompts than can be counted")
    return PromptTemplate(text, parts)


class _Reader:
    def __init__(
        self, text: str, lists: Mapping[str, Sequence[str]], folder: Path | str | None
    ) -> None:
        self._text, self._lists, self._folder = text, lists, folder
        self._position = self._choices = 0

    def read(self) -> _Sequence:
        parts = self._sequence(0)
        if self._position < len(self._text):
            raise ConfigError("the template closes a brace that was never opened; \\} is a brace")
        return parts

    def _sequence(self, depth: int) -> _Sequence:
        """Parse up to the end of an option, or of the text."""
        parts: list[str | _PromptChoice] = []
        while True:
            found = _MARK.search(self._text, self._position)
            end = found.start() if found else len(self._text)
            parts.append(self._text[self._position : end])
            self._position = end
            if not found:
                return _Sequence(parts)
            escaped, opened, closed, bar, name = found.groups()
            if (closed or bar) and (depth or closed):
                return _Sequence(parts)
            self._position = found.end()
            if opened:
                parts.append(self._choice(depth + 1))
            elif name:
                parts.append(_PromptChoice(name, [_Sequence([one]) for one in self._list(name)]))
            else:
                parts.append(escaped or bar)

    def _choice(self, depth: int) -> _PromptChoice:
        if depth > _MAX_DEPTH:
            raise ConfigError(f"a template has at most {_MAX_DEPTH} levels of choices in choices")
        self._choices += depth == 1
        name, low, high, separator = str(self._choices), 1, 1, ", "
        if found := _COUNT.match(self._text, self._position):
            low = int(found[1])
            high, separator = int(found[2] or low), found[3] if found[3] is not None else ", "
            self._position = found.end()
        options = [self._sequence(depth)]
        while self._text[self._position : self._position + 1] == "|":
            self._position += 1
            options.append(self._sequence(depth))
        if self._text[self._position : self._position + 1] != "}":
            raise ConfigError("the template opens a brace that is never closed; \\{ is a brace")
        self._position += 1
        if not low <= high <= len(options):
            raise ConfigError(f"{{{low}-{high}$$...}} picks more than its {len(options)} options")
        sizes = range(low, high + 1)
        if sum(math.comb(len(options), size) for size in sizes) > _WAYS:
            raise ConfigError(f"there are over {_WAYS:,} ways to pick of {len(options)} options")
        ways = (way for size in sizes for way in itertools.combinations(options, size))
        return _PromptChoice(name, [_Sequence(way) for way in ways], separator)

    def _list(self, name: str) -> Sequence[str]:
        if name in self._lists:
            found = [str(one) for one in self._lists[name]]
        else:
            path = user_path(self._folder or ".") / f"{name}.txt"
            if self._folder is None or not path.is_file():
                raise UnknownListError(
                    f"there is no list {name!r}: give it as {name}=[...], or a folder with "
                    f"{name}.txt"
                )
            lines = path.read_text("utf-8").splitlines()
            found = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
        if not found or len(found) > MAX_PROMPTS:
            raise ConfigError(
                f"the list {name!r} has {len(found):,} entries, not 1 to {MAX_PROMPTS:,}"
            )
        return found
