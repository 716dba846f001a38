"""Named SQL: statements are written by hand in the ``.sql`` files of this folder.

::

    -- name: find
    -- One generation of an account.
    SELECT * FROM generations WHERE id = :id AND account_id = :account_id

Each has a name, a sentence and ``:name`` parameters. Where the databases spell one differently,
``-- name: claim (postgresql)`` heads that database's own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

_FOLDER = Path(__file__).parent
_HEAD = re.compile(r"^-- name: (\w+)(?: \((\w+)\))?$", re.MULTILINE)
_COMMENT = re.compile(r"^--.*\n", re.MULTILINE)


class Statement:
    """A statement that is called with its values."""

    __slots__ = ("_texts",)

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def __call__(self, **values: Any) -> Step:
        """Return the step that runs this statement with these values."""
        return Step(self, values)

    def text(self, database: str) -> str:
        """Return the SQL for a database."""
        return self._texts.get(database) or self._texts[""]

    @property
    def databases(self) -> Sequence[str]:
        """The databases that have a text of their own, and "" where the others have one."""
        return [*self._texts]


class Step(NamedTuple):
    """A statement and its values, as a transaction yields it."""

    statement: Statement
    values: dict[str, Any]


class Statements:
    """The statements of a file by their names."""

    def __init__(self, noun: str) -> None:
        _, *parts = _HEAD.split((_FOLDER / f"{noun}.sql").read_text(encoding="utf-8"))
        texts: dict[str, dict[str, str]] = {}
        for name, database, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            texts.setdefault(name, {})[database or ""] = _COMMENT.sub("", text).strip()
        vars(self).update({name: Statement(found) for name, found in texts.items()})

    def __getattr__(self, name: str) -> Statement:
        raise AttributeError(f"there is no statement {name!r}")


def merge(
    run: Statement, runs: Sequence[Mapping[str, Any]], columns: str = "*", **values: Any
) -> Step:
    """Return the step for the first `most` rows of several runs of an index, newest first.

    One select reads some columns of each run in the order of its ids, and the database merges them.
    So a page costs the same however many rows there are that it leaves out.

    Examples
    --------
    >>> run = Statement({"": "SELECT id FROM t WHERE kind = :kind AND id > :after"})
    >>> step = merge(run, [{"kind": "a"}, {"kind": "b"}], after="x", most=3)
    >>> print(step.statement.text("sqlite"))
    SELECT id FROM t WHERE kind = :kind_0 AND id > :after
    UNION ALL
    SELECT id FROM t WHERE kind = :kind_1 AND id > :after
    ORDER BY id DESC LIMIT :most
    >>> step.values
    {'after': 'x', 'most': 3, 'kind_0': 'a', 'kind_1': 'b'}
    """
    own = {f"{name}_{place}": one[name] for place, one in enumerate(runs) for name in one}
    return Step(_merge_statements(run, len(runs), tuple(runs[0]), columns), {**values, **own})


@cache
def _merge_statements(run: Statement, count: int, own: Sequence[str], columns: str) -> Statement:
    names = re.compile(rf":({'|'.join(own) or '(?!)'})\b")

    def merge_text(text: str) -> str:
        text = text.replace("SELECT *", f"SELECT {columns}")
        selects = [names.sub(rf":\g<1>_{place}", text) for place in range(count)]
        if "LIMIT" in text:
            if count == 1:
                return selects[0]
            selects = [f"({select})" for select in selects]
        return "\nUNION ALL\n".join(selects) + "\nORDER BY id DESC LIMIT :most"

    return Statement({database: merge_text(run.text(database)) for database in run.databases})
