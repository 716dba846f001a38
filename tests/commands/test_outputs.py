"""``kit outputs``: output files are deleted at the service, generations stay."""

from pathlib import Path

from tests.commands.conftest import Kit


def make_generation(kit: Kit, tmp_path: Path) -> str:
    done = kit("generate", "flat", "a lake", "-o", tmp_path / "lake.png", "--json")
    return str(done.json["id"])


def files(tmp_path: Path) -> list[Path]:
    return [path for path in (tmp_path / "data" / "objects").rglob("*") if path.is_file()]


def test_outputs_are_deleted_with_a_timestamp(kit: Kit, tmp_path: Path) -> None:
    name = make_generation(kit, tmp_path)
    assert files(tmp_path)

    done = kit("outputs", "delete", name)

    assert done.code == 0
    assert done.out.startswith(f"{name}: file deleted on 20")
    assert files(tmp_path) == []
    [again] = kit("outputs", "delete", name, "--json").json
    assert (again["id"], again["outputsDeletedAt"][:2]) == (name, "20")


def test_no_output_is_deleted_if_a_generation_is_unknown(kit: Kit, tmp_path: Path) -> None:
    done = kit("outputs", "delete", make_generation(kit, tmp_path), "gen_0")

    assert (done.code, done.err) == (1, "kit: there is no generation 'gen_0'\n")
    assert files(tmp_path)
