from __future__ import annotations

import io
import threading

from PIL import Image

from kit.errors import NoAnswerError
from kit.widgets.table import Thumbnails, make_thumbnail
from kit.widgets.table.drawing import THUMBNAIL
from tests.widgets.exhibits import photo

NAMES = [f"gen_{n}" for n in range(12)]


class Source:
    """A place to fetch from; it notes what was asked for."""

    def __init__(self, *, near: bytes | None = None) -> None:
        self.asked: list[str] = []
        self.near = near

    def fetch(self, name: str) -> bytes | None:
        self.asked.append(name)
        return photo(64, 64)

    def thumbnails(self) -> Thumbnails:
        return Thumbnails(self.fetch, lambda _: self.near)


def test_they_come_a_few_at_a_time_and_are_kept() -> None:
    source = Source()
    thumbnails = source.thumbnails()
    begin_page = thumbnails.begin_page()

    counts = [len(thumbnails.cached(NAMES)) for _ in thumbnails.fetch_missing(NAMES, begin_page)]

    assert counts == [5, 10, 12]
    assert list(thumbnails.fetch_missing(NAMES, thumbnails.begin_page())) == []
    assert sorted(source.asked) == sorted(NAMES)


def test_turning_the_page_calls_the_rest_off() -> None:
    source = Source()
    thumbnails = source.thumbnails()
    coming = thumbnails.fetch_missing(NAMES, thumbnails.begin_page())
    next(coming)

    latest = thumbnails.begin_page()

    assert list(coming) == []
    assert len(source.asked) == 5
    assert thumbnails.is_latest(latest)


def test_what_is_near_is_not_fetched() -> None:
    source = Source(near=photo(64, 64))
    thumbnails = source.thumbnails()

    assert list(thumbnails.cached(NAMES)) == NAMES
    assert list(thumbnails.fetch_missing(NAMES, thumbnails.begin_page())) == []
    assert source.asked == []


def test_what_cannot_be_had_is_not_asked_for_again() -> None:
    asked = []

    def fetch(name: str) -> bytes | None:
        asked.append(name)
        if name == "gen_0":
            raise NoAnswerError("gone")
        return b"no picture" if name == "gen_1" else None

    thumbnails = Thumbnails(fetch, lambda _: None)
    for _ in range(2):
        list(thumbnails.fetch_missing(NAMES[:3], thumbnails.begin_page()))

    assert sorted(asked) == NAMES[:3]
    assert set(thumbnails.cached(NAMES[:3]).values()) == {b""}


def test_files_are_fetched_at_the_same_time() -> None:
    meeting = threading.Barrier(5, timeout=10)

    def fetch(name: str) -> bytes | None:
        meeting.wait()
        return None

    thumbnails = Thumbnails(fetch, lambda _: None)

    assert len(list(thumbnails.fetch_missing(NAMES[:5], thumbnails.begin_page()))) == 1


def test_a_thumbnail_is_small_and_has_the_shape_of_its_cell() -> None:
    content = make_thumbnail(photo(900, 300))

    with Image.open(io.BytesIO(content)) as shown:
        assert shown.width / shown.height == THUMBNAIL[0] / THUMBNAIL[1]
    assert len(content) < 6_000
