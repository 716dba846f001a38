"""A form, and what stands behind it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

from kit.widgets.form import Form
from tests.conftest import NO_HISTORY
from tests.widgets.forming import Shop, Stage, model


@pytest.fixture
def shell() -> Iterator[None]:
    """A shell to display in."""
    InteractiveShell.instance(config=NO_HISTORY)
    yield
    InteractiveShell.clear_instance()


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


@pytest.fixture
def form(stage: Stage, shop: Shop) -> Form:
    form = Form(model(), {"prompt": "a lake"}, service=shop, background=stage.background)
    stage.run()
    return form
