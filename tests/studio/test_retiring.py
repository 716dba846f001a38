"""Retiring models: one warning that names the replacement, and headers of answers."""

import logging
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest

import kit
from kit.engines.base import Definition, model_of
from kit.studio import Studio
from kit.wire import Rule
from tests.conftest import Service

SENTENCE = "the model 'poster' is available until 2027-01-01; 'scene-fast' replaces it, for "


@pytest.fixture
def retiring(service: Service) -> Service:
    """A service whose model `poster` is replaced by another at the end of the year."""
    models: Any = service.context.catalog.models
    change = {"retires_at": datetime(2027, 1, 1, tzinfo=UTC), "replaced_by": "scene-fast"}
    models["poster"] = models["poster"].model_copy(update=change)
    return service


@pytest.fixture
def ours(retiring: Service, key: str, tmp_path: Path) -> Iterator[Studio]:
    with kit.connect(retiring.url, key, data=tmp_path / "client") as studio:
        yield studio


def test_an_engine_declares_its_retirement() -> None:
    moment = datetime(2027, 1, 1, tzinfo=UTC)
    definition = Definition(
        id="old",
        title="Old",
        asset_type="image",
        category="Fast",
        description="",
        pricing=Rule(base=Decimal("0.1")),
        retires_at=moment,
        replaced_by="new",
    )

    model = model_of(definition)

    assert (model.retires_at, model.replaced_by) == (moment, "new")


def test_answers_warn_of_retiring_models_in_headers(retiring: Service, http: httpx.Client) -> None:
    path = "/v1/creative-studio"
    body = {"modelId": "poster", "prompt": "a lake"}

    shown = http.get(f"{path}/models/poster")
    started = http.post(f"{path}/generations", json=body)
    other = http.get(f"{path}/models/scene")

    assert shown.json()["retiresAt"] == "2027-01-01T00:00:00.000Z"
    assert shown.json()["replacedBy"] == "scene-fast"
    for answer in (shown, started):
        assert answer.headers["deprecation"] == "@1798761600"
        assert answer.headers["sunset"] == "Fri, 01 Jan 2027 00:00:00 GMT"
    assert "sunset" not in other.headers


def test_a_retiring_model_is_warned_of_once(ours: Studio, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "kit"):
        ours.estimate("poster", "a lake")
        ours.sweep("poster", "a lake", seed=[1, 2])
        form = ours.form("poster")
        ours.estimate("scene", "a lake")

    assert [record.getMessage()[: len(SENTENCE)] for record in caplog.records] == [SENTENCE]
    assert caplog.records[0].getMessage().endswith("credits at its defaults")
    assert "'scene-fast' replaces it" in form.model.description


def test_presets_of_retired_models_open_in_the_replacement(retiring: Service, ours: Studio) -> None:
    presets = ours.form("poster").presets
    assert presets is not None
    presets["dusk"] = {"prompt": "a lake at dusk", "parameters": {}}

    retiring.context.catalog.models.pop("poster")  # it is retired now
    ours.models.refresh()
    others = ours.form("scene-fast").presets

    assert others is not None
    assert others["dusk"]["prompt"] == "a lake at dusk"
