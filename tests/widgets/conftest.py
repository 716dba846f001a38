"""A form with a fake service and a clock that the test controls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

from kit.widgets.form import Form
from tests.conftest import NO_HISTORY
from tests.widgets.forms import Api, Clock, model


@pytest.fixture
def shell() -> Iterator[None]:
    """An IPython shell that displays the widgets."""
    InteractiveShell.instance(config=NO_HISTORY)
    yield
    InteractiveShell.clear_instance()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def api(tmp_path: Path) -> Api:
    return Api(tmp_path)


@pytest.fixture
def form(clock: Clock, api: Api) -> Form:
    form = Form(model(), {"prompt": "a lake"}, service=api, background=clock.background)
    clock.run()
    return form
