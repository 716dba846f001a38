from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from kit.client import profiles
from kit.errors import ConfigError
from tests.rights import is_private

URL, KEY = "https://studio.test", "cs_live_0123456789"


class Vault:
    """A keyring; `works`: whether it stores keys, `open`: whether it is unlocked."""

    def __init__(self, *, works: bool = True, open: bool = True) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.works, self.open = works, open

    def get_password(self, service: str, name: str) -> str | None:
        if not self.open:
            raise RuntimeError("locked")
        return self.kept.get((service, name))

    def set_password(self, service: str, name: str, secret: str) -> None:
        if not self.open:
            raise RuntimeError("locked")
        if self.works:
            self.kept[service, name] = secret

    def delete_password(self, service: str, name: str) -> None:
        if not self.open:
            raise RuntimeError("locked")
        del self.kept[service, name]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config" / "profiles.toml"


def test_a_key_is_saved_in_the_keyring_and_found_again(path: Path) -> None:
    vault = Vault()

    saved = profiles.save(URL, KEY, name="work", path=path, vault=vault)

    assert saved == profiles.Profile("work", URL, in_keyring=True)
    assert KEY not in path.read_text()
    assert profiles.find("work", path=path, vault=vault) == (URL, KEY)


@pytest.mark.parametrize(
    ("vault", "why"), [(Vault(works=False), "it kept nothing"), (Vault(open=False), "RuntimeError")]
)
def test_the_file_keeps_the_key_when_the_keyring_stores_nothing(
    path: Path, vault: Vault, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    saved = profiles.save(URL, KEY, path=path, vault=vault)

    assert not saved.in_keyring
    assert profiles.find("default", path=path) == (URL, KEY)
    assert is_private(path)
    [text] = [record.getMessage() for record in caplog.records]
    assert text.startswith(f"the keyring stored no key ({why}): the key of 'default' is in {path}")
    assert KEY not in text


def test_a_locked_keyring_is_reported(path: Path) -> None:
    vault = Vault()
    profiles.save(URL, KEY, path=path, vault=vault)
    vault.open = False

    with pytest.raises(
        ConfigError, match=r"cannot be opened \(RuntimeError\): unlock it, or log in"
    ):
        profiles.find("default", path=path, vault=vault)
    with pytest.raises(ConfigError, match=r"did not delete the key .* unlock it and log out"):
        profiles.forget("default", path=path, vault=vault)
    assert [each.name for each in profiles.list_profiles(path=path)] == ["default"]


def test_a_profile_without_its_key_can_be_forgotten(path: Path) -> None:
    profiles.save(URL, KEY, path=path, vault=Vault())

    profiles.forget("default", path=path, vault=Vault())

    assert profiles.list_profiles(path=path) == []


class Keyrings(ModuleType):
    """The package `keyring` with an unusable backend or a wrong configuration."""

    class Keyring:
        pass

    def __init__(self, problem: Exception | None) -> None:
        super().__init__("keyring")
        self.problem = problem

    def get_keyring(self) -> Keyring:
        if self.problem is not None:
            raise self.problem
        return self.Keyring()


@pytest.mark.parametrize(
    ("problem", "why"),
    [(None, "none works on this system"), (RuntimeError("no bus"), "RuntimeError")],
)
def test_an_unusable_keyring_is_reported_and_the_key_stays_in_the_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    problem: Exception | None,
    why: str,
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    package = Keyrings(problem)
    for name in ("keyring", "keyring.backends", "keyring.backends.fail"):
        monkeypatch.setitem(sys.modules, name, package)

    assert not profiles.save(URL, KEY).in_keyring

    [text] = [record.getMessage() for record in caplog.records]
    assert f"({why})" in text
    assert is_private(profiles.file())
    assert profiles.find("default") == (URL, KEY)
    profiles.forget("default")


def test_without_the_keyring_package_the_key_is_saved_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setitem(sys.modules, "keyring", None)

    assert not profiles.save(URL, KEY).in_keyring
    assert profiles.file().is_relative_to(tmp_path)
    assert caplog.records == []


def test_a_key_missing_from_the_keyring_is_reported(path: Path) -> None:
    profiles.save(URL, KEY, path=path, vault=Vault())

    with pytest.raises(ConfigError, match="not in the keyring any more"):
        profiles.find("default", path=path, vault=Vault())


def test_profiles_are_listed_without_keys(path: Path) -> None:
    profiles.save(URL, KEY, path=path)
    profiles.save("https://b.test/", KEY, name="b", path=path)

    found = profiles.list_profiles(path=path)

    assert [(each.name, each.base_url) for each in found] == [
        ("default", URL),
        ("b", "https://b.test"),
    ]
    assert KEY not in repr(found)


def test_forgetting_a_profile_removes_its_key(path: Path) -> None:
    vault = Vault()
    profiles.save(URL, KEY, path=path, vault=vault)
    profiles.save(URL, KEY, name="other", path=path)

    profiles.forget("default", path=path, vault=vault)

    assert vault.kept == {}
    assert [each.name for each in profiles.list_profiles(path=path)] == ["other"]
    with pytest.raises(ConfigError, match="no saved profile 'default'"):
        profiles.forget("default", path=path)


def test_an_invalid_url_or_a_reserved_name_is_not_saved(path: Path) -> None:
    with pytest.raises(ConfigError):
        profiles.save("studio.test", KEY, path=path)
    with pytest.raises(ConfigError, match="stands for the embedded service"):
        profiles.save(URL, KEY, name="embedded", path=path)
    assert not path.exists()
