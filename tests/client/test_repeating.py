"""The form of an API key tells whether its service honors idempotency keys."""

from __future__ import annotations

import pytest

from kit.wire import api_keys
from tests.client.third_party import KEY
from tests.conftest import Service


def test_a_key_of_our_service_is_well_formed(service: Service) -> None:
    assert api_keys.is_well_formed(service.key(service.account(), "read"))


def test_a_key_with_a_wrong_checksum_is_not_well_formed(service: Service) -> None:
    key = service.key(service.account(), "read")
    other = key[:-1] + ("0" if key[-1] != "0" else "1")

    assert not api_keys.is_well_formed(other)


@pytest.mark.parametrize("key", [KEY, "", "cs_test_", "cs_live_" + "0" * 36, "sk-" + "a" * 40])
def test_keys_of_other_services_are_not_well_formed(key: str) -> None:
    assert not api_keys.is_well_formed(key)
