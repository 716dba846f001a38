from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kit.client import downloads
from kit.client.calls import DownloadFile, Reply, Sleep
from kit.client.downloads import Cache
from kit.client.flows import Policy
from kit.client.sync import Client
from kit.errors import NoAnswerError
from kit.wire import Generation, Output
from tests.client import third_party
from tests.client.fixtures import drive
from tests.client.third_party import Answer, Request, Server

SHA = hashlib.sha256(third_party.png()).hexdigest()


@pytest.fixture
def cache(tmp_path: Path, api: Server) -> Cache:
    return Cache(tmp_path / "outputs", api.url)


def make(url: str | None, **facts: Any) -> Generation:
    output = Output(content_type="image/png", **facts)
    return Generation(id="job-1", status="completed", output_url=url, output=output)


def test_an_output_is_fetched_once(client: Client, cache: Cache, media: Server) -> None:
    generation = make(f"{media.url}/out")

    paths = {client.run(downloads.output(cache, generation)) for _ in range(2)}

    assert len(paths) == 1
    assert len(media.seen) == 1
    assert paths.pop().read_bytes() == third_party.png()


def test_a_known_hash_is_verified_and_names_the_file(
    client: Client, cache: Cache, media: Server
) -> None:
    path = client.run(downloads.output(cache, make(f"{media.url}/out", sha256=SHA)))

    assert path.name == f"{SHA}.png"


def test_a_file_with_a_wrong_hash_is_removed(client: Client, cache: Cache, media: Server) -> None:
    with pytest.raises(NoAnswerError, match="SHA-256 differs") as caught:
        client.run(downloads.output(cache, make(f"{media.url}/out", sha256="0" * 64)))

    assert caught.value.generation_id == "job-1"
    assert list(cache.folder.iterdir()) == []


def test_a_broken_download_is_repeated(client: Client, cache: Cache, media: Server) -> None:
    media.script("GET", "/out", Answer(drop=True), Answer(503, {}))

    path = client.run(downloads.output(cache, make(f"{media.url}/out")))

    assert path.read_bytes() == third_party.png()
    assert [p.name for p in cache.folder.iterdir()] == [path.name]


def test_an_expired_output_url_is_requested_again(
    client: Client, cache: Cache, media: Server, api: Server
) -> None:
    fresh = {"id": "job-1", "status": "completed", "outputUrl": f"{media.url}/fresh"}
    api.script("GET", "/v1/creative-studio/generations/job-1", Answer(200, fresh))
    media.script("GET", "/stale", Answer(403, {}))

    path = client.run(downloads.output(cache, make(f"{media.url}/stale")))

    assert path.exists()
    assert [seen.path for seen in media.seen] == ["/stale", "/fresh"]


HTML = {"Content-Type": "text/html; charset=UTF-8"}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(200, b"<!doctype html>sign in", HTML), "is a web page"),
        (Answer(200, b""), "is empty"),
        (Answer(204, b""), "is empty"),
    ],
)
def test_a_web_page_or_empty_body_is_not_cached_as_output(
    client: Client, cache: Cache, media: Server, answer: Answer, why: str
) -> None:
    generation = make(f"{media.url}/out")
    media.script("GET", "/out", *[answer] * 5)

    with pytest.raises(NoAnswerError, match=f"job-1 could not be fetched: what arrived {why}"):
        client.run(downloads.output(cache, generation))

    assert client.run(downloads.output(cache, generation)).read_bytes() == third_party.png()


def test_a_picture_with_the_content_type_html_is_kept(
    client: Client, cache: Cache, media: Server
) -> None:
    media.script("GET", "/out", Answer(200, third_party.png(), HTML))

    assert client.run(downloads.output(cache, make(f"{media.url}/out"))).suffix == ".png"


def test_a_generation_without_an_output_is_reported(policy: Policy, cache: Cache) -> None:
    late = Reply(200, {}, b'{"id": "job-1", "status": "completed"}')
    steps, error = drive(downloads.output(cache, make(None), policy), *[late] * 4)

    assert str(error) == "the generation job-1 has no output: its status is completed"
    assert isinstance(error, downloads.GoneError)
    assert sum(isinstance(step, Sleep) for step in steps) == 4  # it may come a little later


def test_an_output_url_may_be_relative(cache: Cache, policy: Policy) -> None:
    steps, _ = drive(downloads.output(cache, make("/files/x.png"), policy), Reply(400))

    assert steps[0].url == f"{cache.base_url}/files/x.png"


@pytest.mark.parametrize("number", [429, 503])
def test_a_download_waits_as_long_as_a_busy_storage_asks(
    cache: Cache, policy: Policy, number: int
) -> None:
    busy, gone = Reply(number, {"retry-after": "3"}), Reply(400)

    flow = downloads.output(cache, make("https://a.test/x"), policy)
    steps, _ = drive(flow, busy, busy, gone)

    assert [step.seconds for step in steps if isinstance(step, Sleep)] == [3.0, 3.0]


def test_a_long_pause_asked_by_the_storage_is_not_waited_for(cache: Cache, policy: Policy) -> None:
    flow = downloads.output(cache, make("https://a.test/x"), policy)

    steps, error = drive(flow, Reply(503, {"retry-after": "3600"}))

    assert [type(step) for step in steps] == [DownloadFile]
    assert str(error).endswith("the service asks to wait 60 minutes before the next request")


