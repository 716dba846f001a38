"""Fixtures: an account, its payer, a queued generation."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kit.engines.registry import list_engines
from kit.service import settings
from kit.service.databases import open_database
from kit.service.domain import accounts, catalog, generations
from kit.service.domain.catalog import Catalog
from kit.service.domain.credits import Payer
from kit.service.store import Database
from kit.service.store.database import Transaction
from kit.wire import StartGeneration
from tests.postgresql import empty

NOW = 1_700_000_000_000
Write = Callable[[Transaction[Any]], Any]


@pytest.fixture
def database_url(either_database: str) -> str:
    """Each test of the domain runs on both databases."""
    return either_database


def open_empty(folder: Path, url: str) -> Database:
    """Return an empty database: a server's, or one of its own in a folder."""
    if url:
        empty(url)
    return open_database(settings.load({}, data=folder, database_url=url))


@pytest.fixture
def write(database: Database, runner: asyncio.Runner) -> Write:
    """Run a transaction."""
    return lambda work: runner.run(database.write(work))


@pytest.fixture
def payer(write: Write) -> Payer:
    """The payer of an account with ten credits, without a key."""
    return Payer(write(accounts.create("Ada", "ada@example.org", 10_000, NOW)).id)


@pytest.fixture(scope="session")
def offered() -> Catalog:
    """The catalog of the installed engines."""
    return catalog.load(engine.definition for engine in list_engines().values())


@pytest.fixture
def queue_up(write: Write, payer: Payer, offered: Catalog) -> Callable[..., str]:
    """Start a generation of `flat` and return its id."""

    def start(now: int = NOW, **other: Any) -> str:
        order = StartGeneration(**{"model_id": "flat", "prompt": "x", **other})

        def work() -> Transaction[str]:
            plan = yield from generations.plan(offered, order, payer.account_id)
            row = yield from generations.start(plan, payer, now)
            return str(row.id)

        return str(write(work()))

    return start
