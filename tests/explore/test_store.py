from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from kit.errors import ConfigError
from kit.explore import costs
from kit.explore.arrow import GENERATIONS
from kit.explore.store import Listing, Manifest, Store
from kit.private import Lock
from tests.explore.fake_service import archive_of, make, read_page, table_of
from tests.rights import is_private


def rows(*names: str, at: str = "2026-01-01T00:00:00Z") -> pa.Table:
    items = [{"id": n, "status": "completed", "createdAt": at} for n in names]
    return read_page(json.dumps(items).encode())


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "history")


def test_only_files_in_the_manifest_belong_to_the_store(store: Store) -> None:
    parts = store.write(rows("a"))
    store.write(rows("b"))
    store.commit(Manifest(Listing(parts)))

    assert [path.name for path in store.files()] == list(parts)
    store.delete_unused()
    assert [path.name for path in store.folder.glob("*.parquet")] == list(parts)


@pytest.mark.parametrize("text", ["", "[", "{}", '{"version": 5, "usage": 2}', '{"version": "1"}'])
def test_an_invalid_or_older_manifest_means_an_empty_store(store: Store, text: str) -> None:
    store.lock()
    (store.folder / "manifest.json").write_text(text)

    assert store.manifest() == Manifest()


def test_the_store_of_a_newer_version_is_refused(store: Store) -> None:
    store.lock()
    (store.folder / "manifest.json").write_text('{"version": 99, "usage": "in another form"}')

    for use in (store.manifest, store.files, store.delete_unused):
        with pytest.raises(
            ConfigError, match=r"history in .* was made by a newer version of the kit"
        ):
            use()


def test_known_rows_are_omitted_and_new_ones_kept_once(store: Store) -> None:
    parts = store.write(rows("a", "b"))

    assert store.filter_new(rows("c", "a", "d", "c"), parts)["id"].to_pylist() == ["d", "c"]
    assert store.filter_new(rows("a", at="2026-01-01T03:00:00.5Z"), parts).num_rows == 0


def test_small_parts_are_merged_and_large_ones_kept(store: Store) -> None:
    big = store.write(rows("x", "y", "z"))
    parts = dict(big)
    for name in "abcde":
        parts |= store.write(rows(name))
    found = store.merge_small(Listing(parts), GENERATIONS, small=3, many=4, merged=4)
    merged = found.parts

    assert big.items() <= merged.items()
    assert sorted(merged.values()) == [1, 3, 4]


def test_files_are_private(store: Store) -> None:
    store.commit(Manifest(Listing(store.write(rows("a")))))

    assert all(map(is_private, store.folder.iterdir()))


def test_the_lock_of_a_killed_process_is_released(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    code = f"""
from pathlib import Path
from kit.private import Lock
lock = Lock(Path({str(path)!r}))
print(lock.acquire(), flush=True)
input()
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "True\n"
        mine = Lock(path)
        assert not mine.acquire()
        other.kill()
        other.wait()
        assert mine.acquire()
        mine.release()


def test_groups_by_a_parameter_do_not_depend_on_its_position_and_type() -> None:
    texts = (
        '{"seed": 7, "size": 2}',
        '{"size": 2, "seed": 8}',
        '{"size": 2}',
        '{"seed": 9}',
        '{"size": {"seed": 7}}',
        '{"size": "\\"seed\\":7, {"}',
        '{"seed": 7.5, "size": 2}',
        '{"x\\"seed": 7, "size": 2}',
    )
    generations = (make(n, parameters=json.loads(text)) for n, text in enumerate(texts))
    archive = archive_of(table_of(generations))
    by_size, by_seed = (
        costs.by(costs.Spending(archive), f"parameters.{name}") for name in ("size", "seed")
    )

    sizes = zip(by_size["parameters.size"].fillna("-"), by_size["count"], strict=True)
    assert {str(size): count for size, count in sizes} == {
        "2": 5,
        "-": 1,
        '{"seed":7}': 1,
        '"seed":7, {': 1,
    }
    seeds = zip(by_seed["parameters.seed"].fillna(0), by_seed["count"], strict=True)
    assert dict(seeds) == {7: 1, 8: 1, 9: 1, 7.5: 1, 0: 4}
    assert "settings" not in archive.frame()
    assert "settings" not in archive.sql("select * from generations")
    assert "settings" not in costs.charges(costs.Spending(archive))
