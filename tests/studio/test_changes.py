"""Whatever is started, bought or has ended is told to those who follow a service."""

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


def test_a_start_and_its_end_are_told_to_all_at_the_same_service(
    studio: Studio, api: Server
) -> None:
    here, elsewhere = Follower(), Follower()
    changes_at(api.url).subscribe(here.follow)
    changes_at("http://127.0.0.1:9").subscribe(elsewhere.follow)

    made = studio.generate("paint", "a lake")

    assert here.count == 2
    made.refresh()
    assert here.count == 2, "looking at it changes nothing"
    assert elsewhere.count == 0


def test_a_title_is_told(studio: Studio, api: Server) -> None:
    here = Follower()
    changes_at(api.url).subscribe(here.follow)

    studio.titles.suggest("SPACE")

    assert here.count == 1


def test_nothing_is_kept_alive_by_following() -> None:
    changes = Changes()
    one, two = Follower(), Follower()
    changes.subscribe(one.follow)
    changes.subscribe(two.follow)
    del one
    gc.collect()

    changes.notify()

    assert two.count == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_has_no_page_that_follows() -> None:
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


class Others:
    """What others change, and when it is looked for."""

    def __init__(self) -> None:
        self.now, self.looks = 0.0, 0
        self.newest: object = "a"
        self.waiting: list[Callable[[], None]] = []
        self.changes = Changes()
        self.watch = ChangeWatch(self.changes, lambda: self.now, self.waiting.append)

    def ask(self) -> object:
        self.looks += 1
        if isinstance(self.newest, Exception):
            raise self.newest
        return self.newest

    def look(self, after: float = 60.0) -> None:
        self.now += after
        self.watch.check(self.ask)
        while self.waiting:
            self.waiting.pop()()


def test_what_others_change_is_told_once() -> None:
    others, here = Others(), Follower()
    others.changes.subscribe(here.follow)
    others.look()
    others.look()
    assert here.count == 0

    others.newest = "b"
    others.look()
    others.look()

    assert here.count == 1


def test_many_pages_look_once_in_a_while() -> None:
    others = Others()
    for _ in range(100):
        others.look(after=0.1)

    assert others.looks == 2


def test_a_look_that_waits_is_the_only_one() -> None:
    others = Others()
    for _ in range(3):
        others.watch.check(others.ask)

    assert len(others.waiting) == 1


def test_a_service_that_is_away_for_a_while_has_changed_nothing() -> None:
    others, here = Others(), Follower()
    others.changes.subscribe(here.follow)
    others.look()
    others.newest = NoAnswerError("away")
    others.look()
    others.newest = "a"
    others.look()

    assert here.count == 0
    assert others.looks == 3


def test_balance_and_newest_generations_tell_of_others(
    studio: Studio, backend: ThirdParty, api: Server
) -> None:
    def ask() -> object:
        return studio.client.block(studio.session.operations.newest())

    assert ask() == (None,)
    backend.orders["theirs"] = {"modelId": "paint", "prompt": "a hill", "polled": 0}
    assert ask() == (None, ("theirs", "processing", None))
    backend.orders["theirs"]["polled"] = 9
    assert ask() == (None, ("theirs", "completed", None))
    assert len(api.requests("GET", "/v1/account")) == 3
