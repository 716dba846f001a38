"""Every statement is valid, reads by an index, and is called with its parameters."""

import ast
import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

import kit
from kit.service import store
from kit.service.domain.generations import VERSION
from kit.service.store import generations, ledger
from kit.service.store.sqlite import SQLite
from kit.service.store.sqlite.file import NAME, open_connection
from kit.service.store.statements import Statement, Statements, merge

NOUNS = {noun: it for noun, it in vars(store).items() if isinstance(it, Statements)}
NAMED = {f"{noun}.{name}": it for noun, found in NOUNS.items() for name, it in vars(found).items()}
#: Runs that a page is merged from, by their number.
RUNS = {
    f"generations.run{which} x {count}, {columns}": merge(
        NAMED[f"generations.run{which}"],
        [{"state": "s", "asset_type": "t"} if which else {}] * count,
        columns,
    ).statement
    for columns in ("*", VERSION)
    for which, counts in {"": (1,), "_of_state": (1, 2, 4, 5, 10), "_of_model": (1, 10)}.items()
    for count in counts
}
STATEMENTS = {**NAMED, **RUNS}
OWNED = (
    *("generations", "idempotency", "keys", "ledger", "scripts", "tags", "titles", "uploads"),
    *("webhooks", "deliveries"),
)
#: Statements that read whole tables; no request runs them.
WHOLE = {
    "accounts.all",
    "keys.all",
    *(f"ledger.{name}" for name in ("unbalanced", "broken", "mischarged", "unfounded")),
    "removals.some",
}
#: Indexes on rows that are not finished; SPANS are the bounded parts within statements.
QUEUE = {"generations_queued", "generations_running", "idempotency_running", "uploads_waiting"} | {
    "deliveries_due",
    "deliveries_pending",
}
SPANS = {"span", "newest", "ROW", "found", "waiting"}
#: Statements that are not about one account: the queue, the sweeper, the ledger, the estimates;
#: and those that find a key by its secret, rows that were checked with their account before, or the
#: count that a signed URL is checked with.
OF_ALL = {
    "accounts.of_file",
    *(
        f"generations.{name}"
        for name in ("claim", "renew", "report", "complete", "fail", "hand_back", "result")
    ),
    *(f"generations.{name}" for name in ("lost", "held", "owners", "counts")),
    *(f"generations.{name}" for name in ("with_output", "recent_charges", "oldest")),
    "generations.delete_outputs",
    *(
        f"keys.{name}"
        for name in ("all", "by_digest", "find", "revoke", "touch", "spend", "unspend")
    ),
    *(f"webhooks.{name}" for name in ("next", "claim", "settle", "recall", "prune")),
    *(f"webhooks.{name}" for name in ("disable", "remove", "remove_deliveries", "fail")),
    *(f"webhooks.{name}" for name in ("prune_requests", "resend", "counts", "pending")),
    *(f"ledger.{name}" for name in ("sums", "unbalanced", "broken", "mischarged", "unfounded")),
    *(
        f"uploads.{name}"
        for name in ("find", "fill", "use", "with_file", "stale", "expired", "old", "remove")
    ),
    *(f"idempotency.{name}" for name in ("prune", "abandoned", "disowned", "owners")),
}
PARAMETER = re.compile(r":(\w+)")


def parameter_names(statement: Statement) -> set[str]:
    return {
        name for where in statement.databases for name in PARAMETER.findall(statement.text(where))
    }


def test_each_statement_has_a_comment() -> None:
    for noun in NOUNS:
        text = (Path(store.__file__).parent / f"{noun}.sql").read_text()
        assert len(re.findall(r"^-- name: .+\n-- [A-Z].+$", text, re.M)) == text.count("-- name: ")


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_on_what_accounts_own_names_the_account(name: str) -> None:
    text = STATEMENTS[name].text(NAME)
    owned = any(re.search(rf"\b(FROM|INTO|UPDATE) {table}\b", text) for table in OWNED)

    assert (":account_id" in text) == (owned and name not in OF_ALL), text
    if name in RUNS:
        assert text.count("FROM generations") == text.count("account_id = :account_id\n") + (
            text.count("account_id = :account_id AND")
        )


class Calls(ast.NodeVisitor):
    """The statements that a module uses, and the values that it calls them with."""

    def __init__(self, tree: ast.AST) -> None:
        self.names: set[str] = set()
        self.calls: list[tuple[str, set[str], bool]] = []
        self._nouns: dict[str, str] = {}
        self.visit(tree)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.module == store.__name__:
            self._nouns |= {it.asname or it.name: it.name for it in node.names if it.name in NOUNS}

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.value, ast.Name) and node.value.id in self._nouns:
            self.names.add(f"{self._nouns[node.value.id]}.{node.attr}")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        func = node.func
        of_name = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name)
        if of_name and (noun := self._nouns.get(func.value.id)):
            given = {it.arg for it in node.keywords if it.arg}
            whole = all(it.arg for it in node.keywords)
            self.calls.append((f"{noun}.{func.attr}", given, whole))
        self.generic_visit(node)


