"""Subscribers of a service are notified of starts, charges and ends."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from kit.errors import NoAnswerError
from kit.studio import Studio
from kit.studio.changes import Changes, ChangeWatch, changes_at
from tests.client.third_party import Server, ThirdParty


class Follower:
    def __init__(self) -> None:
        self.count = 0

    def follow(self) -> None:
        self.count += 1


def test_a_start_and_its_end_notify_subscribers_of_the_service(studio: Studio, api: Server) -> None:
    here, elsewhere = Follower(), Follower()
    changes_at(api.url).subscribe(here.follow)
    changes_at("http://127.0.0.1:9").subscribe(elsewhere.follow)

    made = studio.generate("paint", "a lake")

    assert here.count == 2
    made.refresh()
    assert here.count == 2, "a refresh without a change notifies no one"
    assert elsewhere.count == 0


def test_a_title_notifies_subscribers(studio: Studio, api: Server) -> None:
    here = Follower()
    changes_at(api.url).subscribe(here.follow)

    studio.titles.suggest("SPACE")

    assert here.count == 1


def test_a_subscription_does_not_keep_its_owner_alive() -> None:
    changes = Changes()
    one, two = Follower(), Follower()
    changes.subscribe(one.follow)
    changes.subscribe(two.follow)
    del one
    gc.collect()

    changes.notify()

    assert two.count == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_has_no_subscribers() -> None:
    code = """
import os
from kit.studio.changes import changes_at

class Page:
    def follow(self):
        print(os.getpid() == here, flush=True)

here, page = os.getpid(), Page()
changes_at("a").subscribe(page.follow)
child = os.fork()
changes_at("a").notify()
if child:
    os.waitpid(child, 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)

    assert (done.stdout, done.stderr) == ("True\n", "")


class OtherUsers:
    """Changes by other users, and the checks for them, which take some seconds."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.now, self.checks, self.seconds = 0.0, 0, seconds
        self.newest: object = "a"
        self.waiting: list[Callable[[], None]] = []
        self.changes = Changes()
        self.watch = ChangeWatch(self.changes, lambda: self.now, self.waiting.append)

    def fetch_newest(self) -> object:
        self.checks += 1
        self.now += self.seconds
        if isinstance(self.newest, Exception):
            raise self.newest
        return self.newest

    def check(self, after: float = 60.0) -> None:
        self.now += after
        self.watch.check(self.fetch_newest)
        while self.waiting:
            self.waiting.pop()()


def test_a_change_by_others_notifies_once() -> None:
    others, here = OtherUsers(), Follower()
    others.changes.subscribe(here.follow)
    others.check()
    others.check()
    assert here.count == 1, "what is shown may be older than the first check"

    others.newest = "b"
    others.check()
    others.check()

    assert here.count == 2


def test_checks_of_many_pages_are_limited() -> None:
    others = OtherUsers()
    for _ in range(100):
        others.check(after=0.1)

    assert others.checks == 2


def test_checks_of_a_slow_service_are_rarer() -> None:
    others = OtherUsers(seconds=2.0)
    for _ in range(100):
        others.check(after=1.0)

    assert others.checks == 5


def test_a_check_that_an_outage_delayed_is_soon_repeated() -> None:
    others = OtherUsers(seconds=60.0)
    others.newest = NoAnswerError("away")
    others.check()
    others.check(after=5.0)

    assert others.checks == 2


def test_only_one_check_waits_at_a_time() -> None:
    others = OtherUsers()
    for _ in range(3):
        others.watch.check(others.fetch_newest)

    assert len(others.waiting) == 1


def test_an_outage_is_not_a_change() -> None:
    others, here = OtherUsers(), Follower()
    others.changes.subscribe(here.follow)
    others.check()
    others.newest = NoAnswerError("away")
    others.check()
    others.newest = "a"
    others.check()

    assert here.count == 1, "of the first check"
    assert others.checks == 3


def test_balance_and_newest_generations_show_changes_by_others(
    studio: Studio, backend: ThirdParty, api: Server
) -> None:
    def fetch_newest() -> object:
        return studio.client.block(studio.session.operations.newest())

    assert fetch_newest() == (None,)
    backend.orders["theirs"] = {"modelId": "paint", "prompt": "a hill", "polled": 0}
    assert fetch_newest() == (None, ("theirs", "processing", None))
    backend.orders["theirs"]["polled"] = 9
    assert fetch_newest() == (None, ("theirs", "completed", None))
    assert len(api.requests("GET", "/v1/account")) == 3
