from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engines.rendering import library


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Small pictures, clips and sounds by name, each made once; see `rendering.FILES`."""
    return library(tmp_path_factory.mktemp("files"))
