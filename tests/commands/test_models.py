"""``kit models`` tells what is missing from its list, and why."""

from pathlib import Path

import pytest

from tests.commands.conftest import Kit


def test_what_is_left_out_is_said_below_the_list(kit: Kit, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "engines.toml").write_text('[[diffuser]]\nid = "near"\n')

    done = kit("models")

    assert "poster" in done.out
    assert "left out" not in done.out
    broken = "the engine 'broken' of the package 'demo-engines' (demo_engines:Missing) is left out"
    assert broken in done.err
    assert "; update or uninstall that package" in done.err
    assert "unknown table" in done.err
    assert f"; correct {data / 'engines.toml'}" in done.err


def test_of_another_service_nothing_is_said(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    from kit.commands.models import list_left_out

    monkeypatch.setenv("KIT_API_KEY", "cs_test_abc")
    monkeypatch.setenv("KIT_BASE_URL", "https://studio.example.org")

    assert list(list_left_out(None)) == []
