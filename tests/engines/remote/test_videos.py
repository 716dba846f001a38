"""Clips of other services: started, polled, fetched, and deleted when they are canceled."""

from pathlib import Path
from typing import Any

import pytest

from kit.engines.base import Asset, CanceledError, Job, Progress
from kit.engines.remote.endpoints import videos as engines
from kit.errors import ConfigError, EngineError
from tests.engines.remote.conftest import Answer, Jobs, Server, png

START = ("POST", "/v1/videos")
POLL = ("GET", "/v1/videos/vid_1")
FETCH = ("GET", "/v1/videos/vid_1/content")
DELETE = ("DELETE", "/v1/videos/vid_1")


def entry(server: Server, **more: Any) -> dict[str, Any]:
    return {
        "id": "film",
        "url": server.url,
        "model": "film-1",
        "price": {"units": [{"parameter": "seconds", "credits": 0.5}]},
        "seconds": [4, 8],
        "pause": 0.01,
        **more,
    }


def state(status: str, progress: Any = None, **more: Any) -> Answer:
    return Answer(body={"id": "vid_1", "status": status, "progress": progress, **more})


def render(data: dict[str, Any], job: Job, progress: Progress | None = None) -> Asset:
    (engine,) = engines(data, job.folder.parent / "copies", False)
    return engine.render(job, progress or Progress())


def test_a_clip_is_started_polled_and_fetched(server: Server, job: Jobs, mp4: bytes) -> None:
    server.on(*START, state("queued", 0))
    server.on(*POLL, state("queued"), state("in_progress", 50), state("completed", 100))
    server.on(*FETCH, Answer(body=mp4))
    seen: list[float] = []

    asset = render(entry(server, seed=True), job(parameters={"seconds": 8}), Progress(seen.append))

    assert (asset.width, asset.height, asset.content_type) == (32, 16, "video/mp4")
    assert asset.duration_seconds == pytest.approx(0.5, abs=0.05)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    (start,) = server.to(*START)
    assert start.headers["Content-Type"].startswith("multipart/form-data")
    for part in (b'name="seconds"\r\n\r\n8', b'name="seed"\r\n\r\n7', b'name="prompt"'):
        assert part in start.body


def test_a_job_may_be_sent_as_json(server: Server, job: Jobs, mp4: bytes) -> None:
    server.on(*START, state("completed"))
    server.on(*FETCH, Answer(body=mp4))

    render(entry(server, encoding="json"), job("rain", parameters={"seconds": 4}))

    (start,) = server.to(*START)
    assert start.json() == {"model": "film-1", "prompt": "rain", "seconds": "4"}
    assert server.to(*POLL) == []


def test_a_paid_clip_survives_an_outage(server: Server, job: Jobs, mp4: bytes) -> None:
    server.on(*START, state("queued"))
    server.on(*POLL, *[Answer(502)] * 12, state("completed"))
    server.on(*FETCH, *[Answer(503)] * 12, Answer(body=mp4))

    assert render(entry(server, pause=0.001), job()).width == 32
    assert len(server.to(*START)) == 1


def test_the_first_response_may_be_the_file(server: Server, job: Jobs, mp4: bytes) -> None:
    """vLLM-Omni documentation, "Videos API", endpoints."""
    server.on("POST", "/v1/videos/sync", Answer(body=mp4, headers={"Content-Type": "video/mp4"}))

    asset = render(entry(server, path="v1/videos/sync"), job())

    assert asset.path.read_bytes() == mp4
    assert len(server.requests) == 1


@pytest.mark.parametrize("path", ["", "http://elsewhere.org/v1", "a b", "v1//videos", "v1?x=1"])
def test_an_invalid_path_of_an_entry_is_refused(path: str) -> None:
    with pytest.raises(ConfigError, match="'path'"):
        engines(entry(Server("http://host"), path=path), Path(), False)


@pytest.mark.parametrize("status", [500, 502])
def test_a_start_is_not_repeated(server: Server, job: Jobs, status: int) -> None:
    server.on(*START, Answer(status), state("completed"))

    with pytest.raises(EngineError) as caught:
        render(entry(server), job())
    assert caught.value.code == "upstream_failed"
    assert len(server.to(*START)) == 1


@pytest.mark.parametrize(
    "error",
    [
        {"message": "too rainy", "code": "x"},
        {"message": None, "code": "too rainy"},
        "too rainy",
        "too rainy, see https://a.test/x?sig=1",
    ],
)
def test_a_failed_clip_has_a_reason(server: Server, job: Jobs, error: Any) -> None:
    server.on(*START, state("queued"))
    server.on(*POLL, state("failed", error=error))

    with pytest.raises(EngineError, match="did not make the clip: too rainy") as caught:
        render(entry(server), job())
    assert "too rainy" in caught.value.detail
    assert "a.test" not in str(caught.value)
    assert caught.value.code == "upstream_failed"


@pytest.mark.parametrize(
    ("start", "content", "code"),
    [
        (Answer(body={"status": "queued"}), Answer(), "upstream_malformed"),
        (Answer(body=[]), Answer(), "upstream_malformed"),
        (Answer(body={"id": True}), Answer(), "upstream_malformed"),
        (Answer(body={"data": [{"b64_json": "###"}]}), Answer(), "upstream_malformed"),
        (Answer(body={"data": [{"url": "http://x.org/1.mp4"}]}), Answer(), "upstream_malformed"),
        (state("completed"), Answer(body=b"not a clip, not at all a clip"), "upstream_malformed"),
        (state("completed"), Answer(body=png()), "upstream_malformed"),
        (state("completed"), Answer(404), "upstream_rejected"),
        (state("completed"), Answer(302, headers={"Location": "http://x"}), "upstream_malformed"),
    ],
)
def test_an_unusable_response_raises_an_error(
    server: Server, job: Jobs, start: Answer, content: Answer, code: str
) -> None:
    server.on(*START, start)
    server.on(*FETCH, content)

    with pytest.raises(EngineError) as caught:
        render(entry(server), job())
    assert caught.value.code == code


def test_a_canceled_clip_is_deleted_there_too(server: Server, job: Jobs) -> None:
    server.on(*START, state("queued"))
    server.on(*POLL, state("in_progress", 40))
    progress = Progress(lambda fraction: progress.cancel() if fraction > 0.3 else None)

    with pytest.raises(CanceledError):
        render(entry(server), job(), progress)
    assert len(server.to(*DELETE)) == 1


def test_a_clip_that_never_ends_times_out_and_is_deleted(server: Server, job: Jobs) -> None:
    server.on(*START, state("queued"))
    server.on(*POLL, state("a word that nobody knows"))

    with pytest.raises(EngineError) as caught:
        render(entry(server, timeout=1.2), job())
    assert caught.value.code == "timed_out"
    assert len(server.to(*DELETE)) == 1


def test_the_definition_has_the_settings_of_the_entry() -> None:
    data = {
        "id": "film",
        "url": "https://film.example.org",
        "model": "m",
        "seconds": [8, 4],
        "sizes": ["1280x720"],
        "picture": "optional",
        "price": {"units": [{"parameter": "seconds", "credits": 0.5}]},
    }
    (engine,) = engines(data, Path(), False)

    found = engine.definition
    assert [(p.name, p.default, p.enum) for p in found.settings] == [
        ("seconds", 8, [4, 8]),
        ("size", "1280x720", ["1280x720"]),
    ]
    assert [(p.name, p.required) for p in found.media] == [("image", False)]
    assert (found.asset_type, found.category) == ("video", "Video Generation")
    assert "film.example.org" in found.description
