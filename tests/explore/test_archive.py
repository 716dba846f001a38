from __future__ import annotations

import json
import signal
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from kit.errors import BadRequestError, ParameterError
from kit.explore import frames
from kit.explore.archive import Archive
from kit.explore.arrow import GENERATIONS
from kit.explore.bucket import BucketStore, open_archive, publish
from kit.explore.filters import parse_filter
from kit.explore.store import Store
from kit.explore.syncing import sync_generations
from tests.buckets import KEYS, S3Server
from tests.clusters import serve_cluster
from tests.explore.fake_service import Service, archive_of, drive, make, table_of

MIXED = ["net", "parameters.size", "parameters.none", "model_id"]


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """Ten generations: even numbers of model a with size 512, odd ones of b with 1024."""
    service = Service()
    service.make(8, prompt="it's a lake")
    service.make(1, status="failed", creditsRefunded=0.5)
    service.make(1, status="processing")
    store = Store(tmp_path / "it's here")
    drive(sync_generations(store, service))
    return Archive(store)


def test_a_frame_is_newest_first_with_the_documented_columns(
    archive: Archive, tmp_path: Path
) -> None:
    frame, empty = archive.frame(), Archive(Store(tmp_path)).frame()

    assert frame.index.tolist() == [f"g{number:04d}" for number in range(9, -1, -1)]
    assert len(empty) == 0
    for each in (frame, empty):
        assert {n: str(d) for n, d in each.dtypes.items()} == frames.GENERATIONS


@pytest.mark.parametrize(
    ("choices", "rows"),
    [
        ({"status": "failed"}, 1),
        ({"status": ["failed", "processing"]}, 2),
        ({"model": "a"}, 5),
        ({"since": "2026-01-01T05:00:00Z", "until": "2026-01-01T07:00:00Z"}, 2),
        ({"model": "nobody's"}, 0),
    ],
)
def test_filters_select_frame_rows(archive: Archive, choices: dict[str, Any], rows: int) -> None:
    assert len(archive.frame(parse_filter(**choices))) == rows


@pytest.mark.parametrize(
    ("columns", "all_parameters", "found"),
    [(MIXED, False, MIXED), (["net"], True, ["net", "parameters.size"])],
)
def test_columns_are_in_the_given_order_with_parameters_on_request(
    archive: Archive, columns: list[str], all_parameters: bool, found: list[str]
) -> None:
    frame = archive.frame(columns=columns, parameters=all_parameters)

    assert frame.columns.tolist() == found
    assert archive.frame(columns=frame.columns).columns.tolist() == found
    assert frame["parameters.size"].tolist()[:2] == [1024, 512]


def test_the_number_of_media_is_an_integer_column(archive: Archive) -> None:
    assert str(archive.frame(columns=["media.image"])["media.image"].dtype) == "Int64"


def test_an_unknown_column_is_reported_with_a_suggestion(archive: Archive) -> None:
    with pytest.raises(BadRequestError, match="no column 'modle_id'; did you mean 'model_id'"):
        archive.frame(columns=["modle_id"])


def test_queries_can_group(archive: Archive) -> None:
    found = archive.sql(
        "select parameters->>'size' size, count(*) n, sum(net) net from generations"
        " group by all order by size"
    )

    assert found["size"].tolist() == ["1024", "512"]
    assert found["net"].tolist() == pytest.approx([2.5, 2.0])
    assert found["n"].tolist() == [5, 5]


