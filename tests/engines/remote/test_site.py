"""The site of a remote service: its entry, and which part of it is public."""

import pytest

from kit.engines.configured.entries import read
from kit.engines.remote.site import Site, SiteEntry
from kit.errors import ConfigError


@pytest.mark.parametrize(
    "key",
    [
        "sk-proj-4fQ9zR7kLm2Xw8Tn",
        "hf_" + "aBcDeF" * 5,
        "a1b2c3d4e5f6a1b2c3d4e5f6",
        "not a name",
        "",
    ],
)
def test_a_key_instead_of_its_variable_is_refused_and_not_repeated(key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(SiteEntry, {"url": "https://host.org", "key_env": key})

    message = "'key_env': name an environment variable, not the key itself"
    assert str(caught.value) == message


@pytest.mark.parametrize("name", ["FAR_KEY", "OPENAI_API_KEY", "hf_token", "_K"])
def test_a_name_of_a_variable_is_accepted(name: str) -> None:
    entry = read(SiteEntry, {"url": "https://host.org", "key_env": name})

    assert entry.site().key_env == name


@pytest.mark.parametrize(
    ("url", "public"),
    [
        ("https://api.example.org:8443/deep", "api.example.org"),
        ("http://127.0.0.1:8000", ""),
        ("http://[::1]:8000", ""),
        ("http://localhost:8000", ""),
        ("http://renderer:8000", ""),
        ("http://gpu-7.cluster.local", ""),
    ],
)
def test_only_a_public_host_is_named_in_the_description(url: str, public: str) -> None:
    site = Site(url)

    assert site.public == public
    assert site.description == (
        f"the service at {public}" if public else "a service on another machine"
    )
