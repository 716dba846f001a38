"""Temporary files of uploads from the browser, and that storing them copies nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kit.widgets.form.uploads import Offer, Spool, Transfer

LAKE, HILL = os.urandom(2500), os.urandom(1000)


def can_link(folder: Path) -> bool:
    spool = Spool(folder)
    try:
        return spool.can_link
    finally:
        spool.close()


def test_a_received_file_is_stored_without_a_copy(tmp_path: Path) -> None:
    if not can_link(tmp_path):
        pytest.skip("this disk cannot name a file later")
    spool, path = Spool(tmp_path), tmp_path / "lake.png"
    spool.write(LAKE)
    assert list(tmp_path.iterdir()) == [], "it has no name before"

    assert spool.link(path)

    spool.write(HILL)
    spool.close()
    assert path.read_bytes() == LAKE + HILL, "it is the same file"
    assert path.stat().st_nlink == 1


def test_an_existing_file_is_not_overwritten(tmp_path: Path) -> None:
    spool, path = Spool(tmp_path), tmp_path / "lake.png"
    spool.write(LAKE)
    path.write_bytes(HILL)

    assert not spool.link(path)

    assert path.read_bytes() == HILL
    spool.close()


def test_a_file_is_copied_where_unnamed_files_cannot_be_linked(tmp_path: Path) -> None:
    spool, path = Spool(tmp_path, flag=0), tmp_path / "lake.png"
    spool.write(LAKE)

    assert not spool.link(path)

    assert not path.exists()
    with spool.content() as content:
        path.write_bytes(content)
    spool.close()
    assert path.read_bytes() == LAKE


def test_the_next_file_is_not_written_into_the_stored_one(tmp_path: Path) -> None:
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
