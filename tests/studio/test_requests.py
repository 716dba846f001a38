"""What a request may hold: settings of any name, and media that were made here before."""

from __future__ import annotations

from typing import Any

import pytest

from kit.errors import BadRequestError, InvalidApiKeyError, NoAnswerError, ParameterError
from kit.studio import Studio
from kit.studio.forms import FormService
from tests.client import third_party
from tests.client.third_party import MODELS, Answer, Server, png

START = "/v1/creative-studio/generations"
ESTIMATES = "/v1/creative-studio/estimates"
ODD = ("model", "media", "timeout", "again", "prompt", "parameters", "guidance scale")
ANY = {
    "id": "any",
    "assetType": "image",
    "settingParameters": [{"name": name, "type": "string"} for name in (*ODD, "style")],
    "creditsAtDefaults": 0.25,
}


@pytest.fixture
def many(studio: Studio, api: Server) -> Studio:
    """A studio one of whose models has settings with the names of our own arguments."""
    api.script("GET", "/v1/creative-studio/models", Answer(200, {"image": [*MODELS, ANY]}))
    return studio


def sent(api: Server) -> list[Any]:
    return [seen.json for seen in api.requests("POST", START)]


def test_settings_of_any_name_are_sent(many: Studio, api: Server) -> None:
    odd = {name: f"<{name}>" for name in ODD}

    many.generate("any", "a lake", style="ink", parameters=odd)

    assert many.estimate("any", parameters=odd).total > 0
    assert sent(api)[0]["parameters"] == {**odd, "style": "ink"}
    assert sent(api)[0]["prompt"] == "a lake"


def test_a_form_takes_settings_of_any_name(many: Studio) -> None:
    form = many.form("any", "a lake", parameters={"model": "v2", "again": "no"})

    assert form.value["parameters"] == {"model": "v2", "again": "no"}


def test_a_sweep_varies_settings_of_any_name(many: Studio, api: Server) -> None:
    sweep = many.sweep("any", "a lake", parameters={"model": ["v1", "v2"], "prompt": "p"}).run()

    assert sweep.frame()["parameters.model"].tolist() == ["v1", "v2"]
    assert sorted(body["parameters"]["model"] for body in sent(api)) == ["v1", "v2"]
    assert {body["parameters"]["prompt"] for body in sent(api)} == {"p"}
    assert {body["prompt"] for body in sent(api)} == {"a lake"}


def test_rows_name_such_settings_in_full(many: Studio, api: Server) -> None:
    rows = [{"model": "any", "prompt": "a lake", "parameters.model": "v2", "parameters.style": "x"}]

    many.generate_many(rows)

    assert sent(api)[0]["modelId"] == "any"
    assert sent(api)[0]["parameters"] == {"model": "v2", "style": "x"}


def test_a_setting_that_is_given_twice_is_refused(many: Studio, api: Server) -> None:
    with pytest.raises(ParameterError, match="given twice, in parameters and by name: 'style'"):
        many.generate("any", style="ink", parameters={"style": "oil"})

    assert sent(api) == []


def test_parameters_are_a_mapping(many: Studio) -> None:
    with pytest.raises(ParameterError, match="parameters must be a mapping of names to values"):
        many.estimate("any", parameters="style=ink")  # type: ignore[arg-type]


# ── media ────────────────────────────────────────────────────────────────────────────────────────


def test_what_was_made_here_is_a_medium(studio: Studio, media: Server, api: Server) -> None:
    picture = studio.generate("paint", "a lake")

    for medium in (picture, picture.output, {"picture": picture, "hints": [picture.output]}):
        studio.generate("retouch", media=medium, again=True)

    puts = media.requests("PUT")
    assert [seen.body for seen in puts] == [png()] * 4
    assert set(sent(api)[-1]["mediaUploads"]) == {"picture", "hints"}


def test_files_may_stand_among_the_settings(studio: Studio, api: Server) -> None:
    picture = studio.generate("paint", "a lake")

    studio.generate("retouch", picture=picture, hints=[picture.output], again=True)
    studio.generate("retouch", media={"picture": picture}, hints=[picture], again=True)
    studio.generate("retouch", media=picture, hints=None, again=True)

    *_, first, second, third = sent(api)
    assert [set(body["mediaUploads"]) for body in (first, second, third)] == [
        {"picture", "hints"},
        {"picture", "hints"},
        {"picture"},
    ]
    assert not {"picture", "hints"} & first["parameters"].keys()


def test_files_that_are_given_both_ways_are_refused(studio: Studio, api: Server) -> None:
    for media in (png(), {"picture": png()}):
        with pytest.raises(ParameterError, match="given twice, in media and by name: 'picture'"):
            studio.generate("retouch", media=media, picture=png())

    assert sent(api) == []


def test_a_form_takes_what_was_made_here(studio: Studio) -> None:
    picture = studio.generate("paint", "a lake")

    assert FormService(studio.session).path(picture) == picture.output.path()


def test_what_is_not_there_yet_is_no_medium(studio: Studio) -> None:
    running = studio.start("paint", "a lake")

    with pytest.raises(NoAnswerError, match="has no output: its status is processing"):
        studio.generate("retouch", media=running)


# ── a service without prices ─────────────────────────────────────────────────────────────────────


FOREIGN = [
    Answer(400, {"error": {"code": "validation_error", "message": "unknown route"}}),
    Answer(422, {"detail": "no such route"}),
    Answer(500, {"error": {"code": "internal_error", "message": "boom"}}),
    Answer(501, b""),
    Answer(200, b"<html>", {"Content-Type": "text/html"}),
    Answer(200, {"price": 4}),
]


@pytest.mark.parametrize("answer", FOREIGN, ids=lambda answer: str(answer.status))
def test_an_estimate_that_nobody_makes_is_a_guess(
    studio: Studio, api: Server, answer: Answer
) -> None:
    api.script("POST", ESTIMATES, *[answer] * 9)

    quote = studio.estimate("paint", "a lake")

    assert (float(quote.total), quote.source) == (0.25, "default")
    assert quote.terms[0].kind.startswith("estimated")
    with studio.budget(credits=1) as budget:
        studio.generate("paint", "a lake")
    assert float(budget.spent) == 0.25


def test_a_service_that_fails_once_is_asked_for_a_price_again(studio: Studio, api: Server) -> None:
    api.script("POST", ESTIMATES, FOREIGN[2], Answer(200, {"total": 0.7}))

    assert [studio.estimate("paint", "a").source for _ in range(2)] == ["default", "service"]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (third_party.problem(401, "invalid_api_key", "who?"), InvalidApiKeyError),
        (
            Answer(
                400,
                {
                    "error": {
                        "code": "validation_error",
                        "message": "no",
                        "details": [{"field": "parameters.size", "message": "too large"}],
                    }
                },
            ),
            BadRequestError,
        ),
    ],
)
def test_what_a_start_would_be_answered_too_is_an_error(
    studio: Studio, api: Server, answer: Answer, error: type[Exception]
) -> None:
    api.script("POST", ESTIMATES, answer)

    with pytest.raises(error):
        studio.estimate("paint", "a lake")
