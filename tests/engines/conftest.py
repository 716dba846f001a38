import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import features

from tests.engines.rendering import make_library

#: Whether letters that run from right to left can be drawn here.
SHAPED = features.check_feature("raqm")
NOT_SHAPED = "the library FriBiDi is missing"


def pytest_runtest_setup(item: pytest.Function) -> None:
    given = repr(item.callspec.params) if hasattr(item, "callspec") else ""
    if not SHAPED and any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in given):
        pytest.skip(NOT_SHAPED)


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Small pictures, clips and sounds by name, each created once; see `rendering.FILES`."""
    return make_library(tmp_path_factory.mktemp("files"))
