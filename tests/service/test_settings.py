"""Settings: arguments, then the environment, then defaults; invalid values raise an error."""

import errno
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kit.errors import ConfigError
from kit.service import settings
from tests.rights import is_private

WRITER = {"KIT_WRITER_URL": "http://a/v1", "KIT_WRITER_MODEL": "m"}


def test_arguments_come_before_the_environment(tmp_path: Path) -> None:
    environ = {"KIT_WORKERS": "3", "KIT_DATA": str(tmp_path / "other"), "KIT_SPEECH_RATE": "5.5"}
    conf = settings.load(environ, data=tmp_path, workers=None)

    assert (conf.data, conf.workers, conf.speech_rate) == (tmp_path, 3, 5.5)
    assert settings.load(environ, workers=0).workers == 0
    assert settings.load(environ).data == tmp_path / "other"


def test_proxies_are_addresses_and_networks() -> None:
    conf = settings.load({"KIT_TRUSTED_PROXIES": "10.1.2.3, 10.9.8.7/8,::1"})

    assert conf.trusted_proxies == ("10.1.2.3/32", "10.0.0.0/8", "::1/128")


def test_all_paths_are_below_the_data_folder(tmp_path: Path) -> None:
    conf = settings.load({}, data=tmp_path)

    assert conf.database_path.parent == conf.objects.parent == conf.scratch.parent == tmp_path


