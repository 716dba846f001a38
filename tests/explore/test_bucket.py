"""An archive in a bucket is read by who has neither the service nor the files."""

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
from tests.explore.fake_service import Service, driven


@pytest.fixture
def url(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where an archive can be; the keys to it are in the environment."""
    for name, text in KEYS.items():
        monkeypatch.setenv(name, text)
    return s3_server.new_bucket()


@pytest.fixture
def service() -> Service:
    made = Service()
    made.make(8, prompt="it's a lake")
    made.make(1, status="failed", creditsRefunded=0.5)
    made.make(1, status="processing")
    made.book(100.0, "grant")
    made.book(-1.5, generationId="g0001")
    return made


def synced(folder: Path, service: Service) -> Archive:
    store = Store(folder)
    driven(sync_generations(store, service))
    driven(sync_usage(store, service))
    return Archive(store)


def test_frames_sums_and_queries_of_a_bucket_are_those_of_the_disk(
    url: str, service: Service, tmp_path: Path
) -> None:
    here = synced(tmp_path, service)
    here.store.add_hashes({"g0001": bytes(HASH_SIZE)})

    publish(here.store, url)
    there = open_archive(url)

    pd.testing.assert_frame_equal(there.frame(parameters=True), here.frame(parameters=True))
    pd.testing.assert_frame_equal(there.usage(), here.usage())
    pd.testing.assert_frame_equal(there.search("lake"), here.search("lake"))
    assert there.similar(bytes(HASH_SIZE)).index.tolist() == ["g0001"]
    for query in (
        'select "parameters.size" as a, sum(net) as b from generations group by all order by 1',
        "select count(*) from usage join generations on generation_id = generations.id",
    ):
        pd.testing.assert_frame_equal(there.sql(query), here.sql(query))
    spent_there, spent_here = costs.Spending(there), costs.Spending(here)
    assert costs.total(spent_there) == costs.total(spent_here)
    pd.testing.assert_frame_equal(
        costs.by(spent_there, "model_id"), costs.by(spent_here, "model_id")
    )


def test_a_second_copy_brings_what_is_new_and_a_third_removes_what_is_merged(
    url: str, service: Service, tmp_path: Path
) -> None:
    store = synced(tmp_path, service).store
    publish(store, url)
    before = open_archive(url).files()

    service.make(2)
    publish(synced(tmp_path, service).store, url)
    assert len(open_archive(url).frame()) == 12
    assert {Path(name).name for name in before} <= BucketStore(url).list_names()

    publish(store, url)
    named = {path.name for table in ("generations", "usage") for path in store.files(table)}
    assert BucketStore(url).list_names() == {*named, "manifest.json"}


def test_an_archive_that_cannot_be_read_says_where_it_was_looked_for(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match=r"there is no archive at s3://.*/some/prefix; "):
        open_archive(url)
    with pytest.raises(ConfigError, match="must be s3://BUCKET/PREFIX"):
        open_archive("s3://key:secret@bucket/prefix")
    with pytest.raises(ConfigError, match="takes endpoint and region, not secret"):
        open_archive("s3://bucket?secret=1")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong-wrong")
    with pytest.raises(ConfigError, match="cannot be reached") as refused:
        open_archive(url)
    assert "wrong-wrong" not in str(refused.value)


def test_a_wrong_query_of_a_bucket_is_a_sentence(
    url: str, service: Service, tmp_path: Path
) -> None:
    publish(synced(tmp_path, service).store, url)

    with pytest.raises(BadRequestError, match="the query cannot be answered"):
        open_archive(url).sql("select nothing_like_this from generations")
    joined = open_archive(url).sql("select n from mine", mine=pa.table({"n": [1]}))
    assert joined["n"].tolist() == [1]
