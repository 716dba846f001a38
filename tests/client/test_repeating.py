"""Who is known to honor idempotency keys by the form of its own."""

from __future__ import annotations

import pytest

from kit.wire import api_keys
from tests.client.third_party import KEY
from tests.conftest import Service


def test_keys_of_our_service_are_known(service: Service) -> None:
    assert api_keys.is_well_formed(service.key(service.account(), "read"))


def test_a_key_with_another_ending_is_nobodys(service: Service) -> None:
    key = service.key(service.account(), "read")
    other = key[:-1] + ("0" if key[-1] != "0" else "1")

    assert not api_keys.is_well_formed(other)


@pytest.mark.parametrize("key", [KEY, "", "cs_test_", "cs_live_" + "0" * 36, "sk-" + "a" * 40])
def test_other_keys_say_nothing(key: str) -> None:
    assert not api_keys.is_well_formed(key)
