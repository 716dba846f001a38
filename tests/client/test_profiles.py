from __future__ import annotations

import stat
from pathlib import Path

import pytest

from kit.client import profiles
from kit.errors import ConfigError

URL, KEY = "https://studio.test", "cs_live_0123456789"


class Vault:
    """A keyring; `works` is whether it keeps anything, `open` whether it answers at all."""

    def __init__(self, *, works: bool = True, open: bool = True) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.works, self.open = works, open

    def get_password(self, service: str, name: str) -> str | None:
        return self.kept.get((service, name))

    def set_password(self, service: str, name: str, secret: str) -> None:
        if not self.open:
            raise RuntimeError("locked")
        if self.works:
            self.kept[service, name] = secret

    def delete_password(self, service: str, name: str) -> None:
        del self.kept[service, name]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config" / "profiles.toml"


def test_a_key_goes_to_the_keyring_and_comes_back(path: Path) -> None:
    vault = Vault()

    saved = profiles.save(URL, KEY, name="work", path=path, vault=vault)

    assert saved == profiles.Profile("work", URL, in_keyring=True)
    assert KEY not in path.read_text()
    assert profiles.find("work", path=path, vault=vault) == (URL, KEY)


@pytest.mark.parametrize("vault", [Vault(works=False), Vault(open=False)])
def test_a_keyring_that_keeps_nothing_is_not_trusted(path: Path, vault: Vault) -> None:
    saved = profiles.save(URL, KEY, path=path, vault=vault)

    assert not saved.in_keyring
    assert profiles.find("default", path=path) == (URL, KEY)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_key_that_left_the_keyring_is_a_sentence(path: Path) -> None:
    profiles.save(URL, KEY, path=path, vault=Vault())

    with pytest.raises(ConfigError, match="not in the keyring any more"):
        profiles.find("default", path=path, vault=Vault())


def test_profiles_are_listed_without_keys(path: Path) -> None:
    profiles.save(URL, KEY, path=path)
    profiles.save("https://b.test/", KEY, name="b", path=path)

    found = profiles.known(path=path)

    assert [(each.name, each.base_url) for each in found] == [
        ("default", URL),
        ("b", "https://b.test"),
    ]
    assert KEY not in repr(found)


def test_a_forgotten_profile_leaves_nothing(path: Path) -> None:
    vault = Vault()
    profiles.save(URL, KEY, path=path, vault=vault)
    profiles.save(URL, KEY, name="other", path=path)

    profiles.forget("default", path=path, vault=vault)

    assert vault.kept == {}
    assert [each.name for each in profiles.known(path=path)] == ["other"]
    with pytest.raises(ConfigError, match="no saved profile 'default'"):
        profiles.forget("default", path=path)


def test_what_cannot_be_right_is_not_saved(path: Path) -> None:
    with pytest.raises(ConfigError):
        profiles.save("studio.test", KEY, path=path)
    assert not path.exists()
