"""A service that moved is followed; nothing is sent twice, and the key goes nowhere else."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kit import wire
from kit.client import calls, downloads, flows
from kit.client.addresses import ServiceLocation
from kit.client.aio import AsyncClient
from kit.client.calls import DownloadFile, Flow, Reply, SendRequest, UploadFile
from kit.client.settings import Settings
from kit.client.sync import Client
from kit.errors import ConfigError, NoAnswerError
from tests.client import third_party
from tests.client.fixtures import Clock
from tests.client.third_party import KEY, Answer, Server

START = "/v1/creative-studio/generations"
ORDER = wire.StartGeneration(model_id="paint", prompt="p")


class Finder:
    """Finds a service, or says that it cannot."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[str] = []

    def __call__(self, refused: str) -> str:
        self.asked.append(refused)
        if not self.url:
            raise ConfigError("the folder is gone")
        return self.url


def gone() -> str:
    """Return an address at which nobody listens any more."""
    with third_party.serve(third_party.storage) as server:
        return server.url


@pytest.fixture
def finder(api: Server) -> Finder:
    return Finder(api.url)


@pytest.fixture
def moved(finder: Finder, tmp_path: Path) -> Settings:
    """Settings of a studio whose service has moved to `api`."""
    url = gone()
    location = ServiceLocation(url, finder)
    return Settings(url, KEY, tmp_path / "data", name="embedded", progress=False, location=location)


class Face:
    """One of the two faces: runs flows, and single steps."""

    def __init__(self, run: Callable[[Flow[Any]], Any]) -> None:
        self.run = run

    def perform(self, step: Any) -> Any:
        def alone() -> Flow[Any]:
            return (yield step)

        return self.run(alone())


@pytest.fixture(params=["sync", "aio"])
def face(request: pytest.FixtureRequest, moved: Settings, clock: Clock) -> Iterator[Face]:
    if request.param == "sync":
        with closing(Client(moved, sleep=clock.sleep)) as client:
            yield Face(client.run)
    else:
        aclient = AsyncClient(moved, sleep=clock.asleep)
        yield Face(aclient.block)
        aclient.disconnect()


def test_it_is_followed_at_once_and_asked_for_once(
    face: Face, moved: Settings, finder: Finder, api: Server, clock: Clock
) -> None:
    assert face.run(flows.ask(calls.get_account())).id == "a1"
    assert face.run(flows.ask(calls.get_account())).id == "a1"

    assert finder.asked == [moved.base_url]
    assert clock.slept == []
    assert [seen.headers["authorization"] for seen in api.seen] == [f"Bearer {KEY}"] * 2


def test_a_start_arrives_once(face: Face, api: Server) -> None:
    assert face.run(flows.ask(calls.start_generation(ORDER))).id == "job-1"

    assert len(api.requests("POST", START)) == 1


def test_what_may_have_arrived_is_not_sent_again(face: Face, finder: Finder, api: Server) -> None:
    api.script("POST", START, Answer(drop=True))

    with pytest.raises(NoAnswerError, match="it may have been carried out"):
        face.run(flows.ask(calls.start_generation(ORDER)))

    assert len(api.requests("POST", START)) == 1
    assert len(finder.asked) == 1  # for the refusal: what broke off later is another matter


def test_files_go_to_and_come_from_its_new_address(
    face: Face, moved: Settings, api: Server
) -> None:
    api.script("PUT", "/in", Answer(200))
    api.script("GET", "/out/a.png", Answer(401, {}), Answer(200, third_party.png()))
    done = wire.Generation(id="g", status="completed", output_url=f"{moved.base_url}/out/a.png")
    cache = downloads.Cache(moved.data, moved.base_url)

    sent = face.perform(UploadFile(f"{moved.base_url}/in", {}, lambda: io.BytesIO(b"abc"), 3))
    path = face.run(downloads.output(cache, done))

    assert isinstance(sent, Reply)
    assert api.requests("PUT", "/in")[0].body == b"abc"
    assert path.read_bytes() == third_party.png()


def test_an_address_of_any_time_is_followed(
    face: Face, moved: Settings, finder: Finder, api: Server
) -> None:
    assert face.run(flows.ask(calls.get_account())).id == "a1"
    status = f"{api.url}/v1/account"
    with third_party.serve(lambda _: Answer(200, {"id": "third"})) as third:
        finder.url = third.url
        assert moved.location is not None
        assert moved.location.find_again(api.url)

        assert moved.owns(status)
        assert moved.owns(f"{moved.base_url}/x")
        assert face.run(flows.ask(calls.get_account())).id == "third"
        face.perform(SendRequest(calls.Call("GET", status, lambda body: body)))
        face.perform(DownloadFile(f"{api.url}/a.png", moved.data / "a", with_key=True))

        assert [seen.path for seen in third.seen] == ["/v1/account", "/v1/account", "/a.png"]


def test_nobody_else_who_refuses_is_looked_for(
    face: Face, moved: Settings, finder: Finder, api: Server
) -> None:
    elsewhere = gone()

    lost = face.perform(DownloadFile(f"{elsewhere}/a.png", moved.data / "a", with_key=True))

    assert lost.message.startswith(f"no connection to {elsewhere}")
    assert finder.asked == []
    assert api.seen == []


def test_the_key_goes_to_where_the_service_is_now_only(
    face: Face, moved: Settings, media: Server
) -> None:
    face.run(flows.ask(calls.get_account()))

    face.perform(SendRequest(calls.Call("GET", f"{media.url}/v1/x", lambda body: body)))
    face.perform(DownloadFile(f"{media.url}/a.png", moved.data / "a", with_key=True))

    assert len(media.seen) == 2
    assert not [seen for seen in media.seen if "authorization" in seen.headers]


def test_where_it_cannot_be_found_the_sentence_says_what_to_do(face: Face, finder: Finder) -> None:
    finder.url = ""

    with pytest.raises(NoAnswerError, match=r"gone .*\(the folder is gone\): call kit\.connect"):
        face.run(flows.ask(calls.get_account()))


def test_it_is_found_when_it_comes_back_later(face: Face, finder: Finder, api: Server) -> None:
    finder.url = ""
    with pytest.raises(NoAnswerError):
        face.run(flows.ask(calls.get_account()))
    finder.url = api.url

    assert face.run(flows.ask(calls.get_account())).id == "a1"


def test_many_threads_look_for_it_once(moved: Settings, finder: Finder) -> None:
    with closing(Client(moved)) as client, ThreadPoolExecutor(8) as pool:
        calls_made = [pool.submit(client.run, flows.ask(calls.get_account())) for _ in range(8)]

        assert {each.result().id for each in calls_made} == {"a1"}
    assert len(finder.asked) == 1


def test_two_clients_of_one_studio_share_what_was_found(moved: Settings, finder: Finder) -> None:
    with closing(Client(moved)) as first, closing(Client(replace(moved))) as second:
        assert first.run(flows.ask(calls.get_account())).id == "a1"
        assert second.run(flows.ask(calls.get_account())).id == "a1"
        assert repr(second) == f"<Client {finder.url}>"

    assert len(finder.asked) == 1


def test_a_service_that_does_not_move_is_not_looked_for(tmp_path: Path, clock: Clock) -> None:
    with (
        closing(Client(Settings(gone(), KEY, tmp_path), sleep=clock.sleep)) as client,
        pytest.raises(NoAnswerError, match="is the service running, is the address right"),
    ):
        client.run(flows.ask(calls.get_account()))
