from pathlib import Path

from tests.commands.conftest import Kit


def test_a_cost_report_is_written_to_a_file(kit: Kit, tmp_path: Path) -> None:
    kit("generate", "flat", "a lake", "-o", "a.png")

    done = kit("costs", "report", "--budget", "5", "-o", "costs.html")

    assert done.out.strip() == "costs.html"
    assert "of 5.00 credits are spent" in (tmp_path / "costs.html").read_text()
    assert "has not begun" in kit("costs", "report", "2999-01").err
    assert "does not exist" in kit("costs", "report", "-o", "nowhere/costs.html").err


def test_a_report_of_a_mistyped_folder_is_refused(kit: Kit, tmp_path: Path) -> None:
    done = kit("costs", "report", "--data", tmp_path / "typo")

    assert f"there is no data folder {tmp_path / 'typo'}" in done.err
    assert [*tmp_path.iterdir()] == []
