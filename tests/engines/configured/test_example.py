"""The example of the file holds only what the file may hold."""

import tomllib
from pathlib import Path

import pytest

import kit.engines.configured
from kit.engines.configured.entries import Entry, read
from kit.engines.diffusers.entry import PipelineEntry
from kit.engines.listing import KINDS
from kit.engines.remote.images import ImagesEntry
from kit.engines.remote.services import ServicesEntry
from kit.engines.remote.videos import VideosEntry

EXAMPLE = Path(kit.engines.configured.__file__).with_name("example.toml")
ENTRIES: dict[str, type[Entry]] = {
    "diffusers": PipelineEntry,
    "images": ImagesEntry,
    "videos": VideosEntry,
    "services": ServicesEntry,
}


def test_the_example_has_every_kind() -> None:
    assert ENTRIES.keys() == KINDS.keys() == tomllib.loads(EXAMPLE.read_text()).keys()


@pytest.mark.parametrize("kind", ENTRIES)
def test_every_entry_of_the_example_can_be_read(kind: str) -> None:
    for data in tomllib.loads(EXAMPLE.read_text())[kind]:
        read(ENTRIES[kind], data)


@pytest.mark.parametrize("kind", ["images", "videos"])
def test_the_remote_models_of_the_example_can_be_offered(kind: str, tmp_path: Path) -> None:
    for data in tomllib.loads(EXAMPLE.read_text())[kind]:
        assert KINDS[kind](data, tmp_path, False)
