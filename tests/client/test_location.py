"""A service that moved is found again; nothing is sent twice, and no other host gets the key."""

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
    """Finds a service, or raises an error without a URL."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[str] = []

    def __call__(self, refused: str) -> str:
        self.asked.append(refused)
        if not self.url:
            raise ConfigError("the folder is gone")
        return self.url


def unused_url() -> str:
    """Return a URL without a listening server."""
    with third_party.serve(third_party.storage) as server:
        return server.url


@pytest.fixture
def finder(api: Server) -> Finder:
    return Finder(api.url)


@pytest.fixture
def moved(finder: Finder, tmp_path: Path) -> Settings:
    """Settings of a studio whose service has moved to `api`."""
    url = unused_url()
    location = ServiceLocation(url, finder)
    return Settings(url, KEY, tmp_path / "data", name="embedded", progress=False, location=location)


class Runner:
    """The blocking or the async client: it runs flows and single steps."""

    def __init__(self, run: Callable[[Flow[Any]], Any]) -> None:
        self.run = run

    def perform(self, step: Any) -> Any:
        def run_step() -> Flow[Any]:
            return (yield step)

        return self.run(run_step())


@pytest.fixture(params=["sync", "aio"])
def runner(request: pytest.FixtureRequest, moved: Settings, clock: Clock) -> Iterator[Runner]:
    if request.param == "sync":
        with closing(Client(moved, sleep=clock.sleep)) as client:
            yield Runner(client.run)
    else:
        aclient = AsyncClient(moved, sleep=clock.async_sleep)
        yield Runner(aclient.block)
        aclient.disconnect()


def test_a_moved_service_is_found_once_without_a_pause(
    runner: Runner, moved: Settings, finder: Finder, api: Server, clock: Clock
) -> None:
    assert runner.run(flows.ask(calls.get_account())).id == "a1"
    assert runner.run(flows.ask(calls.get_account())).id == "a1"

    assert finder.asked == [moved.base_url]
    assert clock.slept == []
    assert [seen.headers["authorization"] for seen in api.seen] == [f"Bearer {KEY}"] * 2


def test_a_start_to_a_moved_service_arrives_once(runner: Runner, api: Server) -> None:
    assert runner.run(flows.ask(calls.start_generation(ORDER))).id == "job-1"

    assert len(api.requests("POST", START)) == 1


def test_an_unanswered_start_is_not_sent_again(runner: Runner, finder: Finder, api: Server) -> None:
    api.script("POST", START, Answer(drop=True))

    with pytest.raises(NoAnswerError, match="it may have been carried out"):
        runner.run(flows.ask(calls.start_generation(ORDER)))

    assert len(api.requests("POST", START)) == 1
    assert len(finder.asked) == 1  # for the refused connection, not for the broken one


def test_uploads_and_downloads_use_the_new_url(
    runner: Runner, moved: Settings, api: Server
) -> None:
    api.script("PUT", "/in", Answer(200))
    api.script("GET", "/out/a.png", Answer(401, {}), Answer(200, third_party.png()))
    done = wire.Generation(id="g", status="completed", output_url=f"{moved.base_url}/out/a.png")
    cache = downloads.Cache(moved.data, moved.base_url)

    reply = runner.perform(UploadFile(f"{moved.base_url}/in", {}, lambda: io.BytesIO(b"abc"), 3))
    path = runner.run(downloads.output(cache, done))

    assert isinstance(reply, Reply)
    assert api.requests("PUT", "/in")[0].body == b"abc"
    assert path.read_bytes() == third_party.png()


def test_every_earlier_url_of_the_service_leads_to_the_new_one(
    runner: Runner, moved: Settings, finder: Finder, api: Server
) -> None:
    assert runner.run(flows.ask(calls.get_account())).id == "a1"
    status = f"{api.url}/v1/account"
    with third_party.serve(lambda _: Answer(200, {"id": "third"})) as third:
        finder.url = third.url
        assert moved.location is not None
        assert moved.location.find_again(api.url)

        assert moved.owns(status)
        assert moved.owns(f"{moved.base_url}/x")
        assert runner.run(flows.ask(calls.get_account())).id == "third"
        runner.perform(SendRequest(calls.Call("GET", status, lambda body: body)))
        runner.perform(DownloadFile(f"{api.url}/a.png", moved.data / "a", with_key=True))

        assert [seen.path for seen in third.seen] == ["/v1/account", "/v1/account", "/a.png"]


def test_another_host_that_refuses_is_not_looked_for(
    runner: Runner, moved: Settings, finder: Finder, api: Server
) -> None:
    other_url = unused_url()

    lost = runner.perform(DownloadFile(f"{other_url}/a.png", moved.data / "a", with_key=True))

    assert lost.message.startswith(f"no connection to {other_url}")
    assert finder.asked == []
    assert api.seen == []


def test_the_key_is_sent_only_to_the_services_current_url(
    runner: Runner, moved: Settings, media: Server
) -> None:
    runner.run(flows.ask(calls.get_account()))

    runner.perform(SendRequest(calls.Call("GET", f"{media.url}/v1/x", lambda body: body)))
    runner.perform(DownloadFile(f"{media.url}/a.png", moved.data / "a", with_key=True))

    assert len(media.seen) == 2
    assert not [seen for seen in media.seen if "authorization" in seen.headers]


def test_a_service_that_is_not_found_is_reported_with_help(runner: Runner, finder: Finder) -> None:
    finder.url = ""

    with pytest.raises(NoAnswerError, match=r"gone .*\(the folder is gone\): call kit\.connect"):
        runner.run(flows.ask(calls.get_account()))


def test_a_service_that_comes_back_is_found(runner: Runner, finder: Finder, api: Server) -> None:
    finder.url = ""
    with pytest.raises(NoAnswerError):
        runner.run(flows.ask(calls.get_account()))
    finder.url = api.url

    assert runner.run(flows.ask(calls.get_account())).id == "a1"


def test_many_threads_look_for_the_service_once(moved: Settings, finder: Finder) -> None:
    with closing(Client(moved)) as client, ThreadPoolExecutor(8) as pool:
        calls_made = [pool.submit(client.run, flows.ask(calls.get_account())) for _ in range(8)]

        assert {each.result().id for each in calls_made} == {"a1"}
    assert len(finder.asked) == 1


def test_two_clients_of_one_studio_share_the_new_url(moved: Settings, finder: Finder) -> None:
    with closing(Client(moved)) as first, closing(Client(replace(moved))) as second:
        assert first.run(flows.ask(calls.get_account())).id == "a1"
        assert second.run(flows.ask(calls.get_account())).id == "a1"
        assert repr(second) == f"<Client {finder.url}>"

    assert len(finder.asked) == 1


def test_a_service_with_a_fixed_url_is_not_looked_for(tmp_path: Path, clock: Clock) -> None:
    with (
        closing(Client(Settings(unused_url(), KEY, tmp_path), sleep=clock.sleep)) as client,
        pytest.raises(NoAnswerError, match="is the service running, is the address right"),
    ):
        client.run(flows.ask(calls.get_account()))