def test_endless_redirects_are_given_up(cache: Cache, policy: Policy) -> None:
    moved = Reply(302, {"location": "https://a.test/again"})

    steps, error = drive(downloads.output(cache, make("https://a.test/x"), policy), *[moved] * 6)

    assert sum(isinstance(step, DownloadFile) for step in steps) == 6
    assert str(error).endswith("could not be fetched: its URL redirects, but not to a file")


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "", "x" * 300, "C:\\x", "ü"])
def test_an_unsafe_id_stays_inside_the_cache(cache: Cache, name: str) -> None:
    path = cache.path(Generation(id=name, output_url="https://a.test/x.PNG?sig=1"))

    assert path.parent == cache.folder
    assert len(path.name) < 120


def test_two_services_do_not_share_cached_files(tmp_path: Path) -> None:
    generation = Generation(id="1", output_url="https://a.test/x.png")

    paths = {Cache(tmp_path, url).path(generation) for url in ("https://a.test", "https://b.test")}

    assert len(paths) == 2


def test_a_poster_is_kept_beside_its_video(client: Client, cache: Cache, media: Server) -> None:
    generation = make(f"{media.url}/out", thumbnail_url=f"{media.url}/thumb")

    posters = {client.run(downloads.poster(cache, generation)) for _ in range(2)}

    assert posters == {third_party.png()}
    assert len(media.seen) == 1
    assert client.run(downloads.poster(cache, make(None).model_copy(update={"id": "2"}))) is None


def test_a_poster_that_is_missing_is_none(client: Client, cache: Cache, media: Server) -> None:
    media.script("GET", "/thumb", Answer(404, {}))

    assert (
        client.run(downloads.poster(cache, make(None, thumbnail_url=f"{media.url}/thumb"))) is None
    )


def test_a_generation_that_failed_meanwhile_is_reported(policy: Policy, cache: Cache) -> None:
    body = json.dumps({"id": "job-1", "status": "failed", "error": "gone"}).encode()
    flow = downloads.output(cache, make("https://a.test/x"), policy)

    _, error = drive(flow, Reply(404), Reply(200, {}, body))

    assert str(error) == "the generation job-1 has no output: its status is failed"


# ── resumed downloads ─────────────────────────────────────────────────────────────────────────────


class Halves:
    """Another origin that sends half of a file first, and supports ranges."""

    def __init__(self, content: bytes, *, etag: str = '"1"') -> None:
        self.content, self.etag, self.whole = content, etag, True

    def __call__(self, request: Request) -> Answer:
        requested = request.headers.get("range")
        same = request.headers.get("if-range", self.etag) == self.etag
        start = int(requested.removeprefix("bytes=")[:-1]) if requested and same else 0
        rest = self.content[start:]
        headers = {"ETag": self.etag, "Content-Type": "image/png"}
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(self.content) - 1}/{len(self.content)}"
        return Answer(206 if start else 200, rest, headers, cut=None if start else len(rest) // 2)


@pytest.mark.parametrize("known", [True, False])
def test_a_broken_download_is_resumed_by_range(client: Client, cache: Cache, known: bool) -> None:
    with third_party.serve(Halves(third_party.png())) as media:
        facts = {"sha256": SHA} if known else {}
        path = client.run(downloads.output(cache, make(f"{media.url}/out", **facts)))

    assert path.read_bytes() == third_party.png()
    first, second = (seen.headers.get("range") for seen in media.seen)
    assert (first, second) == (None, f"bytes={len(third_party.png()) // 2}-")
    assert media.seen[1].headers.get("if-range") == (None if known else '"1"')


def test_a_file_that_has_changed_is_fetched_from_the_start(client: Client, cache: Cache) -> None:
    halves = Halves(third_party.png())
    with third_party.serve(halves) as media:

        def answer_changed(request: Request) -> Answer:
            answer = halves(request)
            if len(media.seen) > 1:
                halves.etag = '"2"'
                return replace(halves(request), cut=None)
            return answer

        media.app = answer_changed
        path = client.run(downloads.output(cache, make(f"{media.url}/out")))

    assert path.read_bytes() == third_party.png()
    assert len(media.seen) == 2


def test_the_next_call_resumes_an_interrupted_download(
    client: Client, cache: Cache, policy: Policy
) -> None:
    with third_party.serve(Halves(third_party.png())) as media:
        generation = make(f"{media.url}/out", sha256=SHA)
        flow = downloads.output(cache, generation, policy)
        client.perform(next(flow))
        flow.close()  # the kernel was interrupted
        assert [p.name for p in cache.folder.iterdir()] == [f"{SHA}.png.part"]

        path = client.run(downloads.output(cache, generation))

    assert path.read_bytes() == third_party.png()
    assert media.seen[-1].headers["range"] == f"bytes={len(third_party.png()) // 2}-"
    assert [p.name for p in cache.folder.iterdir()] == [path.name]


def test_a_partial_file_of_other_content_is_discarded(
    client: Client, cache: Cache, media: Server
) -> None:
    cache.folder.mkdir()
    (cache.folder / f"{SHA}.png.part").write_bytes(b"of something else")
    app = Halves(third_party.png())
    media.app = lambda seen: replace(app(seen), cut=None)

    path = client.run(downloads.output(cache, make(f"{media.url}/out", sha256=SHA)))

    assert path.read_bytes() == third_party.png()
    assert [seen.headers.get("range") for seen in media.seen] == ["bytes=17-", None]