@pytest.fixture(scope="module")
def modules() -> list[Calls]:
    paths = Path(kit.__file__).parent.rglob("*.py")
    return [Calls(ast.parse(path.read_text(encoding="utf-8"))) for path in paths]


def test_statements_are_called_with_exactly_their_parameters(modules: list[Calls]) -> None:
    calls = [call for module in modules for call in module.calls]

    assert len(calls) > 60
    for name, given, whole in calls:
        expected = parameter_names(NAMED[name])
        assert given == expected if whole else given < expected, name


def test_every_statement_is_used(modules: list[Calls]) -> None:
    named = {name for module in modules for name in module.names}

    assert named == {name for name in NAMED if not re.search(r"\.run(_of|$)", name)}


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[apsw.Connection]:
    """A connection to an empty database."""
    path: Path = tmp_path_factory.mktemp("plans") / "kit.db"
    asyncio.run(SQLite(path).close())
    connection = open_connection(path)
    yield connection
    connection.close()


def plan(connection: apsw.Connection, statement: Statement) -> list[str]:
    """Return how the database would run a statement."""
    text = statement.text(NAME)
    rows = connection.execute(
        f"EXPLAIN QUERY PLAN {text}", dict.fromkeys(PARAMETER.findall(text), 1)
    )
    return [str(row[3]) for row in rows]


# Inserts are left out: their plans contain the check of foreign keys.
@pytest.mark.parametrize("name", [name for name in STATEMENTS if not name.endswith(".add")])
def test_a_statement_reads_by_an_index(connection: apsw.Connection, name: str) -> None:
    scanned = [step for step in plan(connection, STATEMENTS[name]) if step.startswith("SCAN ")]

    # Waiting and running rows are sometimes read as a whole, by an index of their own.
    assert name in WHOLE or [it for it in scanned if it.split()[-1] not in QUEUE | SPANS] == []


def test_a_page_needs_no_sorting(connection: apsw.Connection) -> None:
    pages = {**RUNS, **{name: it for name, it in NAMED.items() if name.endswith(".page")}}
    for name, statement in pages.items():
        steps = plan(connection, statement)
        assert not [step for step in steps if "TEMP B-TREE" in step], name
        # Each run is one of its index, and no row that the page leaves out is read.
        expected = "asset_type=? AND id>? AND id<?)" if "_of_" in name else ""
        assert all(expected in step for step in steps if "INDEX" in step), name


@pytest.mark.parametrize("name", ["broken", "mischarged", "unfounded"])
def test_the_ledger_is_read_once_and_not_again_for_each_row(
    connection: apsw.Connection, name: str
) -> None:
    steps = plan(connection, getattr(ledger, name))

    again = [step for step in steps if step.startswith(("SEARCH ledger", "SEARCH generations"))]
    assert [step for step in again if "(id=?)" not in step] == []


def test_claiming_uses_the_index_of_queued_generations(connection: apsw.Connection) -> None:
    steps = plan(connection, generations.claim)

    # From the front of the index on, and only claimed rows are read.
    assert "SCAN generations USING COVERING INDEX generations_queued" in steps
    assert not [step for step in steps if "TEMP B-TREE" in step]
    assert any("generations_running" in step for step in plan(connection, generations.lost))


def test_a_round_of_the_queue_is_found_by_four_reads_of_an_index(
    connection: apsw.Connection,
) -> None:
    reads = [step for step in plan(connection, generations.rounds) if "INDEX" in step]
    by_type = "(account_id=? AND state=? AND asset_type=?)"

    assert reads == [
        "SCAN generations USING COVERING INDEX generations_queued",
        "SEARCH generations USING INDEX generations_by_account (account_id=?)",
        *["SEARCH generations USING INDEX generations_by_state " + by_type] * 2,
    ]
    assert not [step for step in plan(connection, generations.rounds) if "TEMP B-TREE" in step]


@pytest.mark.parametrize(
    "name", ["generations.claim", "generations.rounds", "generations.run x 1, *"]
)
def test_a_statement_is_prepared_once_for_all_values(
    connection: apsw.Connection, name: str
) -> None:
    text = STATEMENTS[name].text(NAME)
    prepared: list[int] = []

    def note(*_: object) -> int:  # called for each part of a statement while it is prepared
        prepared.append(number)
        return apsw.SQLITE_OK

    connection.authorizer = note
    for number in range(5):
        connection.execute(text, dict.fromkeys(PARAMETER.findall(text), number)).fetchall()
    connection.authorizer = None

    assert {*prepared} == {0}
