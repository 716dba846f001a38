"""Every statement compiles everywhere, and those on the hot paths use an index."""

import asyncio
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from sqlalchemy.dialects import postgresql

from kit.service.store.database import Query
from kit.service.store.prepared import MODULES, load_statements
from kit.service.store.sqlite import SQLite, dialect
from kit.service.store.sqlite.file import open_connection
from kit.service.store.tables import metadata

generations, ledger = load_statements("generations"), load_statements("ledger")
NAMED = {
    f"{module}.{name}": value
    for module in MODULES
    for name, value in vars(load_statements(module)).items()
    if isinstance(value, Query)
}
PAGES = {
    f"generations.page({'+'.join(chosen)}, {whole})": generations.page(
        frozenset(chosen), whole=whole
    )
    for size in range(5)
    for chosen in itertools.combinations(generations.FILTERS, size)
    for whole in (True, False)
}
LEDGER = {
    f"{module}.page({before})": load_statements(module).page(before=before)
    for module in ("audit", "ledger")
    for before in (True, False)
}
STATEMENTS = {**NAMED, **PAGES, **LEDGER}
OWNED = [table for table in metadata.sorted_tables if "account_id" in table.c]
#: Whole tables are what these are about; nobody runs them for a request.
WHOLE = {
    "accounts.ALL",
    "keys.ALL",
    "ledger.UNBALANCED",
    "ledger.BROKEN",
    "ledger.MISCHARGED",
    "ledger.UNFOUNDED",
    "removals.SOME",
    "audit.page(False)",
}
#: Indexes on rows that are not finished, and what a statement calls its own bounded part.
QUEUE = {
    "generations_queued",
    "generations_running",
    "idempotency_running",
    "uploads_waiting",
}
SPANS = {"anon_1", "newest", "ROW"}


