from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from kit.client.settings import Settings
from kit.client.sync import Client
from kit.errors import (
    BadRequestError,
    ConfigError,
    GenerationFailedError,
    InsufficientCreditsError,
    InvalidApiKeyError,
    NoAnswerError,
    NotFoundError,
    ParameterError,
    UnavailableError,
)
from kit.studio import Generation, Studio
from tests.client import third_party
from tests.client.fixtures import Clock
from tests.client.third_party import Answer, Server, ThirdParty, png

START = "/v1/creative-studio/generations"


def count_starts(api: Server) -> int:
    return len(api.requests("POST", START))


# ── at a third-party service ──────────────────────────────────────────────────────────────────────


def test_the_account_has_a_name_and_maybe_credits(studio: Studio) -> None:
    assert studio.account.name == "Ada"
    assert studio.account.credits is None


def test_models_may_lack_a_group(studio: Studio) -> None:
    assert list(studio.models) == ["paint", "retouch"]
    assert studio.models["retouch"].credits_from is None


def test_models_are_requested_once_and_again_by_refresh(studio: Studio, api: Server) -> None:
    for _ in range(3):
        models = studio.models
    assert len(api.requests("GET", "/v1/creative-studio/models")) == 1

    api.script("GET", "/v1/creative-studio/models", Answer(200, {"video": [{"id": "new"}]}))

    assert list(models.refresh()) == ["new"]
    assert list(studio.models) == ["new"]


def test_a_generation_returns_with_its_output(studio: Studio, api: Server) -> None:
    lake = studio.generate("paint", "  a lake ", style="ink", size=1024)

    assert lake.status == "completed"
    assert lake.output.bytes() == png()
    assert api.requests("POST", START)[0].json == {
        "modelId": "paint",
        "prompt": "a lake",
        "parameters": {"style": "ink", "size": 1024},
    }


def test_credits_the_service_does_not_report_come_from_the_receipt(studio: Studio) -> None:
    lake = studio.generate("paint", "a lake")

    assert lake.credits == Decimal("0.25")
    assert repr(lake) == "<Generation paint · image · completed · 0.25 credits>"
    assert studio.history.frame()["credits_source"].tolist() == ["receipt"]


def test_media_are_uploaded_first(studio: Studio, api: Server, media: Server) -> None:
    studio.generate("retouch", media={"picture": png("red"), "hints": [png(), png("blue")]})

    assert [seen.body for seen in media.requests("PUT")] == [png("red"), png(), png("blue")]
    assert media.requests("PUT")[0].headers["x-signed"] == "yes"
    assert api.requests("POST", START)[0].json["mediaUploads"] == {
        "picture": "u-upload.png",
        "hints": ["u-upload.png", "u-upload.png"],
    }


def test_a_url_is_accepted_as_medium(settings: Settings, api: Server, media: Server) -> None:
    url = f"{media.url}/out/9.png?sig=abc"
    with Studio(replace(settings, private_media=True)) as studio:
        form = studio.form("retouch", picture=url)
        studio.generate("retouch", picture=url, media=None)

    (path,) = form.value["media"]["picture"]
    assert (Path(path).name, Path(path).read_bytes()) == ("9.png", png())
    assert [seen.body for seen in media.requests("PUT")] == [png()]
    assert not [seen for seen in media.seen if "authorization" in seen.headers]
    with Studio(settings) as studio, pytest.raises(ParameterError, match="a private network"):
        studio.estimate("retouch", picture=url)


def test_titles_and_scripts_are_written(studio: Studio, api: Server) -> None:
    title = studio.titles.suggest("SPACE")
    scripts = studio.scripts.write("SPACE", title, 45, use_cta=True)

    assert (title.title, title.hook_angle) == ("T", "")
    assert [script.content for script in scripts] == ["Hello you"]
    assert api.requests("POST", "/v1/scripts")[-1].json == {
        "topic": "SPACE",
        "title": "T",
        "duration": "45",
        "useHook": False,
        "useCTA": True,
        "useRagebait": False,
        "variations": "1",
    }


