"""Filters of generations: as a query of the API, as SQL, and as a Python predicate."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from kit.errors import BadRequestError, ConfigError, show_own_lines
from kit.explore.frames import pointer
from kit.parameters import suggest

if TYPE_CHECKING:
    from kit import wire

#: A point in time: an ISO 8601 text, which may be a month, date or time, or a date object; without
#: a zone it is in the `timezone` of the filter.
Moment: TypeAlias = str | date | datetime
#: Tags to match: ``campaign=winter``, several such texts, or a mapping.
Tags: TypeAlias = str | Sequence[str] | Mapping[str, str]
#: One value, or several of which any matches.
Words: TypeAlias = str | Sequence[str]

#: Names of filters in the API -> shorter names here.
_ALIASES = {"created_after": "since", "created_before": "until", "model_id": "model"}
#: All states, whatever words a service uses. Source: contract, "Generations".
STATES = ("processing", "completed", "failed", "canceled")
ASSET_TYPES = ("image", "video")
#: Rows per page if many are searched.
PAGE = 1000
_DEFAULT_LIMIT = 50
_MONTH_TEXT = re.compile(r"\d{4}-\d\d")
_COLUMNS = {"status": "status", "model": "model_id", "asset_type": "asset_type"}


class LongNames(TypedDict, total=False):
    """Filters with the names used by the API."""

    model_id: str | None
    created_after: Moment | None
    created_before: Moment | None


class Filters(LongNames, total=False):
    """The filters of a history; see `HistoryFilter`."""

    since: Moment | None
    until: Moment | None
    status: Words | None
    model: Words | None
    asset_type: Words | None
    tag: Tags | None
    timezone: str


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """A filter of generations; fields that are None or empty match all.

    `since`, `until`: created at or after, and before.
    `status`, `model`, `asset_type`: any of these values.
    `tag`: keys and values of tags, all of which have to match.
    """

    since: datetime | None = None
    until: datetime | None = None
    status: Sequence[str] = ()
    model: Sequence[str] = ()
    asset_type: Sequence[str] = ()
    tag: Sequence[tuple[str, str]] = ()

    def __post_init__(self) -> None:
        if self.since and self.until and self.since.timestamp() > self.until.timestamp():
            sentence = f"since must be before until, and {self.since} is after {self.until}"
            raise BadRequestError(sentence)

    @property
    def where(self) -> str:
        """The condition of a query; `values` replace its question marks."""
        texts = [
            *(["created_at >= ?"] if self.since else []),
            *(["created_at < ?"] if self.until else []),
            *(f"list_contains(?, {column})" for column, _ in self._words()),
            *("json_extract_string(tags, ?) = ?" for _ in self.tag),
        ]
        return f"where {' and '.join(texts)}" if texts else ""

    @property
    def values(self) -> list[Any]:
        """The values of `where`, in its order."""
        times = [moment for moment in (self.since, self.until) if moment]
        tags = [text for key, value in self.tag for text in (pointer(key), value)]
        return [*times, *(list(words) for _, words in self._words()), *tags]

    def query(self, limit: int | None, *, tags: bool = True) -> dict[str, Any]:
        """Return the query of a list; pages are large if some filtering is left to `matches`.

        That is the case for several words or tags, words next to a tag, and all tags if the service
        keeps none. The default page size is not sent, as some services refuse it.
        """
        words = self._words()
        found: dict[str, Any] = {column: texts[0] for column, texts in words if len(texts) == 1}
        local = len(found) < len(words)
        if self.tag:
            local = local or bool(words) or len(self.tag) > 1 or not tags
            found = {"tag": dict(self.tag[:1])} if tags else found
        times = {"created_after": self.since, "created_before": self.until}
        found |= {name: moment for name, moment in times.items() if moment}
        size = PAGE if local or limit is None else min(limit, PAGE)
        return {**found, "limit": None if size == _DEFAULT_LIMIT else size}

    def is_older(self, one: wire.Generation) -> bool:
        """Return whether a generation is too old, and thus all after it in a list."""
        created_at = one.created_at
        return self.since is not None and created_at is not None and created_at < self.since

    def matches(self, one: wire.Generation, tags: Mapping[str, str]) -> bool:
        """Return whether a generation with these tags matches, for services that filter less."""
        created_at = one.created_at
        facts = {"status": one.state, "model_id": one.model_id, "asset_type": one.asset_type}
        return (
            all(facts[column] in words for column, words in self._words())
            and dict(self.tag).items() <= tags.items()
            and (self.since is None or (created_at is not None and created_at >= self.since))
            and (self.until is None or (created_at is not None and created_at < self.until))
        )

    def _words(self) -> list[tuple[str, list[str]]]:
        found = [(column, list(getattr(self, name))) for name, column in _COLUMNS.items()]
        return [(column, words) for column, words in found if words]


#: Matches all generations.
ALL = HistoryFilter()


def parse_filter(*, timezone: str = "UTC", **choices: Any) -> HistoryFilter:
    """Parse filters given as keyword arguments; see `HistoryFilter`.

    `timezone`: time zone of moments without one.

    Raises `BadRequestError` for an invalid value, `ConfigError` for an unknown time zone, and
    `TypeError` for an unknown filter.
    """
    named = {_ALIASES.get(name, name): value for name, value in choices.items()}
    for name in named:
        if name not in HistoryFilter.__slots__:
            known = [*HistoryFilter.__slots__, *_ALIASES]
            raise show_own_lines(TypeError(f"there is no filter {name!r}{suggest(name, known)}"))
    if unknown := sorted(set(_words(named.get("status") or ())) - set(STATES)):
        raise BadRequestError(f"there is no status {unknown[0]!r}{suggest(unknown[0], STATES)}")
    moment = partial(_moment, zone=find_timezone(timezone))
    readers: dict[str, Callable[[Any], Any]] = {"since": moment, "until": moment, "tag": _tags}
    given: dict[str, Any] = {
        name: readers.get(name, _words)(value) for name, value in named.items() if value is not None
    }
    return HistoryFilter(**given)


def find_timezone(name: str) -> ZoneInfo:
    """Return the time zone with a name."""
    try:
        return ZoneInfo(str(name))  # zones may also be objects of pandas or Python
    except (ZoneInfoNotFoundError, ValueError, OSError):
        close = get_close_matches(str(name)[:40], available_timezones(), cutoff=0.4) or ["UTC"]
        hint = " or ".join(map(repr, close))
        raise ConfigError(f"there is no time zone {name!r}; did you mean {hint}?") from None


def check_words(column: str, words: Sequence[str], known: Iterable[str | None]) -> None:
    """Raise an error if a filter has unknown words.

    Raises `BadRequestError` with the closest name.
    """
    names = sorted({*filter(None, known), *(ASSET_TYPES if column == "asset_type" else ())})
    for word in words:
        if word not in names:
            what = "model" if column == "model_id" else "asset type"
            raise BadRequestError(f"there is no {what} {word!r}{suggest(word, names)}")


def _words(value: Words) -> Sequence[str]:
    return (value,) if isinstance(value, str) else tuple(value)


def _tags(value: Tags) -> Sequence[tuple[str, str]]:
    """Return tags to match, from a mapping or from texts such as ``campaign=winter``."""
    if isinstance(value, Mapping):
        found = [(str(key), str(each)) for key, each in value.items()]
    else:
        found = [(key, each) for key, _, each in (text.partition("=") for text in _words(value))]
    for key, each in found:
        if not key or not each:
            raise BadRequestError(
                "a tag filter is written as 'campaign=winter' or {'campaign': 'winter'}"
            )
    return tuple(found)


def _moment(value: Moment, zone: ZoneInfo) -> datetime:
    found: datetime | None
    try:
        text = f"{value}-01" if _MONTH_TEXT.fullmatch(str(value)) else value
        day = datetime.fromisoformat(text) if isinstance(text, str) else text
        found = day if isinstance(day, datetime) else datetime.combine(day, time())
    except (TypeError, ValueError):
        found = None
    if found is None or found != found:  # such as NaT of pandas, which is a datetime
        raise BadRequestError(f"not an ISO 8601 date or time, as '2026-11-28': {value!r}")
    return found.replace(tzinfo=zone) if found.tzinfo is None else found
