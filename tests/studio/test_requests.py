"""Requests: parameters of any name, and media from earlier generations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kit.errors import (
    BadRequestError,
    InvalidApiKeyError,
    KitError,
    NoAnswerError,
    ParameterError,
    UploadError,
)
from kit.studio import Studio
from kit.studio.forms import FormService
from tests.client import third_party
from tests.client.third_party import MODELS, Answer, Server, png

START = "/v1/creative-studio/generations"
ESTIMATES = "/v1/creative-studio/estimates"
NAMES = ("model", "media", "n", "timeout", "again", "prompt", "parameters", "guidance scale")
ANY = {
    "id": "any",
    "assetType": "image",
    "settingParameters": [{"name": name, "type": "string"} for name in (*NAMES, "style")],
    "creditsAtDefaults": 0.25,
}


@pytest.fixture
def many(studio: Studio, api: Server) -> Studio:
    """A studio with a model whose parameters have the names of arguments."""
    api.script("GET", "/v1/creative-studio/models", Answer(200, {"image": [*MODELS, ANY]}))
    return studio


def read_starts(api: Server) -> list[Any]:
    return [seen.json for seen in api.requests("POST", START)]


def test_parameters_of_any_name_are_sent(many: Studio, api: Server) -> None:
    values = {name: f"<{name}>" for name in NAMES}

    many.generate("any", "a lake", style="ink", parameters=values)

    assert many.estimate("any", parameters=values).total > 0
    assert read_starts(api)[0]["parameters"] == {**values, "style": "ink"}
    assert read_starts(api)[0]["prompt"] == "a lake"


def test_a_form_takes_parameters_of_any_name(many: Studio) -> None:
    form = many.form("any", "a lake", parameters={"model": "v2", "again": "no"})

    assert form.value["parameters"] == {"model": "v2", "again": "no"}


def test_a_sweep_varies_parameters_of_any_name(many: Studio, api: Server) -> None:
    sweep = many.sweep("any", "a lake", parameters={"model": ["v1", "v2"], "prompt": "p"}).run()

    assert sweep.frame()["parameters.model"].tolist() == ["v1", "v2"]
    assert sorted(body["parameters"]["model"] for body in read_starts(api)) == ["v1", "v2"]
    assert {body["parameters"]["prompt"] for body in read_starts(api)} == {"p"}
    assert {body["prompt"] for body in read_starts(api)} == {"a lake"}


def test_rows_take_parameters_of_any_name_in_full(many: Studio, api: Server) -> None:
    rows = [{"model": "any", "prompt": "a lake", "parameters.model": "v2", "parameters.style": "x"}]

    many.generate_many(rows)

    assert read_starts(api)[0]["modelId"] == "any"
    assert read_starts(api)[0]["parameters"] == {"model": "v2", "style": "x"}


def test_a_parameter_given_twice_is_refused(many: Studio, api: Server) -> None:
    with pytest.raises(ParameterError, match="given twice, in parameters and by name: 'style'"):
        many.generate("any", style="ink", parameters={"style": "oil"})

    assert read_starts(api) == []


def test_a_number_that_a_model_takes_itself_starts_nothing_twice(many: Studio, api: Server) -> None:
    with pytest.raises(ParameterError, match=r"of its own: write parameters=\{'n': 2\}"):
        many.generate("any", "a lake", n=2)
    assert read_starts(api) == []

    assert len(many.generate("any", "a lake", n=2, parameters={"n": "4"})) == 2
    assert [body["parameters"] for body in read_starts(api)] == [{"n": "4"}] * 2


def test_parameters_must_be_a_mapping(many: Studio) -> None:
    with pytest.raises(ParameterError, match="parameters must be a mapping of names to values"):
        many.estimate("any", parameters="style=ink")  # type: ignore[arg-type]


# ── media ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_generation_or_its_output_is_a_medium(studio: Studio, media: Server, api: Server) -> None:
    picture = studio.generate("paint", "a lake")

    for medium in (picture, picture.output, {"picture": picture, "hints": [picture.output]}):
        studio.generate("retouch", media=medium, again=True)

    (upload,) = media.requests("PUT")
    assert upload.body == png()
    one, two, three = (body["mediaUploads"] for body in read_starts(api)[1:])
    assert one == two == {"picture": three["picture"]}
    assert three["hints"] == [three["picture"]]


@pytest.mark.parametrize("status", [400, 404, 409, 410])
def test_a_file_is_uploaded_once_unless_the_service_refuses_its_id(
    studio: Studio, api: Server, media: Server, status: int
) -> None:
    studio.start("retouch", media=png("red"))
    studio.generate("retouch", media=png("red"), n=2)
    assert len(media.requests("PUT")) == 1

    api.script("POST", START, third_party.problem(status, "not_found", "that upload is gone"))
    studio.generate("retouch", media=png("red"), again=True)
    studio.start("retouch", media=png("red"))

    assert (len(read_starts(api)), len(media.requests("PUT"))) == (6, 2)


def test_a_refused_start_is_not_repeated_if_its_file_was_new(
    studio: Studio, api: Server, media: Server, tmp_path: Path
) -> None:
    studio.start("retouch", media=png("red"))
    (tmp_path / "blue.png").write_bytes(png("blue"))
    api.script("POST", START, third_party.problem(400, "invalid", "no"))
    with pytest.raises(BadRequestError):
        studio.start("retouch", media=tmp_path / "blue.png")

    assert (len(read_starts(api)), len(media.requests("PUT"))) == (2, 2)


def test_a_start_that_may_be_executed_is_not_sent_with_another_upload(
    studio: Studio, api: Server
) -> None:
    studio.start("retouch", media=png("red"))
    api.script("GET", START, Answer(200, [], {"Idempotency-Replayed": "true"}))
    studio.history.list()
    used = third_party.problem(422, "key_in_use", "the key was used")
    api.script("POST", START, Answer(504, b"<html>"), used)

    with pytest.raises(KitError, match="it may have been carried out"):
        studio.start("retouch", media=png("red"))

    keys = [seen.headers["idempotency-key"] for seen in api.requests("POST", START)[1:]]
    assert (len(keys), len(set(keys))) == (2, 1)


def test_a_refused_start_is_not_counted_in_a_budget_if_the_second_upload_fails(
    studio: Studio, api: Server, media: Server
) -> None:
    studio.start("retouch", media=png("red"))
    with studio.budget(credits=1) as budget:
        api.script("POST", START, third_party.problem(404, "not_found", "gone"))
        media.script("PUT", "/in/upload.png", third_party.problem(403, "no", "not accepted"))
        with pytest.raises(UploadError):
            studio.start("retouch", media=png("red"))

        assert budget.spent == 0


def test_media_may_be_given_as_keyword_arguments(studio: Studio, api: Server) -> None:
    picture = studio.generate("paint", "a lake")

    studio.generate("retouch", picture=picture, hints=[picture.output], again=True)
    studio.generate("retouch", media={"picture": picture}, hints=[picture], again=True)
    studio.generate("retouch", media=picture, hints=None, again=True)

    *_, first, second, third = read_starts(api)
    assert [set(body["mediaUploads"]) for body in (first, second, third)] == [
        {"picture", "hints"},
        {"picture", "hints"},
        {"picture"},
    ]
    assert not {"picture", "hints"} & first["parameters"].keys()


def test_a_medium_given_twice_is_refused(studio: Studio, api: Server) -> None:
    for media in (png(), {"picture": png()}):
        with pytest.raises(ParameterError, match="given twice, in media and by name: 'picture'"):
            studio.generate("retouch", media=media, picture=png())

    assert read_starts(api) == []


def test_a_long_text_is_no_medium(studio: Studio) -> None:
    with pytest.raises(ParameterError, match=r"cannot be read: |there is no file"):
        studio.generate("retouch", media="x" * 5000)


def test_a_form_takes_a_generation_as_medium(studio: Studio) -> None:
    picture = studio.generate("paint", "a lake")

    assert FormService(studio.session).path(picture) == picture.output.path()


def test_a_running_generation_is_refused_as_medium(studio: Studio) -> None:
    running = studio.start("paint", "a lake")

    with pytest.raises(NoAnswerError, match="has no output: its status is processing"):
        studio.generate("retouch", media=running)


# ── a service without prices ──────────────────────────────────────────────────────────────────────


FOREIGN = [
    Answer(400, {"error": {"code": "validation_error", "message": "unknown route"}}),
    Answer(422, {"detail": "no such route"}),
    Answer(500, {"error": {"code": "internal_error", "message": "boom"}}),
    Answer(501, b""),
    Answer(200, b"<html>", {"Content-Type": "text/html"}),
    Answer(200, {"price": 4}),
]


@pytest.mark.parametrize("answer", FOREIGN, ids=lambda answer: str(answer.status))
def test_without_an_estimate_the_default_price_is_used(
    studio: Studio, api: Server, answer: Answer
) -> None:
    api.script("POST", ESTIMATES, *[answer] * 9)

    quote = studio.estimate("paint", "a lake")

    assert (float(quote.total), quote.source) == (0.25, "default")
    assert quote.terms[0].kind.startswith("estimated")
    with studio.budget(credits=1) as budget:
        studio.generate("paint", "a lake")
    assert float(budget.spent) == 0.25


def test_a_failed_estimate_is_requested_again_next_time(studio: Studio, api: Server) -> None:
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
def test_an_error_that_a_start_would_get_is_raised_by_the_estimate(
    studio: Studio, api: Server, answer: Answer, error: type[Exception]
) -> None:
    api.script("POST", ESTIMATES, answer)

    with pytest.raises(error):
        studio.estimate("paint", "a lake")