def test_a_service_without_a_ledger_is_reported(studio: Studio) -> None:
    with pytest.raises(NotFoundError, match="this service has no ledger"):
        studio.usage.frame()


def test_a_service_without_cancel_is_reported(studio: Studio) -> None:
    started = studio.start("paint", "a lake")

    with pytest.raises(NoAnswerError, match=r"this service cannot cancel a generation$"):
        started.cancel()


# ── requests that are not sent ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("model", "prompt", "parameters", "message"),
    [
        ("paint", None, {}, "prompt: is required"),
        ("paint", "x", {"stile": "ink"}, "unknown parameter; did you mean 'style'?"),
        ("paint", "x", {"style": "gold"}, "must be one of 'oil', 'ink', not 'gold'"),
        ("paint", "x", {"steps": 51}, "must be at most 50, not 51"),
        ("paint", "x", {"media": b"?"}, "takes no media"),
        ("retouch", None, {}, "mediaUploads.picture: is required"),
        ("retouch", None, {"media": "no.png"}, "there is no file 'no.png'"),
        ("retouch", None, {"media": "job-1"}, "is given as studio.history['job-1']"),
        ("retouch", None, {"image": [object()]}, "unknown parameter; there is 'hints', 'picture'"),
    ],
)
@pytest.mark.parametrize("verb", ["generate", "start", "estimate"])
def test_a_bad_request_is_never_sent(
    studio: Studio,
    api: Server,
    verb: str,
    model: str,
    prompt: str | None,
    parameters: dict[str, object],
    message: str,
) -> None:
    with pytest.raises(ParameterError) as caught:
        getattr(studio, verb)(model, prompt, **parameters)

    assert message in str(caught.value)
    assert not [seen for seen in api.seen if seen.method != "GET"]


def test_an_unknown_model_is_reported_with_a_suggestion(studio: Studio) -> None:
    with pytest.raises(NotFoundError, match="no model 'pant'; did you mean 'paint'"):
        studio.generate("pant", "x")


def test_a_model_that_is_not_listed_can_be_used(studio: Studio, api: Server) -> None:
    hidden = {"id": "hidden", "creditsAtDefaults": 2}
    api.script("GET", "/v1/creative-studio/models/hidden", Answer(200, hidden))

    assert studio.estimate("hidden", "x").total == 2


def test_the_same_request_is_paid_once(studio: Studio, api: Server) -> None:
    first = studio.generate("paint", "a lake", style="ink")
    again = studio.generate("paint", "a lake", style="ink", steps=20)  # 20 is the default

    assert again.id == first.id
    assert count_starts(api) == 1

    assert studio.generate("paint", "a lake", style="ink", again=True).id != first.id
    assert studio.generate("paint", "a lake", style="oil").id != first.id
    assert count_starts(api) == 3


def test_a_failed_request_is_generated_again(
    studio: Studio, api: Server, backend: ThirdParty
) -> None:
    backend.states, backend.error = ("queued", "error"), {"message": "too dark"}
    with pytest.raises(GenerationFailedError):
        studio.generate("paint", "night")
    backend.states, backend.error = ("queued", "done"), None

    assert studio.generate("paint", "night").status == "completed"
    assert count_starts(api) == 2


# ── errors after a start ──────────────────────────────────────────────────────────────────────────


def test_a_failure_raises_the_cause_and_the_generation(studio: Studio, backend: ThirdParty) -> None:
    backend.states, backend.error = ("queued", "errored"), {"message": "too dark", "code": "E7"}

    with pytest.raises(
        GenerationFailedError, match=r"failed: too dark; 0\.25 credits charged"
    ) as caught:
        studio.generate("paint", "night")

    assert caught.value.generation_id == "job-1"
    assert caught.value.generation.error == "too dark"


