"""Where files from the browser are until they are kept, and that keeping them copies nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kit.widgets.form.uploads import Offer, Spool, Transfer

LAKE, HILL = os.urandom(2500), os.urandom(1000)


def nameable(folder: Path) -> bool:
    spool = Spool(folder)
    try:
        return spool.can_link
    finally:
        spool.close()


def test_what_has_arrived_becomes_a_file_without_a_copy(tmp_path: Path) -> None:
    if not nameable(tmp_path):
        pytest.skip("this disk cannot name a file later")
    spool, path = Spool(tmp_path), tmp_path / "lake.png"
    spool.write(LAKE)
    assert list(tmp_path.iterdir()) == [], "until then it has no name"

    assert spool.link(path)

    spool.write(HILL)
    spool.close()
    assert path.read_bytes() == LAKE + HILL, "it is the same file"
    assert path.stat().st_nlink == 1


def test_what_is_there_already_is_left_alone(tmp_path: Path) -> None:
    spool, path = Spool(tmp_path), tmp_path / "lake.png"
    spool.write(LAKE)
    path.write_bytes(HILL)

    assert not spool.link(path)

    assert path.read_bytes() == HILL
    spool.close()


def test_where_no_file_can_be_named_later_it_has_to_be_copied(tmp_path: Path) -> None:
    spool, path = Spool(tmp_path, flag=0), tmp_path / "lake.png"
    spool.write(LAKE)

    assert not spool.link(path)

    assert not path.exists()
    with spool.content() as content:
        path.write_bytes(content)
    spool.close()
    assert path.read_bytes() == LAKE


def test_the_next_file_does_not_write_into_the_one_that_is_kept(tmp_path: Path) -> None:
    offers = [Offer("lake.png", "", len(LAKE)), Offer("hill.png", "", len(HILL))]
    transfer = Transfer("one", offers, tmp_path)
    for number, content in enumerate((LAKE, HILL)):
        assert transfer.write(number, 0, content)
        path = tmp_path / transfer.offer.name
        if not transfer.spool.link(path):
            path.write_bytes(content)
        transfer.advance()

    assert transfer.next_request() == {"done": True}
    assert [(tmp_path / o.name).read_bytes() for o in offers] == [LAKE, HILL]
    assert len(list(tmp_path.iterdir())) == 2
