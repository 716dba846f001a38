from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.client.fixtures import media, other, party
from tests.client.third_party import KEY, Server
from tests.commands.conftest import Kit

__all__ = ["media", "other", "party"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


def test_a_service_is_saved_listed_and_forgotten(
    kit: Kit, other: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{KEY}\n"))

    login = kit("login", other.url, "--key-stdin", "--profile", "work")
    listed = kit("profiles", "--json")
    kit("logout", "work")

    assert login.out.startswith(f"Ada at {other.url}: saved as 'work' in ")
    assert listed.json == [{"name": "work", "baseUrl": other.url, "key": "file"}]
    assert kit("profiles").out.startswith("There are no saved services")
    assert KEY not in login.out + listed.out


def test_no_key_on_standard_input_is_a_sentence(
    kit: Kit, other: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))

    done = kit("login", other.url, "--key-stdin")

    assert done.code == 2
    assert "no key on standard input" in done.err