#: Statements that are not about one account: the queue, the sweeper, the books and the estimates;
#: and those that find a key by its secret, what was looked at with its account before, or the count
#: that a signed address is checked with.
OF_ALL = {
    *(f"accounts.{name}" for name in ("OF_GENERATION", "OF_UPLOAD")),
    *(
        f"generations.{name}"
        for name in ("CLAIM", "CLAIM_OTHERS", "RENEW", "REPORT", "COMPLETE", "FAIL", "RETURN")
    ),
    "generations.RESULT",
    *(f"generations.{name}" for name in ("LOST", "HELD", "OWNERS", "QUEUED", "RUNNING")),
    *(f"generations.{name}" for name in ("WITH_OUTPUT", "RECENT_CHARGES", "OLDEST")),
    *(f"generations.{name}" for name in ("DELETE_OUTPUTS", "DELETED")),
    *(
        f"keys.{name}"
        for name in ("ALL", "BY_DIGEST", "FIND", "REVOKE", "TOUCH", "SPEND", "UNSPEND")
    ),
    *(f"ledger.{name}" for name in ("SUMS", "UNBALANCED", "BROKEN")),
    *(f"ledger.{name}" for name in ("MISCHARGED", "UNFOUNDED")),
    *(
        f"uploads.{name}"
        for name in ("FIND", "FILL", "USE", "WITH_FILE", "STALE", "EXPIRED", "OLD", "REMOVE")
    ),
    *(f"idempotency.{name}" for name in ("PRUNE", "ABANDONED", "DISOWNED", "OWNERS")),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_on_what_accounts_own_names_the_account(name: str) -> None:
    text = str(STATEMENTS[name].compiled("sqlite", dialect).text)
    owned = any(re.search(rf"\b{table.name}\b", text) for table in OWNED)
    bound = re.search(r"\baccount_id = :account\b", text) or ":account_id" in text

    assert bool(bound) == (owned and name not in OF_ALL), text
    if name in PAGES:  # which may be merged from several selects
        assert text.count("FROM generations") == text.count("account_id = :account")


@pytest.mark.parametrize("query", STATEMENTS.values(), ids=STATEMENTS.keys())
def test_a_statement_compiles_for_both_databases(query: Query) -> None:
    assert query.compiled("sqlite", dialect).text
    assert query.compiled("postgresql", lambda: postgresql.dialect(paramstyle="named")).text


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[apsw.Connection]:
    """A connection to an empty database."""
    path: Path = tmp_path_factory.mktemp("plans") / "kit.db"
    asyncio.run(SQLite(path).close())
    connection = open_connection(path)
    yield connection
    connection.close()


def plan(connection: apsw.Connection, query: Query) -> list[str]:
    """Return how the database would run a statement."""
    compiled = query.compiled("sqlite", dialect)
    values = {**dict.fromkeys(re.findall(r":(\w+)", compiled.text), 1), **compiled.constants}
    rows = connection.execute(f"EXPLAIN QUERY PLAN {compiled.text}", values)
    return [str(row[3]) for row in rows]


@pytest.mark.parametrize(
    "name", [name for name in STATEMENTS if name not in WHOLE and not name.endswith("ADD")]
)
def test_a_statement_reads_by_an_index(connection: apsw.Connection, name: str) -> None:
    scanned = [step for step in plan(connection, STATEMENTS[name]) if step.startswith("SCAN ")]

    # What waits or runs is read as a whole now and then; it has an index of its own.
    assert [step for step in scanned if step.split()[-1] not in QUEUE | SPANS] == []


def test_a_page_needs_no_sorting(connection: apsw.Connection) -> None:
    for name, query in {**PAGES, **LEDGER}.items():
        assert not [step for step in plan(connection, query) if "TEMP B-TREE" in step], name


@pytest.mark.parametrize("name", ["BROKEN", "MISCHARGED", "UNFOUNDED"])
def test_the_books_are_read_once_and_not_anew_for_each_row(
    connection: apsw.Connection, name: str
) -> None:
    steps = plan(connection, getattr(ledger, name))

    again = [step for step in steps if step.startswith(("SEARCH ledger", "SEARCH generations"))]
    assert [step for step in again if "(id=?)" not in step] == []


def test_claiming_uses_the_index_of_what_waits(connection: apsw.Connection) -> None:
    for query in (generations.CLAIM, generations.CLAIM_OTHERS):
        steps = plan(connection, query)

        # From the front of the index on, and no row is looked at that is not taken.
        assert "SCAN generations USING COVERING INDEX generations_queued" in steps
        assert not [step for step in steps if "TEMP B-TREE" in step]
    assert any("generations_running" in step for step in plan(connection, generations.LOST))


def test_a_round_of_the_queue_is_found_by_three_reads_of_an_index(
    connection: apsw.Connection,
) -> None:
    reads = [step for step in plan(connection, generations.ROUNDS) if "INDEX" in step]
    by_type = "(account_id=? AND state=? AND asset_type=?)"

    assert reads == [
        "SCAN waiting USING COVERING INDEX generations_queued",
        *["SEARCH generations USING INDEX generations_by_state " + by_type] * 2,
    ]
    assert not [step for step in plan(connection, generations.ROUNDS) if "TEMP B-TREE" in step]


@pytest.mark.parametrize("name", ["CLAIM", "ROUNDS", "page"])
def test_a_statement_is_prepared_once_whatever_is_bound_to_it(
    connection: apsw.Connection, name: str
) -> None:
    query = generations.page(frozenset()) if name == "page" else getattr(generations, name)
    compiled = query.compiled("sqlite", dialect)
    prepared: list[int] = []

    def note(*_: Any) -> int:  # asked of each part of a statement while it is prepared
        prepared.append(number)
        return apsw.SQLITE_OK

    connection.authorizer = note
    for number in range(5):
        values = dict.fromkeys(re.findall(r":(\w+)", compiled.text), number)
        connection.execute(compiled.text, {**values, **compiled.constants}).fetchall()
    connection.authorizer = None

    assert {*prepared} == {0}
