from __future__ import annotations

import io
import threading

from PIL import Image

from kit.errors import NoAnswerError
from kit.widgets.table import Thumbnails, make_thumbnail
from kit.widgets.table.drawing import THUMBNAIL
from tests.widgets.gallery_items import photo

NAMES = [f"gen_{n}" for n in range(12)]


class Source:
    """A source of thumbnails that records which were fetched."""

    def __init__(self, *, local: bytes | None = None) -> None:
        self.fetched: list[str] = []
        self.local = local

    def fetch(self, name: str) -> bytes | None:
        self.fetched.append(name)
        return photo(64, 64)

    def thumbnails(self) -> Thumbnails:
        return Thumbnails(self.fetch, lambda _: self.local)


def test_thumbnails_are_fetched_in_batches_and_cached() -> None:
    source = Source()
    thumbnails = source.thumbnails()
    begin_page = thumbnails.begin_page()

    counts = [len(thumbnails.cached(NAMES)) for _ in thumbnails.fetch_missing(NAMES, begin_page)]

    assert counts == [5, 10, 12]
    assert list(thumbnails.fetch_missing(NAMES, thumbnails.begin_page())) == []
    assert sorted(source.fetched) == sorted(NAMES)


def test_a_page_change_cancels_the_remaining_batches() -> None:
    source = Source()
    thumbnails = source.thumbnails()
    batches = thumbnails.fetch_missing(NAMES, thumbnails.begin_page())
    next(batches)

    latest = thumbnails.begin_page()

    assert list(batches) == []
    assert len(source.fetched) == 5
    assert thumbnails.is_latest(latest)


def test_a_local_thumbnail_is_not_fetched() -> None:
    source = Source(local=photo(64, 64))
    thumbnails = source.thumbnails()

    assert list(thumbnails.cached(NAMES)) == NAMES
    assert list(thumbnails.fetch_missing(NAMES, thumbnails.begin_page())) == []
    assert source.fetched == []


def test_a_thumbnail_that_failed_is_not_fetched_again() -> None:
    fetched = []

    def fetch(name: str) -> bytes | None:
        fetched.append(name)
        if name == "gen_0":
            raise NoAnswerError("gone")
        return b"no picture" if name == "gen_1" else None

    thumbnails = Thumbnails(fetch, lambda _: None)
    for _ in range(2):
        list(thumbnails.fetch_missing(NAMES[:3], thumbnails.begin_page()))

    assert sorted(fetched) == NAMES[:3]
    assert set(thumbnails.cached(NAMES[:3]).values()) == {b""}


def test_thumbnails_are_fetched_concurrently() -> None:
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
