"""Outputs: available late, names of their cached files, and failed writes."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kit.client import downloads
from kit.client.calls import Reply
from kit.client.downloads import Cache
from kit.client.flows import Policy
from kit.client.sync import Client
from kit.errors import NoAnswerError
from kit.wire import Generation, Output
from tests.client import third_party
from tests.client.fixtures import drive
from tests.client.test_downloads import cache, make
from tests.client.third_party import Answer, Server

__all__ = ["cache"]


def test_an_output_available_some_polls_later_is_waited_for(
    client: Client, cache: Cache, media: Server, api: Server
) -> None:
    path = "/v1/creative-studio/generations/job-1"
    late = {"id": "job-1", "status": "completed"}
    api.script("GET", path, *[Answer(200, late)] * 2)
    api.script("GET", path, Answer(200, {**late, "outputUrl": f"{media.url}/out"}))

    found = client.run(downloads.output(cache, make(None)))

    assert found.read_bytes() == third_party.png()
    assert len(api.requests("GET", path)) == 3


def test_the_output_of_a_failed_generation_is_requested_once(cache: Cache, policy: Policy) -> None:
    failed = Reply(200, {}, b'{"id": "job-1", "status": "failed"}')
    _, error = drive(downloads.output(cache, make(None), policy), failed)

    assert str(error) == "the generation job-1 has no output: its status is failed"


# ── names in the cache ────────────────────────────────────────────────────────────────────────────


def find(cache: Cache, moment: datetime | None, prompt: str = "a lake") -> Path:
    return cache.path(
        Generation(
            id="j1", status="completed", asset_type="image", created_at=moment, prompt=prompt
        )
    )


def test_reused_ids_have_different_cached_files(cache: Cache) -> None:
    one = datetime(2026, 1, 2, tzinfo=UTC)

    assert find(cache, one) == find(cache, one)
    assert len({find(cache, one), find(cache, one + timedelta(1)), find(cache, one, "fox")}) == 3


def test_a_poster_older_than_its_generation_is_fetched_again(
    client: Client, cache: Cache, media: Server
) -> None:
    fetched = datetime(2026, 1, 2, tzinfo=UTC)
    video = Generation(
        id="j1",
        status="completed",
        created_at=fetched + timedelta(1),
        output=Output(thumbnail_url=f"{media.url}/small"),
    )
    path = cache.path(video, poster=True)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"of another one")
    os.utime(path, (fetched.timestamp(), fetched.timestamp()))

    assert [client.run(downloads.poster(cache, video)) for _ in "ab"] == [third_party.png()] * 2
    assert len(media.seen) == 1


# ── failed writes ─────────────────────────────────────────────────────────────────────────────────


def test_a_file_that_cannot_be_written_is_reported(
    client: Client, cache: Cache, media: Server
) -> None:
    cache.folder.write_text("in the way")

    with pytest.raises(NoAnswerError, match=r"could not be written to .*outputs: ") as caught:
        client.run(downloads.output(cache, make(f"{media.url}/out")))

    assert caught.value.generation_id == "job-1"
    assert len(media.seen) == 1


def test_a_poster_that_is_not_written_is_none(client: Client, cache: Cache, media: Server) -> None:
    cache.folder.write_text("in the way")

    assert client.run(downloads.poster(cache, make(None, thumbnail_url=f"{media.url}/s"))) is None
