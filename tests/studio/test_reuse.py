"""Reuse of earlier generations: they must be equal and readable, or an error is raised."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from kit.client.flows import Policy
from kit.client.settings import Settings
from kit.client.sync import Client
from kit.errors import ApiError, KitError, NoAnswerError, ParameterError
from kit.studio import Studio
from kit.studio.operations import Operations
from tests.client import third_party
from tests.client.fixtures import Clock
from tests.client.third_party import KEY, Answer, Server, ThirdParty, png

START = "/v1/creative-studio/generations"


def count_starts(api: Server) -> int:
    return len(api.requests("POST", START))


def test_a_reused_id_of_another_generation_is_not_reused(
    studio: Studio, api: Server, backend: ThirdParty, caplog: pytest.LogCaptureFixture
) -> None:
    studio.generate("paint", "a lake")
    backend.orders["job-1"]["prompt"] = "somebody else's fox"

    made = studio.generate("paint", "a lake")

    assert (made.id, made.prompt, made.made_before) == ("job-2", "a lake", False)
    assert "its earlier result job-1 is a different generation at this service now" in caplog.text


@pytest.mark.parametrize(
    "change", [{"modelId": "retouch"}, {"prompt": ""}, {"parameters": {"style": "oil"}}]
)
def test_another_model_prompt_or_parameter_is_not_reused(
    studio: Studio, backend: ThirdParty, change: dict[str, Any]
) -> None:
    studio.generate("paint", "a lake", style="ink")
    backend.orders["job-1"] |= change

    assert studio.generate("paint", "a lake", style="ink").id == "job-2"


@pytest.mark.parametrize(
    "changes",
    [
        {"prompt": "a calm lake, highly detailed"},
        {"parameters": {"steps": 21, "seed": 4711}},
        {"modelId": None, "prompt": None, "parameters": None},
    ],
)
def test_a_service_that_rewrites_requests_is_paid_once(
    studio: Studio, api: Server, backend: ThirdParty, changes: dict[str, Any]
) -> None:
    real_start = backend.start

    def start_changed(request: third_party.Request) -> Answer:
        answer = real_start(request)
        backend.orders[answer.body["id"]] |= changes
        return answer

    backend.start = start_changed  # type: ignore[method-assign]
    studio.generate("paint", "a lake", steps=20)

    assert studio.generate("paint", "a lake", steps=20).made_before
    assert count_starts(api) == 1


def test_a_start_whose_end_was_not_seen_is_paid_once_by_a_service_that_rewrites_requests(
    studio: Studio, api: Server, backend: ThirdParty
) -> None:
    created = datetime.now(UTC) - timedelta(hours=2)  # by a clock that is slow
    receipt = {"id": "job-1", "creditsCharged": 0.25, "createdAt": created.isoformat()}
    api.script("POST", START, Answer(200, receipt))
    backend.orders["job-1"] = {"modelId": "paint", "prompt": "a calm lake", "polled": 0}
    backend.facts = lambda _: {"createdAt": created.isoformat()}
    studio.start("paint", "a lake")

    assert studio.generate("paint", "a lake").id == "job-1"
    assert count_starts(api) == 1


def test_a_start_that_other_servers_do_not_know_yet_is_paid_once(
    studio: Studio, api: Server, backend: ThirdParty
) -> None:
    studio.start("paint", "a lake")
    api.script("GET", f"{START}/job-1", third_party.problem(404, "not_found", "not here yet"))

    assert studio.generate("paint", "a lake").id == "job-1"
    assert count_starts(api) == 1


def test_a_seed_chosen_by_the_service_is_no_difference(
    studio: Studio, api: Server, backend: ThirdParty
) -> None:
    models = [{"id": "m", "settingParameters": [{"name": "seed", "type": "integer"}]}]
    api.script("GET", "/v1/creative-studio/models", Answer(200, {"image": models}))
    studio.start("m", seed=-1)
    backend.orders["job-1"]["parameters"] = {"seed": 4711}

    assert studio.generate("m", seed=-1).id == "job-1"


def test_cached_files_of_reused_ids_are_not_mixed_up(
    studio: Studio, media: Server, backend: ThirdParty
) -> None:
    lake = studio.generate("paint", "a lake").output.bytes()
    backend.orders.clear()
    media.script("GET", "/out/job-1.png", Answer(200, png("red"), {"Content-Type": "image/png"}))

    fox = studio.generate("paint", "a fox")

    assert fox.id == "job-1"
    assert fox.output.bytes() == png("red") != lake


# ── a profile with another URL ────────────────────────────────────────────────────────────────────


@pytest.fixture
def second_api(media: Server) -> Iterator[Server]:
    with third_party.serve(ThirdParty(media.url)) as server:
        yield server


def open_studio(url: str, data: Path, clock: Clock, policy: Policy, name: str = "mine") -> Studio:
    settings = Settings(url, KEY, data=data, name=name, progress=False)
    client = Client(settings, sleep=clock.sleep)
    return Studio(settings, client=client, operations=Operations(settings, policy=policy))


def test_a_profile_with_another_url_has_separate_records(
    api: Server, second_api: Server, tmp_path: Path, clock: Clock, policy: Policy
) -> None:
    with open_studio(api.url, tmp_path, clock, policy) as studio:
        studio.generate("paint", "a lake")
        studio.history.sync()
    with open_studio(second_api.url, tmp_path, clock, policy) as studio:
        assert studio.history.pending() == []
        assert len(studio.history.frame()) == 0
        assert studio.generate("paint", "a lake").made_before is False
    with open_studio(api.url, tmp_path, clock, policy) as studio:
        assert studio.generate("paint", "a lake").made_before is True
    assert (count_starts(api), count_starts(second_api)) == (1, 1)


# ── ids that cannot be used ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("status", [403, 404, 410])
def test_an_unreadable_generation_is_generated_again_and_reported(
    studio: Studio, api: Server, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    studio.generate("paint", "a lake")
    refusal = third_party.problem(status, "odd", "no longer yours")
    api.script("GET", f"{START}/job-1", *[refusal] * 2)

    assert studio.generate("paint", "a lake").id == "job-2"
    assert "the request is sent again, because its earlier result job-1" in caplog.text
    assert "no longer yours" in caplog.text


def test_an_older_generation_is_reused_if_the_newest_is_gone(studio: Studio, api: Server) -> None:
    studio.generate("paint", "a lake")
    studio.generate("paint", "a lake", again=True)
    api.script("GET", f"{START}/job-2", third_party.problem(410, "odd", "deleted"))

    assert studio.generate("paint", "a lake").id == "job-1"
    assert count_starts(api) == 2


def test_a_generation_is_reused_however_many_earlier_ones_are_gone(
    studio: Studio, api: Server, backend: ThirdParty
) -> None:
    studio.generate("paint", "a lake", n=12)
    for number in range(1, 12):
        del backend.orders[f"job-{number}"]

    assert studio.generate("paint", "a lake").id == "job-12"
    assert count_starts(api) == 12


def test_a_key_without_read_access_does_not_pay_again(studio: Studio, api: Server) -> None:
    studio.generate("paint", "a lake")
    refusal = third_party.problem(403, "insufficient_scope", "this key may not read")
    for path in (START, f"{START}/job-1"):
        api.script("GET", path, refusal)

    with pytest.raises(
        KitError, match="may not read; again=True generates it again, and is charged"
    ):
        studio.generate("paint", "a lake")
    assert count_starts(api) == 1


@pytest.mark.parametrize("status", [405, 409, 423])
def test_a_temporary_refusal_does_not_pay_again(studio: Studio, api: Server, status: int) -> None:
    studio.generate("paint", "a lake")
    api.script("GET", f"{START}/job-1", third_party.problem(status, "odd", "not now"))

    with pytest.raises(KitError, match="not now; again=True generates it again, and is charged"):
        studio.generate("paint", "a lake")
    assert count_starts(api) == 1


@pytest.mark.parametrize("status", [401, 502, 503])
def test_an_outage_does_not_pay_again_nor_advise_it(
    studio: Studio, api: Server, status: int
) -> None:
    studio.generate("paint", "a lake")
    closed = third_party.problem(status, "odd", "closed", **{"Retry-After": "900"})
    api.script("GET", f"{START}/job-1", closed)

    with pytest.raises(ApiError, match="closed") as caught:
        studio.generate("paint", "a lake")
    assert "again=True" not in str(caught.value)
    assert count_starts(api) == 1


@pytest.mark.parametrize("status", [404, 410])
def test_a_missing_output_is_reported_with_how_to_generate_it_again(
    studio: Studio, settings: Settings, api: Server, media: Server, status: int
) -> None:
    studio.generate("paint", "a lake")
    shutil.rmtree(settings.data / "notebook" / "outputs")
    media.script("GET", "/out/job-1.png", *[Answer(status, {})] * 2)

    with pytest.raises(
        NoAnswerError, match="again=True generates it again, and is charged"
    ) as caught:
        studio.generate("paint", "a lake")
    assert caught.value.generation_id == "job-1"
    assert count_starts(api) == 1


@pytest.mark.parametrize("status", [403, 410, 500])
def test_an_unreadable_generation_does_not_hide_other_pending_ones(
    studio: Studio, api: Server, backend: ThirdParty, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    backend.polls = 1000
    studio.start("paint", "a lake")
    studio.start("paint", "a fox")
    api.script("GET", START, *[third_party.problem(404, "not_found", "no list")] * 2)
    api.script("GET", f"{START}/job-1", *[third_party.problem(status, "odd", "never yours")] * 20)

    assert [g.id for g in studio.history.pending()] == ["job-2"]
    assert "job-1 was started from here and is left out: never yours" in caplog.text


def test_pending_raises_for_a_wrong_key(studio: Studio, api: Server, backend: ThirdParty) -> None:
    studio.start("paint", "a lake")
    settings = replace(studio.client.settings, api_key="tp_test_wrong")
    with Studio(settings) as wrong, pytest.raises(KitError, match="who are you"):
        wrong.history.pending()


def test_the_first_of_equal_generations_is_reused(studio: Studio) -> None:
    first = studio.generate("paint", "a lake")
    new = studio.generate("paint", "a lake", again=True)

    assert new != first
    assert studio.generate("paint", "a lake") == first
    assert studio.sweep("paint", ["a lake"]).run()[0] == first


def test_several_generations_are_always_new(studio: Studio, api: Server) -> None:
    first = studio.generate("paint", "a lake")
    several = studio.generate("paint", "a lake", n=3)

    assert len({first, *several}) == 4
    assert [each.status for each in several] == ["completed"] * 3
    for wrong in (0, 101):
        with pytest.raises(ParameterError, match="n must be 1 to 100"):
            studio.generate("paint", "a lake", n=wrong)


def test_a_studio_without_reuse_always_generates_again(
    settings: Settings, clock: Clock, policy: Policy
) -> None:
    fresh = replace(settings, reuse=False)
    client = Client(fresh, sleep=clock.sleep)
    with Studio(fresh, client=client, operations=Operations(fresh, policy=policy)) as studio:
        made = [studio.generate("paint", "a lake") for _ in range(2)]
        made += [studio.sweep("paint", ["a lake"]).run()[0] for _ in range(2)]
        titles = [studio.titles.suggest("SPACE") for _ in range(2)]

    assert len(set(made)) == 4
    assert not any(each.made_before for each in (*made, *titles))


def test_a_model_definition_is_accepted_as_model(studio: Studio) -> None:
    model = studio.models["paint"]

    assert studio.generate(model, "a lake") == studio.generate("paint", "a lake")
    assert studio.estimate(model, "a lake").total == Decimal("0.25")
    assert studio.sweep(model, ["a", "b"]).title == "paint × 2"


def test_titles_and_scripts_are_paid_once_and_marked_as_reused(studio: Studio, api: Server) -> None:
    title = studio.titles.suggest("SPACE")
    scripts = studio.scripts.write("SPACE", title, duration=30)

    again = studio.titles.suggest("SPACE")
    same = studio.scripts.write("SPACE", again, duration=30)
    assert (again.title, [s.id for s in same]) == (title.title, [s.id for s in scripts])
    assert (title.made_before, again.made_before) == (False, True)
    assert (scripts.made_before, same.made_before) == (False, True)
    assert str(again).endswith("made before>")
    assert "made before" in again._repr_html_()
    assert "made before" in same._repr_html_()
    assert repr(same).endswith("made before")

    studio.titles.suggest("SPACE", again=True)
    studio.scripts.write("SPACE", title, duration=30, again=True)
    studio.scripts.write("SPACE", title, duration=45)
    assert len(api.requests("POST", "/v1/scripts/title")) == 2
    assert len(api.requests("POST", "/v1/scripts")) == 2 + 3  # titles are below it


@pytest.mark.parametrize("status", [403, 404])
def test_what_another_account_has_started_here_is_not_taken_for_the_own(
    studio: Studio, api: Server, settings: Settings, clock: Clock, policy: Policy, status: int
) -> None:
    first = studio.generate("paint", "a lake")
    inner = api.app
    keys = {first.id: KEY}

    def answer(request: Any) -> Answer:
        key = request.headers["authorization"].removeprefix("Bearer ")
        own = replace(request, headers={**request.headers, "authorization": f"Bearer {KEY}"})
        path = request.path.partition("?")[0]
        if keys.get(path.rpartition("/")[2], key) != key:
            return third_party.problem(status, "forbidden", "it is of another account")
        given: Any = inner(own)
        if path == START and request.method == "GET":
            return Answer(
                200, [one for one in given.body if keys.setdefault(one["id"], key) == key]
            )
        return given

    api.app = answer
    other = replace(settings, api_key="tp_test_other")
    client = Client(other, sleep=clock.sleep)
    with Studio(other, client=client, operations=Operations(other, policy=policy)) as theirs:
        assert theirs.sweep("paint", ["a lake"]).credits != 0
        assert theirs.generate("paint", "a lake").id != first.id
        assert first.id not in theirs.history.frame().index
