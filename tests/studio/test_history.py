"""The history of a studio at a third-party service."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

import kit
from kit.client.settings import Settings
from kit.errors import ApiError, BadRequestError, NotFoundError, ParameterError
from kit.explore.bucket import open_archive
from kit.service.store.ids import floor
from kit.studio import Studio
from tests.buckets import KEYS, S3Server
from tests.client.third_party import Answer, Request, Server, ThirdParty
from tests.conftest import Service, lasting_service

service = lasting_service

LIST = "/v1/creative-studio/generations"


def read_queries(api: Server) -> list[dict[str, list[str]]]:
    return [parse_qs(urlsplit(seen.path).query) for seen in api.requests("GET", LIST)]


@pytest.fixture
def trio(studio: Studio) -> Studio:
    """A studio with three generations."""
    for prompt in ("a", "b", "c"):
        studio.generate("paint", prompt, size=512 if prompt == "a" else 1024)
    return studio


def test_the_newest_generations_come_first(trio: Studio) -> None:
    assert [item.prompt for item in trio.history] == ["c", "b", "a"]
    assert [item.prompt for item in trio.history.list(2)] == ["c", "b"]
    assert trio.history["job-1"].prompt == "a"


def test_the_newest_generations_come_first_in_whatever_order_the_service_lists_them(
    trio: Studio, backend: ThirdParty
) -> None:
    times = {"a": "2026-01-02T03:04:05Z", "b": "2026-01-03T03:04:05Z", "c": "2025-12-24T00:00:00Z"}
    backend.facts = lambda order: {"createdAt": times[order["prompt"]]}

    assert [item.prompt for item in trio.history] == ["b", "a", "c"]
    assert [item.prompt for item in trio.history.list(2)] == ["b", "a"]
    assert trio.history.frame(1)["prompt"].tolist() == [trio.history[0].prompt] == ["b"]


def test_a_dataset_has_files_and_a_line_for_each(trio: Studio, api: Server, tmp_path: Path) -> None:
    gone = {"id": "job-2", "status": "done", "outputsDeletedAt": "2026-11-23T08:00:00Z"}
    api.script("GET", f"{LIST}/job-2", *[Answer(200, gone)] * 3)

    described = trio.history.export_dataset(tmp_path / "set", model="paint")

    lines = [json.loads(line) for line in described.read_text("utf-8").splitlines()]
    assert [line["text"] for line in lines] == ["c", "a"]
    assert [line["parameters"]["size"] for line in lines] == [1024, 512]
    pictures = {path.name for path in (tmp_path / "set").glob("*.png")}
    assert pictures == {line["file_name"] for line in lines}


def test_a_smaller_dataset_in_the_same_folder_keeps_the_other_files(
    trio: Studio, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "set"
    trio.history.export_dataset(folder)
    assert "not in metadata.jsonl" not in caplog.text
    described = trio.history.export_dataset(folder, limit=1)

    assert len(described.read_text("utf-8").splitlines()) == 1
    assert len([*folder.glob("*.png")]) == 3
    assert "not in metadata.jsonl: 2;" in caplog.text


def test_a_history_in_a_bucket_is_read_without_the_service(
    trio: Studio, s3_server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in KEYS.items():
        monkeypatch.setenv(name, text)
    url = s3_server.new_bucket()
    trio.history.publish(url)

    assert open_archive(url).frame()["prompt"].tolist() == ["c", "b", "a"]


def test_only_a_given_limit_is_sent(trio: Studio, api: Server) -> None:
    api.seen.clear()
    for limit in (50, 7, 5000, None):
        trio.history.list(limit)

    assert [q.get("limit") for q in read_queries(api)] == [None, ["7"], ["1000"], ["1000"]]


@pytest.mark.parametrize("limit", [-1, "5", 2.0])
def test_a_limit_that_is_no_count_is_refused(trio: Studio, tmp_path: Path, limit: Any) -> None:
    for call in (
        trio.history.list,
        trio.history.frame,
        trio.history.table,
        trio.usage.list,
        partial(trio.history.export_dataset, tmp_path),
    ):
        with pytest.raises(ParameterError, match="limit must be a whole number, 0 or more, not"):
            call(limit)
    for call, name in ((trio.costs.top, "count"), (partial(trio.history.similar, b""), "n")):
        with pytest.raises(ParameterError, match=f"^{name} must be a whole number, 0 or more"):
            call(limit)
    for show in (partial(kit.gallery, []), trio.history.table):
        with pytest.raises(ParameterError, match=r"^size must be a whole number, 1 or more, not"):
            show(size=limit)
    assert len(trio.history.frame(0)) == len(trio.costs.top(0)) == 0


def test_an_unknown_filter_is_reported_with_a_suggestion(studio: Studio) -> None:
    with pytest.raises(TypeError, match="no filter 'modle'; did you mean 'model'"):
        studio.history.list(modle="m")
    with pytest.raises(TypeError, match="no filter 'stat'"):
        studio.history.frame(stat="m")


@pytest.mark.parametrize("limit", [1, None])
def test_an_unknown_column_is_reported_with_any_limit(trio: Studio, limit: int | None) -> None:
    with pytest.raises(BadRequestError, match="there is no column 'nope'"):
        trio.history.frame(limit, columns=["nope"])


def test_every_query_of_the_history_has_the_newest_generation(trio: Studio, tmp_path: Path) -> None:
    history = trio.history
    assert len(history.frame()) == 3
    trio.generate("paint", "d")
    assert history.sql("select count(*) n from generations")["n"].tolist() == [4]
    trio.generate("paint", "e")
    assert len(history.export(tmp_path / "out.csv").read_text().splitlines()) == 6
    trio.generate("paint", "f")
    assert trio.costs.by("model")["count"].tolist() == [6]
    trio.generate("paint", "g")
    assert trio.history.files()
    assert len(history.frame(sync=False)) == 7


def test_queries_without_a_sync_send_no_request(trio: Studio, api: Server, tmp_path: Path) -> None:
    trio.costs.by()
    trio.generate("paint", "d")
    api.seen.clear()

    assert len(trio.history.frame(sync=False)) == 3
    assert trio.history.sql("select count(*) n from generations", sync=False)["n"][0] == 3
    assert trio.costs.by(sync=False)["count"].tolist() == [3]
    trio.history.export(tmp_path / "out.parquet", sync=False)
    trio.history.files(sync=False)
    assert trio.costs.forecast(sync=False).days_left is None, "the balance would be a request"
    assert api.seen == []


def test_a_sync_without_news_is_one_request(trio: Studio, api: Server) -> None:
    trio.costs.by()
    api.seen.clear()
    trio.costs.by()

    assert [seen.path.partition("?")[0] for seen in api.requests("GET")] == [LIST]


def test_parameters_are_columns_in_sql_and_in_frames(trio: Studio) -> None:
    found = trio.history.sql(
        'select "parameters.size" as size, avg("parameters.size") m from generations '
        "group by all order by size"
    )

    assert found["size"].tolist() == [512, 1024]
    assert found["m"].tolist() == [512, 1024]
    assert trio.history.frame(columns=["parameters.size"])["parameters.size"].tolist() == [
        1024,
        1024,
        512,
    ]


# ── a service that lists only its newest 20, and has no ledger ────────────────────────────────────


class Short(ThirdParty):
    """A service whose list has no more than 20 entries and no next page."""

    def list_all(self, request: Request) -> Answer:
        found = super().list_all(request)
        assert isinstance(found.body, list)
        return Answer(found.status, found.body[:20])


def test_costs_include_generations_missing_from_a_short_list(
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


@pytest.mark.parametrize("path", ["account", "creative-studio/models"])
def test_a_wrong_address_is_named_as_the_cause_of_a_missing_path(
    studio: Studio, api: Server, path: str
) -> None:
    api.script("GET", f"/v1/{path}", Answer(404, b"nginx", {"Content-Type": "text/plain"}))

    with pytest.raises(NotFoundError, match=r"404 Not Found .*: check that base_url"):
        assert studio.account.id + str(len(studio.models))


def test_an_empty_list_may_have_no_content(studio: Studio, api: Server) -> None:
    api.script("GET", "/v1/creative-studio/generations", *[Answer(204, b"")] * 9)

    assert studio.history.list() == []
    assert len(studio.history.frame()) == 0
    assert studio.costs.total() == 0
    assert studio.panel()


def test_a_web_page_in_place_of_a_missing_path_is_no_ledger(
    studio: Studio, api: Server, backend: ThirdParty
) -> None:
    page = Answer(200, b"<!doctype html><title>App</title>", {"Content-Type": "text/html"})

    def answer(request: Request) -> Answer:
        found = backend(request)
        return page if request.method == "GET" and found.status == 404 else found

    api.app = answer
    studio.generate("paint", "a lake")

    assert studio.costs.total() == 0.25
    assert studio.costs.reconcile().attrs["problems"] == 0
    with pytest.raises(NotFoundError, match="no ledger"):
        studio.usage.frame()
    api.app = lambda _: page
    with pytest.raises(ApiError, match=r"is not JSON \(text/html\): check that base_url"):
        studio.history.list()


def test_a_short_list_is_reported(
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


def test_starts_of_another_kernel_are_counted(
    studio: Studio, settings: Settings, api: Server, media: Server
) -> None:
    api.app = Short(media.url)
    for number in range(25):
        studio.start("paint", f"{number}")
    with Studio(settings) as later:
        assert later.costs.by()["charged"].tolist() == [6.25]


# ── filters ───────────────────────────────────────────────────────────────────────────────────────


class Paged(ThirdParty):
    """A service whose list has pages and no filters."""

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
    pages_backend = Paged(media.url)
    for number in range(300):
        model = "retouch" if number % 100 == 0 else "paint"
        pages_backend.orders[f"job-{number:03d}"] = {"modelId": model, "polled": 9}
    api.app = pages_backend
    return studio


@pytest.mark.parametrize("model", ["retouch", ["retouch", "paint"], ["retouch", "retouch"]])
def test_filters_applied_by_the_client_do_not_multiply_requests(
    paged: Studio, api: Server, model: str | list[str]
) -> None:
    assert len(paged.history.frame(3, model=model)) == 3
    assert len(api.requests("GET", LIST)) <= 2


def test_the_client_filters_a_list_where_the_service_does_not(paged: Studio, api: Server) -> None:
    assert [one.id for one in paged.history.list(3, model="retouch")] == [
        "job-200",
        "job-100",
        "job-000",
    ]
    assert len(api.requests("GET", LIST)) == 1


@dataclass
class Pages(ThirdParty):
    """A service with the pages that a test sets, which refuses query parameters."""

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


def list_every_way(studio: Studio) -> list[list[str]]:
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
def test_each_generation_is_listed_once_whatever_the_pages(
    studio: Studio, api: Server, media: Server, cut: list[list[str]], host: str
) -> None:
    api.app = Pages(media.url, pages=cut, host=host)

    assert list_every_way(studio) == [["c", "b", "a"]] * 4
    assert studio.history[0].id == "c"


def test_reading_pages_stops_at_generations_that_are_too_old(paged: Studio, api: Server) -> None:
    assert paged.history.frame(5, since="2027-01-01").empty
    assert len(api.requests("GET", LIST)) <= 2


@pytest.mark.parametrize("limit", [5, None])
def test_an_unknown_filter_value_is_reported_with_a_hint(paged: Studio, limit: int | None) -> None:
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


def test_a_retired_model_in_the_history_is_a_valid_filter(paged: Studio, api: Server) -> None:
    pages_backend: Any = api.app
    pages_backend.orders["job-300"] = {"modelId": "retired", "polled": 9}

    assert len(paged.history.frame(5, model="retired")) == 1
    assert len(paged.history.frame(model="retired")) == 1


# ── our own service ───────────────────────────────────────────────────────────────────────────────


def test_a_history_has_no_generations_of_another_account(
    own: Studio, service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings(
        service.url,
        service.key(service.account(name="Bob"), "creative:generate"),
        data=own.client.settings.data,
        progress=False,
    )
    own.generate("flat", "x")

    with Studio(settings) as other:
        theirs = other.generate("flat", "y")
        assert other.history.frame().index.tolist() == [theirs.id]
        assert other.costs.reconcile().attrs["agrees"]
    assert len(own.history) == 1
    assert caplog.text == ""


def test_the_ledger_adds_up_to_the_balance(own: Studio) -> None:
    own.generate("flat", "x")
    own.titles.suggest("SPACE")
    ledger = own.usage.frame()

    assert ledger["credits"].sum() == pytest.approx(float(own.account.credits or 0))
    assert own.usage.frame(1)["kind"].tolist() == ["title"]
    own.titles.suggest("SPACE", again=True)
    assert own.history.sql("select count(*) n from usage where kind = 'title'")["n"].tolist() == [2]
    assert len(own.usage.frame()) == len(ledger) + 1
    assert len(own.usage.frame(sync=False)) == len(ledger) + 1


# ── by position ───────────────────────────────────────────────────────────────────────────────────


def test_positions_count_from_the_newest(trio: Studio) -> None:
    assert trio.history[0].prompt == "c"
    assert trio.history[2].prompt == "a"
    assert trio.history[-1].prompt == "a"
    with pytest.raises(IndexError, match="there are 3 generations, and none at 7"):
        trio.history[7]
    with pytest.raises(IndexError, match="there are 3 generations, and none at 5000"):
        trio.history[5000]
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        trio.history[1.5]  # type: ignore[call-overload]


def test_slices_are_those_of_a_list_with_minimal_requests(trio: Studio, api: Server) -> None:
    api.seen.clear()

    assert [item.prompt for item in trio.history[:2]] == ["c", "b"]
    assert read_queries(api) == [{"limit": ["2"]}]
    assert [item.prompt for item in trio.history[1:2]] == ["b"]
    assert [item.prompt for item in trio.history[-2:]] == ["b", "a"]
    assert [item.prompt for item in trio.history[::-1]] == ["a", "b", "c"]
    assert trio.history[9:] == trio.history[:0] == []


def test_the_oldest_of_our_own_service_are_read_in_pages(own: Studio, service: Service) -> None:
    made = own.generate("flat", "x", n=4)

    def count_single_reads() -> float:
        text = httpx.get(f"{service.url}/metrics").text
        found = re.findall(
            r'requests_total{.*method="GET".*/{generation_id}".* ([\d.]+)$', text, re.M
        )
        return sum(map(float, found))

    # After a test that set the clock forward, the times in ids are later than those of generations.
    is_ahead = made[0].id > floor("gen", int(time.time() * 1000) + 1000)
    before = count_single_reads()
    assert {one.id for one in own.history[-3:]} < {one.id for one in made}
    ids = own.history.frame().index.tolist()
    parts = slice(-3, None), slice(-3, -1), slice(None, None, -2), slice(-2), slice(9, None)
    for which in parts:
        assert [one.id for one in own.history[which]] == ids[which]
    before += is_ahead * (3 + sum(len(ids[which]) for which in parts))
    assert count_single_reads() == before
    assert own.history[made[0].id] == made[0]
    assert count_single_reads() == before + 1


def test_a_dataset_leaves_out_generations_that_the_service_no_longer_has(
    trio: Studio, api: Server, tmp_path: Path
) -> None:
    api.script("GET", f"{LIST}/job-3", Answer(404, {"error": {"code": "not_found"}}))

    described = trio.history.export_dataset(tmp_path)

    lines = described.read_text("utf-8").splitlines()
    assert [json.loads(line)["text"] for line in lines] == ["b", "a"]
