"""An archive in a bucket is read without the service and the local files."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from kit.errors import BadRequestError, ConfigError
from kit.explore import costs
from kit.explore.archive import Archive
from kit.explore.bucket import BucketStore, open_archive, publish
from kit.explore.search import HASH_SIZE
from kit.explore.store import Store
from kit.explore.syncing import sync_generations, sync_usage
from tests.buckets import KEYS, S3Server
from tests.explore.fake_service import Service, drive


@pytest.fixture
def url(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of an empty bucket whose keys are in the environment."""
    for name, text in KEYS.items():
        monkeypatch.setenv(name, text)
    return s3_server.new_bucket()


@pytest.fixture
def service() -> Service:
    made = Service()
    made.make(8, prompt="it's a lake")
    made.make(1, status="failed", creditsRefunded=0.5)
    made.make(1, status="processing")
    made.add_entry(100.0, "grant")
    made.add_entry(-1.5, generationId="g0001")
    return made


def sync(folder: Path, service: Service) -> Archive:
    store = Store(folder)
    drive(sync_generations(store, service))
    drive(sync_usage(store, service))
    return Archive(store)


def test_an_archive_in_a_bucket_gives_the_same_results_as_on_disk(
    url: str, service: Service, tmp_path: Path
) -> None:
    on_disk = sync(tmp_path, service)
    on_disk.store.add_hashes({"g0001": bytes(HASH_SIZE)})

    publish(on_disk.store, url)
    in_bucket = open_archive(url)

    pd.testing.assert_frame_equal(in_bucket.frame(parameters=True), on_disk.frame(parameters=True))
    pd.testing.assert_frame_equal(in_bucket.usage(), on_disk.usage())
    pd.testing.assert_frame_equal(in_bucket.search("lake"), on_disk.search("lake"))
    assert in_bucket.similar(bytes(HASH_SIZE)).index.tolist() == ["g0001"]
    for query in (
        'select "parameters.size" as a, sum(net) as b from generations group by all order by 1',
        "select count(*) from usage join generations on generation_id = generations.id",
    ):
        pd.testing.assert_frame_equal(in_bucket.sql(query), on_disk.sql(query))
    spent_there, spent_here = costs.Spending(in_bucket), costs.Spending(on_disk)
    assert costs.total(spent_there) == costs.total(spent_here)
    pd.testing.assert_frame_equal(
        costs.by(spent_there, "model_id"), costs.by(spent_here, "model_id")
    )


def test_publishing_to_a_bucket_again_adds_new_and_removes_merged_files(
    url: str, service: Service, tmp_path: Path
) -> None:
    store = sync(tmp_path, service).store
    publish(store, url)
    before = open_archive(url).files()

    service.make(2)
    publish(sync(tmp_path, service).store, url)
    assert len(open_archive(url).frame()) == 12
    assert {Path(name).name for name in before} <= BucketStore(url).list_names()

    publish(store, url)
    named = {path.name for table in ("generations", "usage") for path in store.files(table)}
    assert BucketStore(url).list_names() == {*named, "manifest.json"}


def test_an_archive_missing_in_a_bucket_is_reported_with_its_url(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match=r"there is no archive at s3://.*/some/prefix; "):
        open_archive(url)
    with pytest.raises(ConfigError, match="must be s3://BUCKET/PREFIX"):
        open_archive("s3://key:secret@bucket/prefix")
    with pytest.raises(ConfigError, match="must be s3://BUCKET/PREFIX"):
        open_archive(Path("folder"))  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="takes endpoint and region, not secret"):
        open_archive("s3://bucket?secret=1")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong-wrong")
    with pytest.raises(ConfigError, match="cannot be reached") as refused:
        open_archive(url)
    assert "wrong-wrong" not in str(refused.value)


def test_a_wrong_query_of_a_bucket_is_reported(url: str, service: Service, tmp_path: Path) -> None:
    publish(sync(tmp_path, service).store, url)

    with pytest.raises(BadRequestError, match="the query cannot be answered"):
        open_archive(url).sql("select nothing_like_this from generations")
    joined = open_archive(url).sql("select n from mine", mine=pa.table({"n": [1]}))
    assert joined["n"].tolist() == [1]
