from __future__ import annotations

import pytest

from kit.errors import NotFoundError
from kit.studio.catalog import Models
from kit.wire import Model, Parameter

POSTER = Model(id="poster", setting_parameters=[Parameter(name="size", type="integer")])


@pytest.fixture
def models() -> Models:
    return Models({"poster": POSTER, "drift": Model(id="drift")}, fetch_again=lambda: None)


def test_models_are_a_mapping(models: Models) -> None:
    assert list(models) == ["poster", "drift"]
    assert models["poster"] is POSTER
    assert "poster" in models
    assert "nope" not in models
    assert models.get("nope") is None


def test_an_unknown_model_is_a_key_error_with_a_suggestion(models: Models) -> None:
    with pytest.raises(KeyError) as caught:
        _ = models["posterr"]

    assert isinstance(caught.value, NotFoundError)
    assert str(caught.value) == "there is no model 'posterr'; did you mean 'poster'?"


def test_models_are_displayed_as_a_table(models: Models) -> None:
    assert repr(models) == "<Models poster, drift>"
    assert "<b>poster</b>" in models._repr_html_()


def test_models_convert_to_data_frames(models: Models) -> None:
    assert models.frame().index.tolist() == ["poster", "drift"]
    assert models.parameters_frame()["name"].tolist() == ["size"]
