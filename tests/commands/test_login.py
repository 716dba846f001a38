from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.client.fixtures import api, backend, media
from tests.client.third_party import KEY, Answer, Server, problem
from tests.commands.conftest import Kit

__all__ = ["api", "backend", "media"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


def test_a_profile_is_saved_listed_and_removed(
    kit: Kit, api: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{KEY}\n"))

    login = kit("login", api.url, "--profile", "work")
    listed = kit("profiles", "--json")
    models = kit("models", "--profile", "work", "--category", "fast")
    kit("logout", "work")

    assert login.out.startswith(f"Ada at {api.url}: saved as 'work' in ")
    assert listed.json == [{"name": "work", "baseUrl": api.url, "key": "file"}]
    assert kit("profiles").out.startswith("There are no saved profiles")
    assert "there is no category 'fast'; there is 'Generation'" in models.err
    assert KEY not in login.out + listed.out


def test_terminal_control_characters_of_a_service_are_removed(
    kit: Kit, api: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    evil = "\x1b]0;evil\x07\x9b31m"
    monkeypatch.setenv("KIT_BASE_URL", api.url)
    monkeypatch.setenv("KIT_API_KEY", KEY)
    api.script("GET", "/v1/creative-studio/models", Answer(200, {"image": [{"id": evil}]}))
    listed = kit("models")
    api.script("GET", "/v1/creative-studio/models", problem(403, "insufficient_scope", evil))
    refused = kit("models")

    assert "]0;evil" in listed.out
    assert "]0;evil" in refused.err
    assert not {"\x1b", "\x07", "\x9b"} & {*listed.out, *refused.err}


def test_a_missing_key_on_standard_input_is_reported(
    kit: Kit, api: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))

    done = kit("login", api.url, "--key-stdin")

    assert done.code == 2
    assert "no key on standard input" in done.err
    assert "--profile must be a name" in kit("login", api.url, "--profile", "").err
