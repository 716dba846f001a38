"""Tags: sent to services that accept them, else kept in the journal; costs are grouped by them."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from kit.client.settings import Settings
from kit.errors import BadRequestError, ConfigError, NoAnswerError, ParameterError
from kit.studio import Studio
from tests.client.third_party import Answer, Server
from tests.conftest import lasting_service

service = lasting_service

LIST = "/v1/creative-studio/generations"
WINTER = {"campaign": "winter", "team": "print"}


def generate_tagged(studio: Studio, model: str) -> list[str]:
    """Generate with tags of winter, twice of summer and without tags; return the ids."""
    made = studio.generate(model, "a", tags=WINTER)
    more = studio.generate(model, "b", n=2, tags={"campaign": "summer"})
    plain = studio.generate(model, "d")
    assert (made.tags, more[0].tags, plain.tags) == (WINTER, {"campaign": "summer"}, {})
    return [made.id, *(each.id for each in more), plain.id]


@pytest.mark.parametrize("which", ["own", "studio"])
def test_history_and_costs_have_tags_at_any_service(
    which: str, request: pytest.FixtureRequest
) -> None:
    studio: Studio = request.getfixturevalue(which)
    model = "flat" if which == "own" else "paint"
    ids = generate_tagged(studio, model)

    assert studio.history[ids[0]].tags == WINTER
    for limit in (None, 9):
        history = studio.history
        assert set(history.frame(limit, tag="campaign=summer").index) == set(ids[1:3])
        assert list(history.frame(limit, tag=WINTER).index) == ids[:1]
        assert list(history.frame(limit, tag=["team=print"], status="completed").index) == ids[:1]
        for more in ({"status": "completed"}, {"model": ["x", model], "since": "2025-01-01"}, {}):
            listed = history.list(limit, tag=WINTER, **more)
            assert [each.id for each in listed] == ids[:1]
        campaigns = history.frame(limit, columns=["tag.campaign"])["tag.campaign"]
        assert campaigns[ids].tolist()[:3] == ["winter", "summer", "summer"]
        assert campaigns.isna().sum() == 1
    if which == "own":
        ledger = studio.usage.frame().set_index("generation_id")["tags"]
        assert json.loads(ledger[ids[0]]) == WINTER
        asked = studio.history.sql('select "tag.team" as t, count(*) n from usage group by 1')
        assert asked.set_index("t")["n"]["print"] == 1
        assert ledger[ids].isna().tolist() == [False, False, False, True]
    counted = studio.history.sql(
        'select "tag.campaign" as c, count(*) n from generations group by 1'
    )
    assert dict(zip(counted["c"].fillna("-"), counted["n"], strict=True)) == {
        "winter": 1,
        "summer": 2,
        "-": 1,
    }
    by = studio.costs.by("tag.campaign", "tag.team")
    found = zip(
        by["tag.campaign"].fillna("-"), by["tag.team"].fillna("-"), by["count"], strict=True
    )
    assert sorted(found) == [("-", "-", 1), ("summer", "-", 2), ("winter", "print", 1)]
    with pytest.raises(ConfigError, match=r"did you mean 'tag.KEY'"):
        studio.costs.by("tag")


def test_another_service_gets_no_tags_and_the_journal_keeps_them(
    studio: Studio, api: Server, settings: Settings
) -> None:
    made = studio.generate("paint", "a", tags=WINTER)
    studio.history.frame(5, tag="campaign=winter")

    assert "tags" not in api.requests("POST", LIST)[0].json
    assert not [seen for seen in api.requests("GET", LIST) if "tag." in seen.path]
    with Studio(settings) as later:  # another kernel
        assert later.history[made.id].tags == WINTER


def test_a_start_whose_answer_was_lost_keeps_its_tags(studio: Studio, api: Server) -> None:
    api.script("POST", LIST, Answer(drop=True))
    with pytest.raises(NoAnswerError):
        studio.start("paint", "a", tags=WINTER)
    studio.start("paint", "b")

    (intent,) = studio.session.operations.journal.intents()
    assert intent.tags == WINTER


def test_equal_requests_are_paid_once_whatever_their_tags(own: Studio) -> None:
    first = own.generate("flat", "a", tags=WINTER)
    second = own.generate("flat", "a", tags={"campaign": "summer"})

    assert second.id == first.id
    assert second.made_before
    assert second.tags == WINTER


def test_sweeps_and_rows_are_tagged(own: Studio) -> None:
    sweep = own.sweep("flat", ["a", "b"], tags=WINTER).run()
    rows = pd.DataFrame({"prompt": ["c", "d"], "tag.campaign": ["spring", None]})
    batch = own.generate_many(rows, model="flat", tags={"campaign": "autumn"})

    assert [each.tags for each in sweep] == [WINTER] * 2
    assert [each.tags["campaign"] for each in batch] == ["spring", "autumn"]
    assert "parameters.tag.campaign" not in batch.frame()


@pytest.mark.parametrize(
    ("tags", "message"),
    [({"Campaign": "x"}, "is not a key"), ({"a": ""}, "1 to 64"), ("winter", "must be a mapping")],
)
def test_a_wrong_tag_is_refused_before_anything_is_sent(
    studio: Studio, api: Server, tags: dict[str, str], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        studio.generate("paint", "a", tags=tags)

    assert not api.requests("POST", LIST)


def test_a_tag_without_a_value_is_no_filter(studio: Studio) -> None:
    with pytest.raises(BadRequestError, match="campaign=winter"):
        studio.history.frame(tag="campaign")
