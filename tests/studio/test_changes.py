"""Whatever is started, bought or has ended is told to those who follow a service."""

from __future__ import annotations

import gc

from kit.studio import Studio
from kit.studio.changes import Changes, changes_at
from tests.client.third_party import Server


class Follower:
    def __init__(self) -> None:
        self.count = 0

    def follow(self) -> None:
        self.count += 1


def test_a_start_and_its_end_are_told_to_all_at_the_same_service(
    studio: Studio, other: Server
) -> None:
    here, elsewhere = Follower(), Follower()
    changes_at(other.url).subscribe(here.follow)
    changes_at("http://127.0.0.1:9").subscribe(elsewhere.follow)

    made = studio.generate("paint", "a lake")

    assert here.count == 2
    made.refresh()
    assert here.count == 2, "looking at it changes nothing"
    assert elsewhere.count == 0


def test_a_title_is_told(studio: Studio, other: Server) -> None:
    here = Follower()
    changes_at(other.url).subscribe(here.follow)

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
