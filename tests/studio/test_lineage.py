"""The generations whose outputs were inputs of a generation, with their costs."""

from decimal import Decimal
from pathlib import Path

import pytest

from kit import file_metadata
from kit.errors import ConfigError
from kit.studio import Studio
from tests.conftest import lasting_service
from tests.uploading import png

service = lasting_service


def test_a_lineage_shows_its_generations_and_costs(own: Studio, tmp_path: Path) -> None:
    lake = own.generate("poster", "a lake", size=512)
    edited = own.generate("retouch", media=lake)
    again = own.generate("reframe", media=edited.save(tmp_path / "edited.png"))

    chain = again.lineage()

    assert list(chain) == [lake, edited, again]
    frame = chain.frame()
    assert frame["model_id"].to_list() == ["poster", "retouch", "reframe"]
    assert frame["inputs"].to_list() == ["", lake.id, edited.id]
    costs = [one.credits for one in (lake, edited, again)]
    assert chain.credits == pytest.approx(sum(cost for cost in costs if cost is not None))
    assert frame["net"].sum() == pytest.approx(float(chain.credits))
    html = chain._repr_mimebundle_()["text/html"]
    assert html.count("<img") == 3
    assert f"3 generations · {chain.credits:g} credits in all" in html


def test_a_generation_without_inputs_has_a_lineage_of_itself(own: Studio) -> None:
    lake = own.generate("poster", "a lake", size=512)

    assert list(lake.lineage()) == [lake]


def test_the_lineage_at_another_service_comes_from_the_journal(studio: Studio) -> None:
    lake = studio.generate("paint", "a lake")
    edited = studio.generate("retouch", media=lake)

    chain = edited.lineage()

    assert chain.frame()["model_id"].to_list() == ["paint", "retouch"]
    assert chain.credits == Decimal("0.5")


def test_a_missing_generation_is_listed_by_its_id(studio: Studio, tmp_path: Path) -> None:
    file = tmp_path / "file.png"
    file.write_bytes(png())
    metadata = file_metadata.FileMetadata(model="x", generation_id="gen_of_another")
    file_metadata.embed(file, metadata)

    chain = studio.generate("retouch", media=file).lineage()

    assert chain.frame()["status"].to_list() == ["gone", "completed"]
    assert chain.frame()["generation_id"].to_list()[0] == "gen_of_another"
    assert "no longer at the service" in chain._repr_mimebundle_()["text/html"]


def test_a_start_can_ask_for_a_file_without_metadata(own: Studio, tmp_path: Path) -> None:
    lake = own.generate("poster", "a lake", size=512, metadata=False)

    with pytest.raises(ConfigError, match="no metadata about its generation"):
        own.read(lake.save(tmp_path / "lake.jpg"))
