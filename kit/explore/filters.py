"""Which generations are asked for: one choice as a query of the API, as SQL and as a filter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, tzinfo
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from kit.errors import BadRequestError
from kit.parameters import suggest

if TYPE_CHECKING:
    import pyarrow as pa

#: A moment as it may be given: an ISO 8601 text, a date or a time; without a zone it is UTC.
Moment: TypeAlias = str | date | datetime
#: One value, or several of which any will do.
Words: TypeAlias = str | Sequence[str]

#: What the query of a list calls the choices that have shorter names here.
_ALIASES = {"created_after": "since", "created_before": "until", "model_id": "model"}
#: What a status can be, whatever a service calls it. Source: contract, "Generations".
STATES = ("processing", "completed", "failed", "canceled")
ASSET_TYPES = ("image", "video")
#: Rows of a page where many are looked through.
PAGE = 1000
_COLUMNS = {"status": "status", "model": "model_id", "asset_type": "asset_type"}


class LongNames(TypedDict, total=False):
    """Filters under the names that the query of a list has for them."""

    model_id: str | None
    created_after: Moment | None
    created_before: Moment | None


class ListFilters(LongNames, total=False):
    """What may be asked of a list. Source: contract, "Generations"."""

    status: str | None
    asset_type: str | None


class Filters(LongNames, total=False):
    """What may be asked of a history: those of `HistoryFilter`."""

    since: Moment | None
    until: Moment | None
    status: Words | None
    model: Words | None
    asset_type: Words | None


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """A choice of generations; what is None or empty does not matter.

    Parameters
    ----------
    since, until : datetime or None
        Made at or after, made before.
    status, model, asset_type : sequence of str
        Any of these.

    Examples
    --------
    >>> parse_filter(since="2026-01-02", status="failed").where
    'where created_at >= ? and list_contains(?, status)'
    """

    since: datetime | None = None
    until: datetime | None = None
    status: Sequence[str] = ()
    model: Sequence[str] = ()
    asset_type: Sequence[str] = ()

    @property
    def where(self) -> str:
        """The condition of a query; `values` fill its question marks."""
        texts = [
            *(["created_at >= ?"] if self.since else []),
            *(["created_at < ?"] if self.until else []),
            *(f"list_contains(?, {column})" for column, _ in self._words()),
        ]
        return f"where {' and '.join(texts)}" if texts else ""

    @property
    def values(self) -> list[Any]:
        """The values of `where`, in its order."""
        times = [moment for moment in (self.since, self.until) if moment]
        return [*times, *(list(words) for _, words in self._words())]

    def query(self, limit: int | None) -> dict[str, Any]:
        """Return the query of a list; one of several words is for `matching`, in long pages."""
        found: dict[str, Any] = {column: words[0] for column, words in self._words() if _one(words)}
        times = {"created_after": self.since, "created_before": self.until}
        found |= {name: moment for name, moment in times.items() if moment}
        several = any(not _one(words) for _, words in self._words())
        return {**found, "limit": PAGE if several else page_size(limit)}

    def passed(self, table: pa.Table) -> bool:
        """Return whether a page, newest first, has come to rows that are too old."""
        last = table["created_at"][-1].as_py() if table.num_rows else None
        return self.since is not None and last is not None and last < self.since

    def matching(self, table: pa.Table) -> pa.Table:
        """Return the rows that are meant, for services that do not know the query."""
        import pyarrow as pa
        import pyarrow.compute as pc

        for column, words in self._words():
            table = table.filter(pc.is_in(table[column], value_set=pa.array(words, pa.string())))
        kind = table.schema.field("created_at").type
        if self.since:
            table = table.filter(pc.greater_equal(table["created_at"], pa.scalar(self.since, kind)))
        if self.until:
            table = table.filter(pc.less(table["created_at"], pa.scalar(self.until, kind)))
        return table

    def _words(self) -> list[tuple[str, list[str]]]:
        found = [(column, list(getattr(self, name))) for name, column in _COLUMNS.items()]
        return [(column, words) for column, words in found if words]


def parse_filter(*, zone: tzinfo = UTC, **choices: Any) -> HistoryFilter:
    """Return a choice of generations from how it was typed; see `HistoryFilter`.

    Parameters
    ----------
    zone : tzinfo
        Of moments without one.

    Raises
    ------
    BadRequestError
        A moment is none, or there is no such status.
    TypeError
        There is no such choice.
    """
    named = {_ALIASES.get(name, name): value for name, value in choices.items()}
    for name in named:
        if name not in HistoryFilter.__slots__:
            known = [*HistoryFilter.__slots__, *_ALIASES]
            raise TypeError(f"there is no filter {name!r}{suggest(name, known)}")
    unknown = sorted(set(_words(named.get("status") or ())) - set(STATES))
    if unknown:
        raise BadRequestError(f"there is no status {unknown[0]!r}{suggest(unknown[0], STATES)}")
    given: dict[str, Any] = {
        name: _moment(value, zone) if name in ("since", "until") else _words(value)
        for name, value in named.items()
        if value is not None
    }
    return HistoryFilter(**given)


def list_query(limit: int | None, filters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the query of a list; the default limit is not sent, services without one refuse it."""
    for name in filters:
        if name not in ListFilters.__optional_keys__:
            raise TypeError(
                f"there is no filter {name!r}{suggest(name, ListFilters.__optional_keys__)}"
            )
    return {**filters, "limit": page_size(limit)}


def page_size(limit: int | None) -> int | None:
    """Return how long a page is to be; the default is not sent, some services refuse it."""
    return None if limit == 50 else min(limit or PAGE, PAGE)


def check_words(column: str, asked: Sequence[str], known: Iterable[str | None]) -> None:
    """Refuse words of a filter that are not known.

    Raises
    ------
    BadRequestError
        With the closest name.

    Examples
    --------
    >>> check_words("model_id", ["scene"], ["scene", "drift"])
    """
    names = sorted({*filter(None, known), *(ASSET_TYPES if column == "asset_type" else ())})
    for word in asked:
        if word not in names:
            what = "model" if column == "model_id" else "asset type"
            raise BadRequestError(f"there is no {what} {word!r}{suggest(word, names)}")


def _one(words: Sequence[str]) -> bool:
    return len(words) == 1


def _words(value: Words) -> Sequence[str]:
    return (value,) if isinstance(value, str) else tuple(value)


def _moment(value: Moment, zone: tzinfo) -> datetime:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise BadRequestError(f"not an ISO 8601 date or time: {value!r}") from None
    if not isinstance(value, datetime):
        value = datetime.combine(value, time())
    return value.replace(tzinfo=zone) if value.tzinfo is None else value