@pytest.mark.parametrize("rows", [100, 10_001])
def test_parameters_are_queried_in_few_and_in_many_distinct_values(rows: int) -> None:
    texts = [f'{{"step": {number}, "half": {number / 2}}}' for number in range(rows)]
    data = {"id": [f"g{number}" for number in range(rows)], "parameters": texts}
    columns = [data.get(name, [None] * rows) for name in GENERATIONS.names]
    archive = archive_of(pa.table(columns, schema=GENERATIONS))

    query = 'select sum("parameters.step") s, max("parameters.half") h, count("parameters.none") n'
    found = archive.sql(f"{query} from generations")

    assert found.to_dict("records") == [{"s": rows * (rows - 1) // 2, "h": (rows - 1) / 2, "n": 0}]


@pytest.mark.parametrize("name", ["parameters.seed", "parameters.step"])
def test_integers_of_more_than_64_bits_are_texts_everywhere(name: str, tmp_path: Path) -> None:
    seeds = [{"seed": seed, "step": seed} for seed in (2**64 - 1, 3)]
    archive = archive_of(table_of(make(n, parameters=p) for n, p in enumerate(seeds)))
    archive.export(tmp_path / "seeds.parquet", columns=[name])

    texts = [str(2**64 - 1), "3"]
    assert archive.sql(f'select "{name}" x from generations order by id')["x"].tolist() == texts
    for frame in (archive.frame(columns=[name]), pd.read_parquet(tmp_path / "seeds.parquet")):
        assert sorted(frame[name], reverse=True) == ["3", texts[0]]


def test_names_that_differ_only_in_case_are_not_confused(tmp_path: Path) -> None:
    archive = archive_of(table_of([make(0, parameters={"Size": 1, "size": 2})]))
    names = ["parameters.Size", "parameters.size"]

    assert archive.frame(columns=names).to_numpy().tolist() == [[1, 2]]
    assert archive.sql('select "parameters.size" n from generations')["n"].tolist() == [2]
    with pytest.raises(BadRequestError, match="only in case need a query or file each"):
        archive.export(tmp_path / "sizes.csv", columns=names)


def test_sums_of_integers_are_integers(archive: Archive) -> None:
    found = archive.sql("select sum(1) n, sum(1.5) half from generations")

    assert (str(found["n"].dtype), str(found["half"].dtype)) == ("Int64", "float64")


def test_times_of_a_query_are_in_utc(archive: Archive) -> None:
    found = archive.sql("select date_trunc('day', min(created_at)) d from generations")

    assert found["d"].tolist() == [pd.Timestamp("2026-01-01T00:00:00Z")]


def test_queries_can_join_data_frames(archive: Archive) -> None:
    stars = pd.DataFrame({"id": ["g0001"], "stars": [5]})
    found = archive.sql("select stars, model_id from generations join mine using (id)", mine=stars)

    assert found.to_dict("records") == [{"stars": 5, "model_id": "b"}]


@pytest.mark.skipif(sys.platform == "win32", reason="signals work otherwise there")
@pytest.mark.parametrize("delay", [0.003, 0.02, 0.5])
def test_an_interrupt_stops_a_query(archive: Archive, delay: float) -> None:
    me = threading.get_ident()

    def ask() -> None:
        threading.Timer(delay, lambda: signal.pthread_kill(me, signal.SIGINT)).start()
        archive.sql("select sum(a.range * b.range) from range(1000000) a, range(1000000) b")

    with pytest.raises(KeyboardInterrupt):
        ask()


@pytest.mark.parametrize("query", ["select nope from generations", "selct", ""])
def test_a_wrong_query_is_reported(archive: Archive, query: str) -> None:
    if query:
        with pytest.raises(BadRequestError, match="the query cannot be answered"):
            archive.sql(query)
    else:
        assert archive.sql(query).empty


def test_an_export_replaces_a_file_that_is_being_read(archive: Archive, tmp_path: Path) -> None:
    (tmp_path / "out.csv").touch()
    with (tmp_path / "out.csv").open("rb") as reader:
        threading.Timer(0.2, reader.close).start()
        archive.export(tmp_path / "out.csv")

    assert (tmp_path / "out.csv").stat().st_size


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_exports_select_rows_and_columns(archive: Archive, tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"it's out{suffix}"
    written = archive.export(target, parse_filter(status="completed"), ["net", "prompt"])
    read = pd.read_csv if suffix == ".csv" else pd.read_parquet
    frame = read(written)

    assert frame.columns.tolist() == ["id", "net", "prompt"]
    assert frame["id"].tolist() == [f"g{number:04d}" for number in range(7, -1, -1)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["it's here", target.name]


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_an_export_can_have_parameters_as_columns(
    archive: Archive, tmp_path: Path, suffix: str
) -> None:
    columns = ["net", "parameters.size", "tag.campaign", "net"]
    written = archive.export(tmp_path / f"out{suffix}", columns=columns)
    frame = (pd.read_csv if suffix == ".csv" else pd.read_parquet)(written)

    assert frame.columns.tolist() == ["id", *columns[:3]]
    assert frame["parameters.size"].tolist() == [1024, 512] * 5


def test_times_of_an_export_are_read_as_times(tmp_path: Path) -> None:
    whole = datetime(2026, 11, 17, 4, 52, 46, tzinfo=UTC)
    moments = [whole, whole.replace(microsecond=123000)]
    archive = archive_of(table_of(make(n, created_at=at) for n, at in enumerate(moments)))
    written = archive.export(tmp_path / "out.csv", columns=["created_at"])

    assert pd.read_csv(written, parse_dates=["created_at"])["created_at"].tolist() == moments[::-1]


@pytest.mark.parametrize(
    ("name", "why"),
    [("out.ods", r"to a \.parquet, \.csv or \.xlsx file"), ("nowhere/out.csv", "is no folder")],
)
def test_an_invalid_export_file_is_refused(
    archive: Archive, tmp_path: Path, name: str, why: str
) -> None:
    with pytest.raises(BadRequestError, match=why):
        archive.export(tmp_path / name)


def test_a_reader_lists_files_again_after_a_merge(archive: Archive) -> None:
    answers = [[archive.store.folder / "merged.parquet"], archive.store.files()]

    class Merging(Store):
        """A store whose first list of files is out of date."""

        def files(self, table: str = "generations") -> list[Path]:
            return answers.pop(0)

    assert len(Archive(Merging(archive.store.folder)).frame()) == 10


def test_pandas_reads_the_parquet_files(archive: Archive) -> None:
    assert sum(len(pd.read_parquet(path)) for path in archive.files()) == 10


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # between Dask and pandas
def test_a_dask_cluster_reads_the_files_from_a_bucket_with_its_own_keys(
    archive: Archive, s3_server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = pytest.importorskip("dask.dataframe")
    distributed = pytest.importorskip("distributed")
    for name, text in KEYS.items():  # of the bucket's reader; the cluster gets no key in its tasks
        monkeypatch.setenv(name, text)
    url = s3_server.new_bucket()
    publish(archive.store, url)
    files, filesystem = open_archive(url).files(), BucketStore(url).filesystem
    with (
        serve_cluster(tmp_path, "--workers", "1", environment=KEYS) as cluster,
        distributed.Client(cluster["cluster"]) as client,
    ):
        client.wait_for_workers(1, timeout=60)
        frame = frames.read_parquet(files, filesystem=filesystem)
        failed = frame[frame["status"] == "failed"]

        assert frame.npartitions == 2  # ended generations, and running ones
        assert frame.groupby("model_id")["net"].sum().compute().to_dict() == {"a": 2.0, "b": 2.5}
        assert failed["id"].compute().tolist() == ["g0008"]
        assert frame["created_at"].max().compute() == archive.frame()["created_at"].max()


def test_no_signed_url_is_on_disk(tmp_path: Path) -> None:
    service = Service()
    service.make(1, outputUrl="https://a.test/?sig=secret", mediaUrls={"x": "y?sig=secret"})
    store = Store(tmp_path)
    drive(sync_generations(store, service))

    assert "secret" not in json.dumps(Archive(store).frame(parameters=True, media=True).to_csv())
    assert all(b"secret" not in Path(path).read_bytes() for path in Archive(store).files())


def test_charges_are_rows_of_a_model_with_known_credits(tmp_path: Path) -> None:
    service = Service()
    service.make(3)
    service.make(2, creditsCharged=None)
    store = Store(tmp_path)
    drive(sync_generations(store, service))

    found = Archive(store).charges("a", 10)

    assert [row["id"] for row in found] == ["g0000", "g0002"]
    assert [row["id"] for row in Archive(store).charges("a", 1)] == ["g0002"]


def test_a_negative_limit_of_the_ledger_is_refused() -> None:
    with pytest.raises(ParameterError, match="limit must be a whole number, 0 or more, not -1"):
        archive_of(table_of([])).usage(-1)