def test_a_timeout_can_be_resumed(studio: Studio, backend: ThirdParty) -> None:
    backend.polls = 1000
    with pytest.raises(NoAnswerError, match="not finished after 5 s") as caught:
        studio.generate("paint", "a lake", timeout=5)

    assert caught.value.generation_id == "job-1"
    assert [g.id for g in studio.history.pending()] == ["job-1"]
    backend.polls = 2
    assert caught.value.resume is not None
    assert caught.value.resume().output.bytes() == png()
    assert studio.history.pending() == []


def test_a_generation_ended_meanwhile_is_pending_once(studio: Studio, backend: ThirdParty) -> None:
    backend.polls = 1000
    studio.start("paint", "a lake")
    backend.polls = 0

    (ended,) = studio.history.pending()

    assert ended.status == "completed"
    assert ended.wait().output.bytes() == png()
    assert studio.history.pending() == []


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("timeout", [-1, float("nan"), "5", [1]])
def test_an_invalid_timeout_is_refused_before_a_start(
    studio: Studio, api: Server, timeout: Any, n: int
) -> None:
    with pytest.raises(
        ParameterError, match="timeout must be None or a number of seconds, 0 or more"
    ):
        studio.generate("paint", "a lake", timeout=timeout, n=n)

    assert count_starts(api) == 0


def test_an_infinite_timeout_is_accepted(studio: Studio) -> None:
    assert studio.generate("paint", "a lake", timeout=float("inf")).status == "completed"


def test_metadata_must_be_true_or_false(studio: Studio, api: Server) -> None:
    wrong: Any = "no"
    with pytest.raises(ParameterError, match="metadata must be True or False, not 'no'"):
        studio.start("paint", "a lake", metadata=wrong)

    assert count_starts(api) == 0


def test_the_timeout_covers_the_start_and_the_wait(
    studio: Studio, backend: ThirdParty, api: Server, clock: Clock
) -> None:
    backend.polls = 1000
    api.script(
        "POST", START, third_party.problem(503, "unavailable", "busy", **{"Retry-After": "3"})
    )

    with pytest.raises(NoAnswerError, match="not finished after 4 s"):
        studio.generate("paint", "a lake", timeout=4)

    assert clock.now == pytest.approx(4.0, abs=0.1)


def test_a_start_after_the_timeout_is_not_sent(
    studio: Studio, backend: ThirdParty, api: Server, clock: Clock
) -> None:
    api.script(
        "POST", START, third_party.problem(503, "unavailable", "busy", **{"Retry-After": "20"})
    )

    with pytest.raises(UnavailableError, match="asks to wait 20 s"):
        studio.generate("paint", "a lake", timeout=2)

    assert backend.orders == {}
    assert clock.now == 0.0


def test_a_start_with_a_lost_answer_is_not_paid_twice(
    studio: Studio, backend: ThirdParty, api: Server
) -> None:
    def drop_start(request: third_party.Request) -> Answer:
        answer = backend(request)
        return Answer(drop=True) if request.method == "POST" else answer

    api.app = drop_start

    with pytest.raises(NoAnswerError, match="may have been carried out"):
        studio.generate("paint", "a lake", again=True)

    assert [g.id for g in studio.history.list()] == list(backend.orders) == ["job-1"]


def test_a_connection_lost_after_the_start_raises_with_the_id(studio: Studio, api: Server) -> None:
    api.script("GET", f"{START}/job-1", *[Answer(drop=True)] * 20)

    with pytest.raises(NoAnswerError, match=r"the connection to .* broke") as caught:
        studio.generate("paint", "a lake", timeout=5)

    assert caught.value.generation_id == "job-1"
    assert caught.value.resume is not None


def test_an_interrupt_notes_how_to_find_the_start(settings: Settings, backend: ThirdParty) -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    backend.polls = 1000
    with Studio(settings, client=Client(settings, sleep=interrupt)) as studio:
        with pytest.raises(KeyboardInterrupt) as caught:
            studio.generate("paint", "a lake")

        assert "studio.history.pending() finds it" in caught.value.__notes__[0]
        assert [g.id for g in studio.history.pending()] == ["job-1"]


