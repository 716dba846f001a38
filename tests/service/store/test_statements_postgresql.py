"""The same statements on PostgreSQL: all are valid, and growing tables are read by an index."""

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import asyncpg
import pytest

from kit.service.domain import generations
from kit.service.store.postgresql import NAME, SESSION
from kit.service.store.statements import Statement
from tests.postgresql import TABLES, serve
from tests.service.store.test_statements import PARAMETER, QUEUE, STATEMENTS, WHOLE

T = TypeVar("T")
#: An account with 40,000 generations and nineteen with a thousand; rare values are the oldest.
_ROWS = """
INSERT INTO accounts SELECT 'acc_' || n, '', '', 0, 0, 0, 0, 0, 0 FROM generate_series(1, 20) AS n;
INSERT INTO generations (id, account_id, key_id, state, asset_type, generation_type, model_id,
    model_name, prompt, parameters, media, seed, millicredits, refunded, progress, attempt, losses,
    queue_round, created_at, updated_at)
SELECT 'gen_' || lpad(n::text, 9, '0'), 'acc_' || greatest(n % 60 - 39, 1), '',
    CASE WHEN n < 3000 THEN 'failed' ELSE 'completed' END,
    (ARRAY['image', 'video'])[n / 60 % 2 + 1], '',
    CASE WHEN n < 2000 THEN 'model-1' ELSE 'model-2' END, '', '', '', '',
    0, 0, 0, 0, 1, 0, 0, n, n
FROM generate_series(1, 60000) AS n;
INSERT INTO tags (account_id, tag, generation_id)
SELECT account_id, CASE WHEN id < 'gen_000002000' THEN 'a=rare' ELSE 'a=usual' END, id
FROM generations;
INSERT INTO ledger (id, account_id, kind, subject, millicredits, balance_after, generation_id,
    created_at, charged_after, refunded_after)
SELECT 'led_' || id, account_id, 'generation', id, 0, 0, id, 1, 0, 0 FROM generations;
ANALYZE;
"""
_TYPES = "SELECT parameter_types::text[] FROM pg_prepared_statements WHERE name = 'explained'"
#: Blocks that a page may read; the table has more than a thousand.
MOST_BLOCKS = 300


@pytest.fixture(scope="module", params=[16, 18])
def on_history(
    request: pytest.FixtureRequest,
) -> Iterator[Callable[[Callable[[Any], Awaitable[T]]], T]]:
    """Run a function on a connection to a database with a history, of a version of PostgreSQL."""

    async def work(url: str, look: Callable[[Any], Awaitable[Any]]) -> Any:
        connection = await asyncpg.connect(url, server_settings=SESSION)
        try:
            return await look(connection)
        finally:
            await connection.close()

    with serve(request.param) as url:
        asyncio.run(work(url, lambda connection: connection.execute(_ROWS)))
        yield lambda look: asyncio.run(work(url, look))


async def explain(
    connection: Any, statement: Statement, values: dict[str, Any] | None = None, how: str = ""
) -> dict[str, Any]:
    """Return how the database runs a statement with some values, or with any."""
    text, names = statement.text(NAME), []
    for name in PARAMETER.findall(text):
        names += [name] if name not in names else []
    numbered = PARAMETER.sub(lambda it: f"${names.index(it[1]) + 1}", text)
    await connection.execute(f"PREPARE explained AS {numbered}")
    kinds = await connection.fetchval(_TYPES)
    if values is None:
        values = {
            name: "x" if kind == "text" else 1 for name, kind in zip(names, kinds, strict=True)
        }
    literals = ", ".join(f"'{values[name]}'" for name in names)
    ((plan,),) = await connection.fetch(
        f"EXPLAIN (FORMAT JSON{how}) EXECUTE explained" + (f"({literals})" if names else "")
    )
    await connection.execute("DEALLOCATE explained")
    found: dict[str, Any] = json.loads(plan)[0]["Plan"]
    return found


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from nodes(part)


def test_every_statement_is_valid_and_reads_by_an_index(
    on_history: Callable[[Any], dict[str, Any]],
) -> None:
    async def plans(connection: Any) -> dict[str, Any]:
        # Otherwise a sequential scan of an empty table is the fastest.
        await connection.execute("SET enable_seqscan = off")
        return {name: await explain(connection, it) for name, it in STATEMENTS.items()}

    for name, plan in on_history(plans).items():
        for node in nodes(plan) if name not in WHOLE else ():
            grows = node.get("Relation Name") in TABLES
            assert node["Node Type"] != "Seq Scan" or not grows, (name, node)
            whole = node.get("Index Name", "generations_queued") in QUEUE
            assert whole or "Index Cond" in node, (name, node)


def test_no_check_of_the_ledger_compares_each_row_with_each(
    on_history: Callable[[Any], list[Any]],
) -> None:
    async def plans(connection: Any) -> list[Any]:
        return [
            await explain(connection, STATEMENTS[f"ledger.{name}"])
            for name in ("unbalanced", "broken", "mischarged", "unfounded")
        ]

    for plan in on_history(plans):
        assert "Nested Loop" not in {node["Node Type"] for node in nodes(plan)}


def test_a_page_with_any_filter_reads_few_blocks(on_history: Callable[[Any], list[Any]]) -> None:
    filters = {
        "state": (None, "processing", "completed", "failed"),
        "asset_type": (None, "image"),
        "model": (None, "model-1", "none"),
        "after": (None, "gen_000050000"),
        "until": ((), ("gen_000030000",)),
        "whole": (True, False),
    }

    every = [dict(zip(filters, it, strict=True)) for it in itertools.product(*filters.values())]
    tagged = ("a=rare", "a=usual", "a=none")
    every += [{"tag": tag, "until": until} for tag in tagged for until in filters["until"]]

    async def blocks(connection: Any) -> list[tuple[int, dict[str, Any]]]:
        found = []
        for given in every:
            step = next(generations.page("acc_1", most=51, **given))
            plan = await explain(connection, step.statement, step.values, ", ANALYZE, BUFFERS")
            found.append((plan["Shared Hit Blocks"] + plan["Shared Read Blocks"], given))
        return found

    found = on_history(blocks)
    assert len(found) == 198
    for number, given in found:
        assert number <= MOST_BLOCKS, given


def test_claiming_reads_the_front_of_the_queue(on_history: Callable[[Any], dict[str, Any]]) -> None:
    async def plan(connection: Any) -> dict[str, Any]:
        await connection.execute("SET enable_seqscan = off")
        return await explain(connection, STATEMENTS["generations.claim"])

    found = [*nodes(on_history(plan))]

    assert "Sort" not in {node["Node Type"] for node in found}
    assert {node["Index Name"] for node in found if "Index Name" in node} == {
        "generations_queued",
        "generations_pkey",
    }
    assert "LockRows" in {node["Node Type"] for node in found}
