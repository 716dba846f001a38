"""A studio of our own service."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.client.settings import Settings
from kit.studio import Studio
from tests.conftest import Service


@pytest.fixture
def studio(service: Service, key: str, tmp_path: Path) -> Iterator[Studio]:
    settings = Settings(service.url, key, data=tmp_path / "notebook", progress=False)
    with Studio(settings) as studio:
        yield studio
