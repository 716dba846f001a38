"""Fixtures: a clean environment, plug-ins, databases, the service, an account, a key, a client."""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import settings as hypothesis_settings
from traitlets.config import Config

#: For a shell: its history would be written at exit, when its folder is already deleted.
NO_HISTORY = Config({"HistoryManager": {"enabled": False}})
# The plug-ins of the tests are found as installed ones are; see also the fixture `plugins`.
PLUGINS = str(Path(__file__).parent / "plugins")
sys.path.insert(0, PLUGINS)

from kit.service import server, settings  # noqa: E402 - after the environment is clean
from kit.service.databases import open_database, with_database  # noqa: E402
from kit.service.domain import accounts, keys  # noqa: E402
from kit.service.domain.credits import grant  # noqa: E402
from kit.service.http.context import Context  # noqa: E402
from kit.service.machine import clock  # noqa: E402
from kit.service.settings import ServiceSettings  # noqa: E402
from kit.service.store import Database  # noqa: E402
from kit.service.store.database import Transaction  # noqa: E402
from kit.service.store.statements import Statement, Step  # noqa: E402
from tests import buckets  # noqa: E402
from tests.postgresql import empty, serve  # noqa: E402

# No deadline: a busy machine must not fail a test.
hypothesis_settings.register_profile("kit", deadline=None)
hypothesis_settings.load_profile("kit")

s3_server, storage_settings = buckets.s3_server, buckets.storage_settings
failing_proxy = buckets.failing_proxy

#: Runs a test on each database.
both_databases = pytest.mark.parametrize("database_url", ["sqlite", "postgresql"], indirect=True)
ALL_SCOPES = ("scripts:generate", "creative:generate")


@pytest.fixture(autouse=True)
def plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let render processes find the plug-ins too; the kernels of the notebooks do not."""
    monkeypatch.setenv("PYTHONPATH", PLUGINS, prepend=os.pathsep)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The URL of a database with the newest schema, on a server that stops after the tests."""
    with serve() as url:
        yield url


@pytest.fixture
def empty_postgresql(postgresql: str) -> str:
    """The same database, emptied for one test."""
    empty(postgresql)
    return postgresql


@pytest.fixture(params=["sqlite", "postgresql"])
def either_database(request: pytest.FixtureRequest) -> str:
    """The URL of an empty database of each kind; for SQLite it is the empty string."""
    return "" if request.param == "sqlite" else str(request.getfixturevalue("empty_postgresql"))


@pytest.fixture
def database_url(request: pytest.FixtureRequest) -> str:
    """The database URL of a test; tests that run on both databases use `either_database`."""
    server = getattr(request, "param", "sqlite") == "postgresql"
    return str(request.getfixturevalue("empty_postgresql")) if server else ""


@pytest.fixture
def config(tmp_path: Path, database_url: str) -> ServiceSettings:
    """Settings of a service on an empty folder, without an environment."""
    return settings.load({}, data=tmp_path / "data", workers=1, database_url=database_url)


def fetch(step: Step) -> Transaction[list[Any]]:
    """Return a transaction of one step that returns all its rows."""
    return (yield step)


def sql(text: str, **values: Any) -> Transaction[list[Any]]:
    """Return a transaction of one SQL statement that the service does not define."""
    return fetch(Statement({"": text})(**values))


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    """An event loop for a test without one."""
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture
def database(config: ServiceSettings, runner: asyncio.Runner) -> Iterator[Database]:
    """A new database."""
    database = open_database(config)
    yield database
    runner.run(database.close())


def write_alone(given: ServiceSettings, work: Transaction[Any]) -> Any:
    """Run a transaction on a database connection of its own, as another process would."""
    return run_coroutine(with_database(given, lambda database: database.write(work)))


@dataclass(frozen=True)
class Service:
    """A running service with access to its context and database."""

    url: str
    context: Context
    settings: ServiceSettings
    stop: Callable[[], None]

    def account(self, credits: float = 100, name: str = "Ada") -> str:
        """Create an account with some credits and return its id."""
        work = accounts.create(name, "ada@example.org", round(credits * 1000), clock())
        return str(self.write(work).id)

    def grant(self, account: str, credits: int) -> None:
        """Grant credits to an account."""
        self.write(grant(account, credits * 1000, clock()))

    def key(self, account: str, *scopes: str, **options: Any) -> str:
        """Create a key and return its text."""
        request = keys.KeyRequest(account_id=account, name="test", scopes=scopes, **options)
        return str(self.write(keys.create(request, self.settings.secret(), clock())).text)

    def write(self, work: Transaction[Any]) -> Any:
        """Run a transaction as another process would."""
        return write_alone(self.settings, work)

    def client(self, key: str | None, **headers: str) -> httpx.Client:
        """Return a plain HTTP client."""
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        # Nothing here is encrypted, and loading certificates takes longer than most tests.
        return httpx.Client(base_url=self.url, headers=headers, timeout=30, verify=False)


@pytest.fixture
def start_service(
    config: ServiceSettings, storage_settings: dict[str, Any]
) -> Iterator[Callable[..., Service]]:
    """Start services with other settings; they stop at the end of the test."""
    running = []

    def start(**changed: Any) -> Service:
        standard = {"data": config.data, "database_url": config.database_url, "workers": 1}
        given = settings.load({}, **{**standard, **storage_settings, **changed})
        one = server.start(given)
        running.append(one)
        return Service(one.url, one.app.state.context, given, one.stop)

    yield start
    for one in running:
        one.stop()


@pytest.fixture
def service(start_service: Callable[..., Service]) -> Service:
    """A running service with one worker, on SQLite and local files."""
    return start_service()


@pytest.fixture(scope="module")
def lasting_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One service for all tests of a module, which overrides the fixture `service` with it."""
    given = settings.load({}, data=tmp_path_factory.mktemp("service") / "data", workers=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", PLUGINS, prepend=os.pathsep)
        one = server.start(given)
        yield Service(one.url, one.app.state.context, given, one.stop)
    one.stop()


@pytest.fixture
def account(service: Service) -> str:
    """An account with 100 credits."""
    return service.account()


@pytest.fixture
def key(service: Service, account: str) -> str:
    """A key of that account with every scope."""
    return service.key(account, *ALL_SCOPES)


@pytest.fixture
def http(service: Service, key: str) -> Iterator[httpx.Client]:
    """A plain HTTP client with that key."""
    with service.client(key) as client:
        yield client


def run_coroutine(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine from a test that has no event loop."""
    return asyncio.run(work)