def test_an_error_before_the_start_has_no_generation_id(studio: Studio, api: Server) -> None:
    api.script("POST", START, third_party.problem(402, "insufficient_credits", "1 required"))

    with pytest.raises(InsufficientCreditsError) as caught:
        studio.generate("paint", "a lake")

    assert caught.value.generation_id is None
    assert caught.value.resume is None


def test_a_wrong_key_raises_the_services_message(studio: Studio, api: Server) -> None:
    api.script("GET", "/v1/account", third_party.problem(401, "invalid_api_key", "revoked"))

    with pytest.raises(InvalidApiKeyError, match="revoked"):
        _ = studio.account


def test_a_start_returns_without_waiting(studio: Studio, api: Server) -> None:
    started = studio.start("paint", "a lake")

    assert isinstance(started, Generation)
    assert (started.status, started.prompt, started.model_id) == ("processing", "a lake", "paint")
    assert api.requests("GET", START) == []
    assert started.wait().status == "completed"
    assert started.status == "processing"


# ── prices ────────────────────────────────────────────────────────────────────────────────────────


def script_model(api: Server, **model: object) -> None:
    models = {"image": [{"id": "m", **model}]}
    api.script("GET", "/v1/creative-studio/models", Answer(200, models))


RULE = {"base": 0.1, "units": [{"parameter": "n", "credits": 0.02}]}
COUNT = {"name": "n", "type": "integer", "default": 5}


def test_a_pricing_rule_needs_no_request_for_an_estimate(studio: Studio, api: Server) -> None:
    script_model(api, pricing=RULE, settingParameters=[COUNT])

    quote = studio.estimate("m", "x", n=10)

    assert (quote.total, quote.source) == (Decimal("0.3"), "rule")
    assert api.requests("POST") == []


def test_a_service_without_rules_is_asked_for_an_estimate(studio: Studio, api: Server) -> None:
    script_model(api, creditsAtDefaults=9)
    api.script("POST", "/v1/creative-studio/estimates", Answer(200, {"total": 0.7}))

    quote = studio.estimate("m", "x")

    assert (quote.total, quote.source) == (Decimal("0.7"), "service")


def test_without_rule_and_estimate_the_default_price_is_used(studio: Studio) -> None:
    quote = studio.estimate("paint", "x")

    assert (quote.total, quote.source) == (Decimal("0.25"), "default")


def test_an_unknown_price_is_an_error(studio: Studio) -> None:
    with pytest.raises(ConfigError, match="does not say what the model 'retouch' costs"):
        studio.estimate("retouch", media=png())


@pytest.mark.parametrize(("credits", "enough"), [(0.3, True), (0.29, False), (None, None)])
def test_a_quote_tells_whether_the_balance_is_enough(
    studio: Studio, api: Server, credits: float | None, enough: bool | None
) -> None:
    script_model(api, pricing=RULE, settingParameters=[COUNT])
    api.script("GET", "/v1/account", Answer(200, {"id": "a", "credits": credits}))

    assert studio.estimate("m", "x", n=10).affordable is enough


def test_an_estimate_works_when_the_account_request_fails(studio: Studio, api: Server) -> None:
    api.script("GET", "/v1/account", Answer(500, {}))

    assert studio.estimate("paint", "x").affordable is None


# ── history and responses ─────────────────────────────────────────────────────────────────────────


def test_the_history_follows_links_to_the_next_page(studio: Studio, api: Server) -> None:
    link = {"Link": f'<{api.url}{START}?cursor=2>; rel="next"'}
    page = [{"id": "c"}, {"id": "b"}]
    api.script("GET", START, Answer(200, page, link), Answer(200, [{"id": "a"}]))

    assert [g.id for g in studio.history] == ["c", "b", "a"]
    assert api.requests("GET", START)[1].path == f"{START}?cursor=2"


