"""The history of a studio, against a service that closed the document's gaps differently."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from kit.client.settings import Settings
from kit.errors import BadRequestError, NotFoundError
from kit.explore.bucket import open_archive
from kit.studio import Studio
from tests.buckets import KEYS, S3Server
from tests.client.third_party import Answer, Request, Server, ThirdParty
from tests.conftest import Service, lasting_service

service = lasting_service

LIST = "/v1/creative-studio/generations"


def queries(api: Server) -> list[dict[str, list[str]]]:
    return [parse_qs(urlsplit(seen.path).query) for seen in api.requests("GET", LIST)]


@pytest.fixture
def made(studio: Studio) -> Studio:
    """A studio with three generations."""
    for prompt in ("a", "b", "c"):
        studio.generate("paint", prompt, size=512 if prompt == "a" else 1024)
    return studio


def test_a_list_is_what_is_newest(made: Studio) -> None:
    assert [item.prompt for item in made.history] == ["c", "b", "a"]
    assert [item.prompt for item in made.history.list(2)] == ["c", "b"]
    assert made.history["job-1"].prompt == "a"


def test_a_dataset_is_files_and_lines(made: Studio, api: Server, tmp_path: Path) -> None:
    gone = {"id": "job-2", "status": "done", "outputsDeletedAt": "2026-11-23T08:00:00Z"}
    api.script("GET", f"{LIST}/job-2", *[Answer(200, gone)] * 3)

    described = made.history.export_dataset(tmp_path / "set", model="paint")

    lines = [json.loads(line) for line in described.read_text("utf-8").splitlines()]
    assert [line["text"] for line in lines] == ["c", "a"]
    assert [line["parameters"]["size"] for line in lines] == [1024, 512]
    pictures = {path.name for path in (tmp_path / "set").glob("*.png")}
    assert pictures == {line["file_name"] for line in lines}


def test_a_history_in_a_bucket_is_read_without_the_service(
    made: Studio, s3_server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in KEYS.items():
        monkeypatch.setenv(name, text)
    url = s3_server.new_bucket()
    made.history.publish(url)

    assert open_archive(url).frame()["prompt"].tolist() == ["c", "b", "a"]


def test_only_a_limit_that_was_asked_for_is_sent(made: Studio, api: Server) -> None:
    api.seen.clear()
    for limit in (50, 7, 5000, None):
        made.history.list(limit)

    assert [q.get("limit") for q in queries(api)] == [None, ["7"], ["1000"], ["1000"]]


def test_an_unknown_filter_is_named(studio: Studio) -> None:
    with pytest.raises(TypeError, match="no filter 'modle'; did you mean 'model'"):
        studio.history.list(modle="m")
    with pytest.raises(TypeError, match="no filter 'stat'"):
        studio.history.frame(stat="m")


@pytest.mark.parametrize("limit", [1, None])
def test_a_wrong_column_is_a_sentence_either_way(made: Studio, limit: int | None) -> None:
    with pytest.raises(BadRequestError, match="there is no column 'nope'"):
        made.history.frame(limit, columns=["nope"])


def test_every_look_at_the_history_has_what_was_just_made(made: Studio, tmp_path: Path) -> None:
    history = made.history
    assert len(history.frame()) == 3
    made.generate("paint", "d")
    assert history.sql("select count(*) n from generations")["n"].tolist() == [4]
    made.generate("paint", "e")
    assert len(history.export(tmp_path / "out.csv").read_text().splitlines()) == 6
    made.generate("paint", "f")
    assert made.costs.by("model")["count"].tolist() == [6]
    made.generate("paint", "g")
    assert made.history.files()
    assert len(history.frame(sync=False)) == 7


def test_a_look_without_a_sync_asks_nothing(made: Studio, api: Server, tmp_path: Path) -> None:
    made.costs.by()
    made.generate("paint", "d")
    api.seen.clear()

    assert len(made.history.frame(sync=False)) == 3
    assert made.history.sql("select count(*) n from generations", sync=False)["n"][0] == 3
    assert made.costs.by(sync=False)["count"].tolist() == [3]
    made.history.export(tmp_path / "out.parquet", sync=False)
    made.history.files(sync=False)
    assert api.seen == []


def test_a_catch_up_is_one_request(made: Studio, api: Server) -> None:
    made.costs.by()
    api.seen.clear()
    made.costs.by()

    assert [seen.path.partition("?")[0] for seen in api.requests("GET")] == [LIST]


def test_parameters_are_columns_of_sql_as_of_frames(made: Studio) -> None:
    found = made.history.sql(
        'select "parameters.size" as size, avg("parameters.size") m from generations '
        "group by all order by size"
    )

    assert found["size"].tolist() == [512, 1024]
    assert found["m"].tolist() == [512, 1024]
    assert made.history.frame(columns=["parameters.size"])["parameters.size"].tolist() == [
        1024,
        1024,
        512,
    ]


# ── a service that lists only its newest 20, and has no ledger ───────────────────────────────────


class Short(ThirdParty):
    """It lists no more than 20, without a link to the next page."""

    def list_all(self, request: Request) -> Answer:
        found = super().list_all(request)
        assert isinstance(found.body, list)
        return Answer(found.status, found.body[:20])


def test_no_cost_is_unseen_beside_a_short_list(
    studio: Studio, api: Server, media: Server, caplog: pytest.LogCaptureFixture
) -> None:
    api.app = Short(media.url)
    for number in range(32):
        studio.generate("paint", f"{number}")

    assert studio.costs.by("model")[["count", "net"]].to_numpy().tolist() == [[32, 8.0]]
    assert len(studio.history.frame()) == len(studio.history) == 32
    assert studio.history[-1].prompt == "0"
    assert studio.history.sql("select sum(net) s from generations")["s"].tolist() == [8.0]
    assert "lists only its newest generations: 12 of those" in caplog.text
    checks = studio.costs.reconcile()
    unchecked = checks[checks["agrees"].isna()].set_index("check")
    assert unchecked.index.tolist() == ["balance", "charge", "refund", "history"]
    assert unchecked.loc["charge", "found"] == 8.0
    assert "12 are known because this computer started them" in unchecked.loc["history", "note"]
    with pytest.raises(NotFoundError, match="no ledger"):
        studio.usage.frame()


def test_a_short_list_says_that_it_is_one(
    studio: Studio, api: Server, media: Server, caplog: pytest.LogCaptureFixture
) -> None:
    api.app = Short(media.url)
    for number in range(22):
        studio.start("paint", f"{number}")
    studio.history.sync()
    caplog.clear()

    assert len(studio.history.frame(20)) == len(studio.history.list(20)) == 20
    assert caplog.text == ""
    assert len(studio.history.frame(100)) == len(studio.history.list(100)) == 20
    assert caplog.text.count("lists only its newest 20 generations, and 2 more were started") == 2


def test_what_another_kernel_started_counts_too(
    studio: Studio, settings: Settings, api: Server, media: Server
) -> None:
    api.app = Short(media.url)
    for number in range(25):
        studio.start("paint", f"{number}")
    with Studio(settings) as later:
        assert later.costs.by()["charged"].tolist() == [6.25]


# ── filters ──────────────────────────────────────────────────────────────────────────────────────


class Paged(ThirdParty):
    """It has pages, and knows no filter."""

    def list_all(self, request: Request) -> Answer:
        query = parse_qs(urlsplit(request.path).query)
        limit, first = (int(query.get(name, [usual])[0]) for name, usual in _USUAL)
        found = super().list_all(request).body
        assert isinstance(found, list)
        following = f'<{LIST}?limit={limit}&cursor={first + limit}>; rel="next"'
        headers = {"Link": following} if first + limit < len(found) else {}
        return Answer(200, found[first : first + limit], headers)


_USUAL = (("limit", "50"), ("cursor", "0"))


@pytest.fixture
def paged(studio: Studio, api: Server, media: Server) -> Studio:
    """A studio of a service with 300 generations, one in a hundred of another model."""
    party = Paged(media.url)
    for number in range(300):
        model = "retouch" if number % 100 == 0 else "paint"
        party.orders[f"job-{number:03d}"] = {"modelId": model, "polled": 9}
    api.app = party
    return studio


@pytest.mark.parametrize("model", ["retouch", ["retouch", "paint"], ["retouch", "retouch"]])
def test_filters_that_are_applied_here_do_not_multiply_requests(
    paged: Studio, api: Server, model: str | list[str]
) -> None:
    assert len(paged.history.frame(3, model=model)) == 3
    assert len(api.requests("GET", LIST)) <= 2


def test_a_list_is_filtered_here_where_the_service_knows_no_filter(
    paged: Studio, api: Server
) -> None:
    assert [one.id for one in paged.history.list(3, model="retouch")] == [
        "job-200",
        "job-100",
        "job-000",
    ]
    assert len(api.requests("GET", LIST)) == 1


@dataclass
class Pages(ThirdParty):
    """Its list is cut into pages that the test names, and its queries are refused."""

    pages: list[list[str]] = field(default_factory=list)
    host: str = ""

    def list_all(self, request: Request) -> Answer:
        path, _, query = request.path.partition("?")
        if query and not query.startswith("page="):
            return Answer(422, {"detail": "there are no such parameters"})
        number = int(query.removeprefix("page=") or 0)
        where = f"{self.host}{path}" if self.host else ""
        more = {"Link": f'<{where}?page={number + 1}>; rel="next"'}
        rows = [self.to_json(one, {"modelId": "paint", "polled": 9}) for one in self.pages[number]]
        return Answer(200, rows, more if number + 1 < len(self.pages) else {})


def listings(studio: Studio) -> list[list[str]]:
    """Return the ids of a history in each way that asks for it."""
    history = studio.history
    frames = history.frame(100), history.frame()
    return [[one.id for one in found] for found in (history.list(100), history)] + [
        sorted(frame.index, reverse=True) for frame in frames
    ]


@pytest.mark.parametrize("host", ["", "http://127.0.0.1:9"], ids=["relative", "behind a proxy"])
@pytest.mark.parametrize(
    "cut",
    [
        pytest.param([["c", "b"], ["b", "a"]], id="moved on"),
        pytest.param([["c"], [], [], ["b", "a"]], id="chosen after the cut"),
    ],
)
def test_each_generation_of_any_pages_is_listed_once(
    studio: Studio, api: Server, media: Server, cut: list[list[str]], host: str
) -> None:
    api.app = Pages(media.url, pages=cut, host=host)

    assert listings(studio) == [["c", "b", "a"]] * 4
    assert studio.history[0].id == "c"


def test_a_reading_ends_with_what_is_too_old(paged: Studio, api: Server) -> None:
    assert paged.history.frame(5, since="2027-01-01").empty
    assert len(api.requests("GET", LIST)) <= 2


@pytest.mark.parametrize("limit", [5, None])
def test_a_filter_that_means_nothing_names_what_is_near(paged: Studio, limit: int | None) -> None:
    frame = paged.history.frame
    with pytest.raises(BadRequestError, match="there is no model 'pain'; did you mean 'paint'"):
        frame(limit, model=["paint", "pain"])
    with pytest.raises(BadRequestError, match="there is no status 'complete'; did you mean"):
        frame(limit, status="complete")
    with pytest.raises(BadRequestError, match="there is no asset type 'imgae'; did you mean 'im"):
        frame(limit, asset_type="imgae")
    with pytest.raises(BadRequestError, match="there is no status 'complete'"):
        paged.history.list(status="complete")
    assert frame(limit, model="retouch", status="failed").empty


def test_a_model_that_is_gone_is_known_from_the_history(paged: Studio, api: Server) -> None:
    party: Any = api.app
    party.orders["job-300"] = {"modelId": "retired", "polled": 9}

    assert len(paged.history.frame(5, model="retired")) == 1
    assert len(paged.history.frame(model="retired")) == 1


# ── our own service ──────────────────────────────────────────────────────────────────────────────


def test_a_history_holds_nothing_that_another_account_has_started_here(
    own: Studio, service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    theirs = Settings(
        service.url,
        service.key(service.account(name="Bob"), "creative:generate"),
        data=own.client.settings.data,
        progress=False,
    )
    own.generate("flat", "x")

    with Studio(theirs) as other:
        made = other.generate("flat", "y")
        assert other.history.frame().index.tolist() == [made.id]
        assert other.costs.reconcile().attrs["agrees"]
    assert len(own.history) == 1
    assert caplog.text == ""


def test_the_whole_ledger_is_the_balance(own: Studio) -> None:
    own.generate("flat", "x")
    own.titles.suggest("SPACE")
    ledger = own.usage.frame()

    assert ledger["credits"].sum() == pytest.approx(float(own.account.credits or 0))
    assert own.usage.frame(1)["kind"].tolist() == ["title"]
    own.titles.suggest("SPACE", again=True)
    assert own.history.sql("select count(*) n from usage where kind = 'title'")["n"].tolist() == [2]
    assert len(own.usage.frame()) == len(ledger) + 1
    assert len(own.usage.frame(sync=False)) == len(ledger) + 1


# ── by position ──────────────────────────────────────────────────────────────────────────────────


def test_positions_count_from_the_newest(made: Studio) -> None:
    assert made.history[0].prompt == "c"
    assert made.history[2].prompt == "a"
    assert made.history[-1].prompt == "a"
    with pytest.raises(IndexError, match="there are 3 generations, and none at 7"):
        made.history[7]


def test_slices_are_those_of_a_list_and_ask_for_no_more_than_they_need(
    made: Studio, api: Server
) -> None:
    api.seen.clear()

    assert [item.prompt for item in made.history[:2]] == ["c", "b"]
    assert queries(api) == [{"limit": ["2"]}]
    assert [item.prompt for item in made.history[1:2]] == ["b"]
    assert [item.prompt for item in made.history[-2:]] == ["b", "a"]
    assert [item.prompt for item in made.history[::-1]] == ["a", "b", "c"]
    assert made.history[9:] == made.history[:0] == []
