"""One service on each database for all tests of the contract; each test has its own account."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest

from kit.service import server, settings
from kit.service.databases import migrate_database
from tests.buckets import requested_storage
from tests.conftest import PLUGINS, Service
from tests.postgresql import new_database


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def database_kind(request: pytest.FixtureRequest) -> str:
    """Each."""
    return str(request.param)


@pytest.fixture(scope="session")
def service(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, database_kind: str
) -> Iterator[Service]:
    """A running service with one worker; see also `tests.buckets.any_service`."""
    with ExitStack() as ends:
        url = ""
        if database_kind == "postgresql":
            server_url = request.getfixturevalue("postgresql")
            url = ends.enter_context(new_database(server_url, "contract"))
            asyncio.run(migrate_database(settings.load({}, database_url=url)))
        data = tmp_path_factory.mktemp("contract") / "data"
        storage = requested_storage(request)
        given = settings.load({}, data=data, workers=1, database_url=url, **storage)
        with pytest.MonkeyPatch.context() as patch:  # a render process starts with it
            patch.setenv("PYTHONPATH", PLUGINS, prepend=os.pathsep)
            one = server.start(given)
        yield Service(one.url, one.app.state.context, given, one.stop)
        one.stop()


@pytest.fixture(scope="session")
def anyone(service: Service) -> Iterator[httpx.Client]:
    """Somebody without a key."""
    with service.client(None) as client:
        client.follow_redirects = True  # where files lie in a bucket, an address leads there
        yield client
