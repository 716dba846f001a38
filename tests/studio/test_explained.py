"""The terms of a generation's price, at a service with pricing rules."""

from __future__ import annotations

from typing import Any

import pytest

from kit.studio import Studio
from tests.client.third_party import MODELS, Answer, Server

RULE = {
    "base": 0.1,
    "units": [{"parameter": "steps", "credits": 0.01}],
    "multipliers": [{"parameter": "style", "values": {"ink": 2}}],
}


@pytest.fixture
def priced(api: Server) -> Server:
    api.script(
        "GET",
        "/v1/creative-studio/models",
        Answer(200, {"image": [{**MODELS[0], "pricing": RULE}]}),
    )
    return api


@pytest.mark.parametrize(
    ("parameters", "terms"),
    [
        ({"steps": 10, "style": "ink"}, ["base", "unit", "multiplier"]),
        ({"style": "oil"}, ["base", "unit"]),  # with the usual number of steps
        (None, ["base", "unit"]),
        ({"steps": 10, "vendor": [1]}, ["base", "unit"]),
        ({"steps": "many"}, []),
        ({"steps": 5000}, []),
        ({"style": "fresco"}, []),
    ],
)
def test_settings_that_are_no_longer_valid_are_not_priced(
    studio: Studio, priced: Server, parameters: Any, terms: list[str]
) -> None:
    facts = {"id": "g", "modelId": "paint", "status": "done", "parameters": parameters}
    priced.script("GET", "/v1/creative-studio/generations/g", Answer(200, facts))

    frame = studio.costs.explain("g")

    assert frame["term"].tolist() == [*terms, "charged"]


def test_omitted_parameters_are_priced_at_their_defaults(studio: Studio, priced: Server) -> None:
    facts = {"id": "g", "modelId": "paint", "status": "done", "parameters": {"style": "ink"}}
    priced.script("GET", "/v1/creative-studio/generations/g", Answer(200, facts))

    frame = studio.costs.explain("g").set_index("term")

    assert frame.loc["unit", "credits"] == pytest.approx(20 * 0.01)
    assert frame.loc["multiplier", "credits"] == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("prompt", "given", "sentence"),
    [
        ("a lake", {"steps": 51}, "parameters.steps: must be at most 50, not 51"),
        ("a lake", {"steps": "5"}, "parameters.steps: must be a whole number, not '5'"),
        ("a lake", {"style": "fresco"}, "parameters.style: must be one of 'oil', 'ink'"),
        ("a lake", {"stile": "ink"}, "did you mean 'style'"),
        (None, {}, "prompt: is required and may not be blank"),
    ],
)
def test_an_invalid_request_has_no_estimate(
    studio: Studio, priced: Server, prompt: str | None, given: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(Exception, match=sentence) as estimated:
        studio.estimate("paint", prompt, **given)
    with pytest.raises(Exception, match=sentence) as started:
        studio.start("paint", prompt, **given)

    assert str(estimated.value) == str(started.value)
    assert not priced.requests("POST")


def test_a_request_without_its_medium_has_no_estimate(studio: Studio, api: Server) -> None:
    with pytest.raises(Exception, match=r"mediaUploads\.picture: is required"):
        studio.estimate("retouch")
    assert not api.requests("POST")
