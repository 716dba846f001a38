"""One service for all tests of the contract; each test has its own account."""

from collections.abc import Iterator

import httpx
import pytest

from kit.service import server, settings
from tests.buckets import requested_storage
from tests.conftest import Service


@pytest.fixture(scope="session")
def service(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    """A running service with one worker; see also `tests.buckets.any_service`."""
    data = tmp_path_factory.mktemp("contract") / "data"
    given = settings.load({}, data=data, workers=1, **requested_storage(request))
    one = server.start(given)
    yield Service(one.url, one.app.state.context, given, one.stop)
    one.stop()


@pytest.fixture(scope="session")
def anyone(service: Service) -> Iterator[httpx.Client]:
    """Somebody without a key."""
    with service.client(None) as client:
        client.follow_redirects = True  # where files lie in a bucket, an address leads there
        yield client