def test_a_tilde_is_expanded_to_the_home_folder() -> None:
    assert settings.load({"KIT_DATA": "~/kit"}).data == Path.home() / "kit"


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        ({"KIT_WORKERS": "many"}, "KIT_WORKERS must be a whole number, not 'many'"),
        ({"KIT_WORKERS": "-1"}, "KIT_WORKERS must be 0 or more"),
        ({"KIT_WORKERS": "9" * 20}, "KIT_WORKERS must be 0 or more, at most 10**15"),
        ({"KIT_REQUESTS_PER_MINUTE": "0"}, "KIT_REQUESTS_PER_MINUTE must be more than 0"),
        ({"KIT_STARTS_PER_MINUTE": "-5"}, "KIT_STARTS_PER_MINUTE must be more than 0"),
        ({"KIT_JOB_SECONDS": "soon"}, "KIT_JOB_SECONDS must be a number"),
        ({"KIT_KEEP_OUTPUTS_DAYS": "0"}, "KIT_KEEP_OUTPUTS_DAYS must be more than 0"),
        ({"KIT_KEEP_OUTPUTS_DAYS": "nan"}, "KIT_KEEP_OUTPUTS_DAYS must be more than 0"),
        ({"KIT_KEEP_OUTPUTS_DAYS": "inf"}, "KIT_KEEP_OUTPUTS_DAYS must be more than 0"),
        ({"KIT_KEEP_OUTPUTS_DAYS": "a week"}, "KIT_KEEP_OUTPUTS_DAYS must be a number"),
        ({"KIT_SPEECH_RATE": "0"}, "KIT_SPEECH_RATE must be more than 0"),
        ({"KIT_TRUSTED_PROXIES": "proxy"}, "KIT_TRUSTED_PROXIES must be addresses or networks"),
        ({"KIT_CONNECTIONS": "0"}, "KIT_CONNECTIONS must be more than 0"),
        ({"KIT_WRITER_MODEL": "m"}, "KIT_WRITER_MODEL and KIT_WRITER_KEY need KIT_WRITER_URL"),
        ({"KIT_WRITER_KEY": "secret"}, "KIT_WRITER_MODEL and KIT_WRITER_KEY need KIT_WRITER_URL"),
        ({"KIT_WRITER_URL": "http://a/v1"}, "KIT_WRITER_URL needs KIT_WRITER_MODEL"),
        ({"KIT_PUBLIC_URL": "studio.test"}, "KIT_PUBLIC_URL must be a plain http(s) address"),
        ({"KIT_ENGINES": "/no/such.toml"}, "KIT_ENGINES names /no/such.toml, which is not a file"),
        ({**WRITER, "KIT_WRITER_URL": "a:80"}, "KIT_WRITER_URL must be a plain http(s) address"),
        ({**WRITER, "KIT_WRITER_URL": "http://a:x"}, "KIT_WRITER_URL must be a plain"),
        ({**WRITER, "KIT_WRITER_URL": "http://u:secret@a"}, "KIT_WRITER_URL must be a plain"),
        ({**WRITER, "KIT_WRITER_URL": "http://a/?key=secret"}, "KIT_WRITER_URL must be a plain"),
        ({**WRITER, "KIT_WRITER_KEY": "sec ret"}, "KIT_WRITER_KEY must be visible ASCII"),
        ({**WRITER, "KIT_WRITER_KEY": "secret\n\u00e9"}, "KIT_WRITER_KEY must be visible ASCII"),
        ({"KIT_FILE_METADATA": "maybe"}, "KIT_FILE_METADATA must be 1 or 0"),
        ({**WRITER, "KIT_WRITER_SECONDS": "0"}, "KIT_WRITER_SECONDS must be more than 0"),
        ({**WRITER, "KIT_WRITER_SECONDS": "900"}, "KIT_WRITER_SECONDS must be at most 540"),
        ({**WRITER, "KIT_WRITER_SECONDS": "nan"}, "KIT_WRITER_SECONDS must be"),
    ],
)
def test_an_invalid_setting_is_named(environ: Mapping[str, str], sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        settings.load(environ)

    assert sentence in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_boolean_setting_is_parsed(tmp_path: Path) -> None:
    for text, on in {"1": True, "true": True, "0": False}.items():
        assert settings.load({"KIT_FILE_METADATA": text}, data=tmp_path).file_metadata is on


def test_the_writer_is_configured_by_environment_variables(tmp_path: Path) -> None:
    environ = {**WRITER, "KIT_WRITER_KEY": " hidden\n"}
    conf = settings.load(environ, data=tmp_path)

    assert (conf.writer_url, conf.writer_model, conf.writer_key) == ("http://a/v1", "m", "hidden")
    assert "hidden" not in repr(conf)


def test_the_secret_is_created_once_and_is_private(tmp_path: Path) -> None:
    first, second = (settings.load({}, data=tmp_path / "data") for _ in range(2))
    with pytest.raises(ConfigError, match="'kit accounts create' creates one"):
        first.secret()
    settings.prepare(first.data)
    for one in (first, second):
        one.make_secret()
    secret = first.secret()
    path = first.secret_path

    assert len(secret) == 32
    assert second.secret() == secret
    assert is_private(path)
    assert is_private(path.parent)
    assert [p.name for p in path.parent.iterdir()] == ["secret"]


def test_a_secret_is_created_on_a_disk_without_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(*_: object) -> None:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))

    monkeypatch.setattr(os, "link", link)
    conf = settings.load({}, data=tmp_path)
    conf.make_secret()
    secret = conf.secret()
    conf.make_secret()

    assert conf.secret() == secret
    assert [p.name for p in tmp_path.iterdir()] == ["secret"]


def test_a_truncated_secret_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"short")
    with pytest.raises(ConfigError, match="restore it or remove it"):
        settings.load({}, data=tmp_path).secret()


def test_a_folder_that_cannot_be_created_raises_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="cannot be made"):
        settings.prepare(tmp_path / "file" / "data")
    with pytest.raises(ConfigError, match="cannot be made"):  # on a drive that does not exist
        settings.prepare(Path("Q:/data" if os.name == "nt" else "/proc/missing/data"))
    with pytest.raises(ConfigError, match="its name is not UTF-8"):
        settings.prepare(tmp_path / "\udcfc")


def test_settings_are_immutable(tmp_path: Path) -> None:
    conf: Any = settings.load({}, data=tmp_path)
    with pytest.raises(AttributeError):
        conf.workers = 9