def test_circular_pages_end(studio: Studio, api: Server) -> None:
    def pages() -> list[Answer]:
        links = [{"Link": f'<{START}?cursor={n}>; rel="next"'} for n in (2, 3)]
        return [Answer(200, [{"id": "c"}], link) for link in links]

    api.script("GET", START, *pages() * 20)

    assert [g.id for g in studio.history] == ["c"]
    api.scripted.clear()
    api.script("GET", START, *pages() * 20)
    assert [g.id for g in studio.history.list(None)] == ["c"]


def test_a_next_page_at_another_host_is_requested_from_the_service(
    studio: Studio, api: Server, media: Server
) -> None:
    link = {"Link": f'<{media.url}/steal>; rel="next"'}
    api.script("GET", START, Answer(200, [{"id": "c"}], link))
    api.script("GET", "/steal", Answer(200, []))

    assert [g.id for g in studio.history] == ["c"]
    assert media.seen == []


def test_a_generation_is_found_by_its_id(studio: Studio) -> None:
    made = studio.generate("paint", "a lake")

    assert studio.history[made.id].prompt == "a lake"
    with pytest.raises(NotFoundError):
        _ = studio.history["nope"]


def test_the_last_response_is_kept(studio: Studio) -> None:
    assert studio.last_response is None
    _ = studio.account

    assert studio.last_response is not None
    assert studio.last_response.path == "/v1/account"


@pytest.mark.parametrize(
    ("duration", "variations", "message"),
    [
        ("soon", 1, "whole number of seconds"),
        (1.5, 1, "whole number"),
        (0, 1, "whole"),
        (9, 3, "1 or 2"),
    ],
)
def test_an_invalid_order_of_a_script_is_refused(
    studio: Studio, api: Server, duration: object, variations: int, message: str
) -> None:
    with pytest.raises(BadRequestError, match=message):
        studio.scripts.write("SPACE", "T", duration, variations=variations)  # type: ignore[arg-type]

    assert api.seen == []


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"topic": 5}, "topic"),
        ({"title": "half \ud83c"}, "title"),
        ({"hook_angle": 5}, "hook_angle"),
        ({"hook_angle": "half \ud83c"}, "hook_angle"),
        ({"use_hook": "yes"}, "use_hook"),
    ],
)
def test_a_script_argument_of_a_wrong_type_names_its_field(
    studio: Studio, api: Server, arguments: Any, field: str
) -> None:
    with pytest.raises(ParameterError, match=f"^{field}: "):
        studio.scripts.write(**{"topic": "SPACE", "title": "T", **arguments})
    if field == "topic":
        with pytest.raises(ParameterError, match=r"^topic: "):
            studio.titles.suggest(5)  # type: ignore[arg-type]

    assert api.seen == []


def test_no_repr_shows_a_url_or_a_key(studio: Studio) -> None:
    made = studio.generate("paint", "a lake")
    shown = " ".join(
        map(
            repr,
            (made, made.output, studio.models, studio.history, studio.usage, studio.titles, studio),
        )
    )

    assert "sig=" not in shown
    assert " at 0x" not in shown
    assert third_party.KEY not in shown
    assert "job-1" not in shown


@pytest.mark.parametrize("where", ["{url}/jobs/1", "/v1/jobs/1"])
def test_the_status_url_of_the_receipt_is_polled(studio: Studio, api: Server, where: str) -> None:
    url = where.format(url=api.url)
    path = url.removeprefix(api.url)
    api.script("POST", START, Answer(201, {"id": "1", "statusUrl": url}))
    done = {"id": "1", "status": "done"}
    api.script("GET", path, Answer(200, {"id": "1"}), Answer(200, done), Answer(200, done))

    started = studio.start("paint", "a lake")

    assert started.wait().status == "completed"
    assert started.refresh().status == "completed"


def test_a_status_url_at_another_host_is_not_requested(
    studio: Studio, api: Server, media: Server
) -> None:
    api.script("POST", START, Answer(200, {"id": "1", "statusUrl": f"{media.url}/steal"}))
    api.script("GET", f"{START}/1", Answer(200, {"id": "1", "status": "done"}))

    studio.start("paint", "a lake").wait()

    assert media.seen == []
