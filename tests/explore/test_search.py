"""Search by words and by similar pictures."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from kit.errors import BadRequestError
from kit.explore.archive import Archive, search_rows
from kit.explore.filters import parse_filter
from kit.explore.search import hash_picture, likeness
from kit.explore.store import Store
from kit.explore.syncing import sync_generations
from tests.explore.fake_service import Service, archive_of, drive, make, table_of

PROMPTS = (
    "a snowy lake at dawn",
    "a lakeside hut, snowy",
    "Ein verschneiter SEE im März",
    "a town",
    "100% glass (blue)",
)


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """Five generations, g0000 to g0004, of which the fourth has a tag."""
    service = Service()
    for prompt in PROMPTS:
        service.make(
            1, prompt=prompt, **({"tags": {"mood": "snowy"}} if prompt == "a town" else {})
        )
    store = Store(tmp_path)
    drive(sync_generations(store, service))
    return Archive(store)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("snowy", ["g0001", "g0000", "g0003"]),
        ("LAKE snowy", ["g0000", "g0001"]),
        ('"snowy lake"', ["g0000"]),
        ("mood=snowy", ["g0003"]),
        ("see marz", ["g0002"]),
        ("100% (blue)", ["g0004"]),
        ("g0003", ["g0003"]),
        ("lake town", []),
        ("it's", []),
    ],
)
def test_results_have_all_words_with_whole_words_of_prompts_first(
    archive: Archive, text: str, names: list[str]
) -> None:
    found = archive.search(text)

    assert found.index.tolist() == names
    assert found["score"].is_monotonic_decreasing
    shown = archive.frame()
    assert shown.index[search_rows(shown, text)].tolist() == names


def test_the_score_counts_whole_words_of_the_prompt(archive: Archive) -> None:
    assert archive.search("lake snowy")["score"].tolist() == [1.0, 0.75]
    assert archive.search("mood=snowy")["score"].tolist() == [0.5]


@pytest.mark.parametrize("word", ["лес", "森", "two"])
def test_whole_words_are_recognized_in_any_script(word: str) -> None:
    prompts = ["лес у озера, 森 \ntwo", "полесье, 森林, twofold"]
    archive = archive_of(table_of(make(n, prompt=prompt) for n, prompt in enumerate(prompts)))

    assert archive.search(word)["score"].tolist() == [1.0, 0.5]


def test_a_search_accepts_filters(archive: Archive) -> None:
    assert archive.search("snowy", parse_filter(model="b")).index.tolist() == ["g0001", "g0003"]
    assert archive.search("snowy", parse_filter(tag="mood=snowy")).index.tolist() == ["g0003"]


def test_an_empty_search_is_refused(archive: Archive) -> None:
    with pytest.raises(BadRequestError, match="a search takes words"):
        archive.search("  ")


def picture(seed: int, size: tuple[int, int] = (400, 300), kind: str = "PNG") -> io.BytesIO:
    """Return a picture of large blurred patches."""
    patches = np.random.default_rng(seed).integers(0, 256, (3, 4, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(patches).resize(size, Image.Resampling.BICUBIC).save(file, kind)
    file.seek(0)
    return file


def test_a_smaller_compressed_copy_of_a_picture_that_is_stored_sideways_is_similar() -> None:
    first, exif = hash_picture(picture(1)), Image.Exif()
    exif[0x0112] = 6
    turned = Image.open(picture(1, (160, 120))).transpose(Image.Transpose.ROTATE_90)
    turned.save(copy := io.BytesIO(), "JPEG", exif=exif)

    assert likeness([hash_picture(copy)], first)[0] > 0.97
    assert likeness([hash_picture(picture(seed)) for seed in range(2, 9)], first).max() < 0.9


def test_the_most_similar_picture_comes_first(archive: Archive, tmp_path: Path) -> None:
    files = {}
    for number in range(4):
        files[f"g{number:04d}"] = path = tmp_path / f"{number}.jpg"
        path.write_bytes(picture(number, (200, 150), "JPEG").getvalue())
    files["g0003"].write_bytes(b"no picture")
    archive.add_hashes(files)
    assert archive.without_hash() == ["g0004"]

    found = archive.similar(hash_picture(picture(2)))

    assert found.index[0] == "g0002"
    assert sorted(found.index) == ["g0000", "g0001", "g0002"]
    assert found["likeness"].is_monotonic_decreasing
    assert len(archive.similar(hash_picture(picture(2)), 1)) == 1
    assert archive.similar(
        hash_picture(picture(2)), choice=parse_filter(model="b")
    ).index.tolist() == ["g0001"]
