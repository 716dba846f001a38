"""One service on each database for all tests of the contract; each test has an account."""

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
    """Each database."""
    return str(request.param)


@pytest.fixture(scope="session")
def service(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, database_kind: str
) -> Iterator[Service]:
    """A running service with one worker; see also `tests.buckets.any_service`."""
    with ExitStack() as stack:
        url = ""
        if database_kind == "postgresql":
            server_url = request.getfixturevalue("postgresql")
            url = stack.enter_context(new_database(server_url, "contract"))
            asyncio.run(migrate_database(settings.load({}, database_url=url)))
        data = tmp_path_factory.mktemp("contract") / "data"
        storage = requested_storage(request)
        service_settings = settings.load({}, data=data, workers=1, database_url=url, **storage)
        with pytest.MonkeyPatch.context() as patch:  # a render process starts with it
            patch.setenv("PYTHONPATH", PLUGINS, prepend=os.pathsep)
            one = server.start(service_settings)
        yield Service(one.url, one.app.state.context, service_settings, one.stop)
        one.stop()


@pytest.fixture(scope="session")
def guest(service: Service) -> Iterator[httpx.Client]:
    """A client without an API key."""
    with service.client(None) as client:
        client.follow_redirects = True  # URLs of files in a bucket redirect there
        yield client
