from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kit.client.addresses import mask
from kit.client.profiles import save
from kit.client.settings import Settings, data_folder, embedded_settings, resolve
from kit.errors import ConfigError
from tests.rights import is_private

URL, KEY = "https://studio.test", "cs_live_0123456789"
#: The code of a process whose user has no name, as in some containers.
_NAMELESS = """
import pwd
pwd.getpwuid = {}.__getitem__
from kit.client.settings import data_folder, resolve
from kit.service.settings import load
print(resolve(environment={}), data_folder(environment={}), load({}).data)
"""


@pytest.fixture
def profiles(tmp_path: Path) -> Path:
    return tmp_path / "config" / "profiles.toml"


def read_pair(settings: Settings | None) -> tuple[str, str]:
    assert settings is not None
    return settings.base_url, settings.api_key


def test_without_settings_the_embedded_service_is_used(profiles: Path) -> None:
    assert resolve(environment={}, profiles=profiles) is None


@pytest.mark.skipif(os.name != "posix", reason="users of Windows have names")
def test_a_user_without_a_home_has_data_in_the_root_folder() -> None:
    environment = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG")}

    done = subprocess.run(
        [sys.executable, "-c", _NAMELESS], env=environment, capture_output=True, text=True
    )

    assert done.stdout == "None /.data/creative-studio-kit /.data/creative-studio-kit\n", (
        done.stderr
    )


def test_arguments_take_precedence_over_environment_and_profile(profiles: Path) -> None:
    save("https://saved.test", "saved", path=profiles)
    env = {"KIT_BASE_URL": "https://env.test", "KIT_API_KEY": "env"}

    assert read_pair(resolve(URL, KEY, environment=env, profiles=profiles)) == (URL, KEY)
    assert read_pair(resolve(environment=env, profiles=profiles)) == ("https://env.test", "env")
    assert read_pair(resolve(environment={}, profiles=profiles)) == ("https://saved.test", "saved")


def test_a_named_profile_takes_precedence_over_the_environment(profiles: Path) -> None:
    save("https://work.test", "w", name="my work", path=profiles)
    env = {"KIT_BASE_URL": "https://env.test", "KIT_API_KEY": "env"}

    chosen = resolve(profile="my work", environment=env, profiles=profiles)

    assert read_pair(chosen) == ("https://work.test", "w")


def test_the_environment_may_name_a_profile(profiles: Path) -> None:
    save("https://work.test", "w", name="work", path=profiles)

    chosen = resolve(environment={"KIT_PROFILE": "work"}, profiles=profiles)

    assert read_pair(chosen) == ("https://work.test", "w")


def test_the_embedded_service_can_be_chosen_as_a_profile(profiles: Path) -> None:
    save("https://work.test", "w", path=profiles)

    assert read_pair(resolve(environment={}, profiles=profiles)) == ("https://work.test", "w")
    assert resolve(profile="embedded", environment={}, profiles=profiles) is None
    assert resolve(environment={"KIT_PROFILE": "embedded"}, profiles=profiles) is None


def test_an_unknown_profile_is_reported(profiles: Path) -> None:
    with pytest.raises(ConfigError, match="no saved profile 'nope'"):
        resolve(profile="nope", environment={}, profiles=profiles)


def test_a_key_of_the_environment_is_used_only_for_its_own_host() -> None:
    env = {"KIT_BASE_URL": "https://env.test", "KIT_API_KEY": "env"}

    with pytest.raises(ConfigError, match="pass api_key as well"):
        resolve("https://other.test", environment=env)
    assert read_pair(resolve("https://env.test/prefix", environment=env)) == (
        "https://env.test/prefix",
        "env",
    )
    assert read_pair(resolve(URL, environment={"KIT_API_KEY": "any"})) == (URL, "any")


@pytest.mark.parametrize(
    ("base_url", "api_key", "env", "message"),
    [
        (URL, None, {}, "no API key for the service: pass api_key"),
        (None, KEY, {}, "an API key but no address .* pass base_url"),
        (None, None, {"KIT_API_KEY": "x"}, "KIT_API_KEY is set, set KIT_BASE_URL too"),
        (None, None, {"KIT_BASE_URL": URL}, "KIT_BASE_URL is set, set KIT_API_KEY too"),
    ],
)
def test_a_url_without_a_key_or_a_key_without_a_url_is_reported(
    base_url: str | None, api_key: str | None, env: dict[str, str], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        resolve(base_url, api_key, environment=env)


@pytest.mark.parametrize(
    "url",
    [
        "studio.test",
        "localhost:8000",
        "ftp://studio.test",
        "https://",
        "https://a b.test",
        "https://u:p@studio.test",
        "https://studio.test/?x=1",
        "https://studio.test/#x",
        "https://studio.test:port",
        "http://[bad",
        "https://stüdio.test",
    ],
)
def test_an_invalid_base_url_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="the service's address"):
        Settings(url, KEY, Path())


@pytest.mark.parametrize("key", ["", " ", "cs_test a", "cs_test_a\n", "clé", "a\tb"])
def test_an_invalid_key_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(ConfigError, match="the API key is empty or has blanks") as caught:
        Settings(URL, key, Path())

    assert len(key.strip()) < 3 or key.strip() not in str(caught.value)


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/", "//v1"])
def test_a_trailing_slash_and_version_are_removed_from_the_base_url(ending: str) -> None:
    assert Settings(f"{URL}/api{ending}", KEY, Path()).base_url == f"{URL}/api"
    assert Settings("http://v1/", KEY, Path()).base_url == "http://v1"


@pytest.mark.parametrize(
    ("key", "shown"),
    [("cs_test_abc", "cs_test_…"), ("cs_live_abc", "cs_live_…"), ("secret", "…"), ("sk-abc", "…")],
)
def test_only_the_prefix_of_a_key_is_shown(key: str, shown: str) -> None:
    assert mask(key) == shown
    assert repr(Settings(URL, key, Path())) == f"Settings(base_url={URL!r}, api_key={shown!r})"


def test_profiles_are_private_and_saving_one_keeps_the_others(profiles: Path) -> None:
    save(URL, KEY, name='a "b"', path=profiles)
    save(URL, "other", path=profiles)

    assert is_private(profiles)
    assert read_pair(resolve(profile='a "b"', environment={}, profiles=profiles)) == (URL, KEY)


def test_an_invalid_profiles_file_is_reported(profiles: Path) -> None:
    profiles.parent.mkdir()
    profiles.write_text("[default\n")

    with pytest.raises(ConfigError, match="saved profiles cannot be read"):
        resolve(environment={}, profiles=profiles)


def test_the_data_folder_can_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert data_folder("here") == tmp_path / "here"
    assert data_folder(tmp_path, environment={"KIT_DATA": "/x"}) == tmp_path
    assert data_folder(environment={"KIT_DATA": str(tmp_path)}) == tmp_path
    assert data_folder(environment={}).name == "creative-studio-kit"


def test_progress_can_be_switched_off() -> None:
    on, off = (resolve(URL, KEY, environment={"KIT_PROGRESS": v}) for v in ("1", "0"))

    assert on is not None
    assert off is not None
    assert (on.progress, off.progress) == (True, False)


def test_the_embedded_service_has_the_same_name_on_any_port(tmp_path: Path) -> None:
    names = {embedded_settings(f"http://127.0.0.1:{n}", KEY, data=tmp_path).name for n in (1, 2)}

    assert names == {"embedded"}
