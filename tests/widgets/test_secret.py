"""A field for a secret: Python receives it, and no state contains it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from kit.widgets.secret import MAX_CHARACTERS, SecretInput
from tests.widgets.tree import send

SECRET = "cs_test_" + "s3cr3t" * 6


def field(take: Callable[[str], None] = lambda _: None) -> SecretInput:
    return SecretInput("API key", on_submit=take)


def test_a_secret_is_passed_on_and_is_in_no_state_repr_or_message() -> None:
    received: list[str] = []
    widget = field(received.append)
    message = {"secret": f" {SECRET}\n"}
    send(widget, message)

    assert received == [SECRET]
    assert widget.hint == "sent, 44 characters"
    assert SECRET not in json.dumps(widget.get_state(), default=str)
    assert SECRET not in repr(widget) + str(widget._repr_mimebundle_()) + str(vars(widget))
    assert message == {}


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        ({"secret": "   "}, "nothing was typed"),
        ({"secret": "x" * (MAX_CHARACTERS + 1)}, "that is too long for a key"),
        ({"secret": 7}, ""),
        ({"other": 1}, ""),
        ("text", ""),
    ],
)
def test_an_invalid_secret_is_not_passed_on(content: Any, hint: str) -> None:
    received: list[str] = []
    widget = field(received.append)
    send(widget, content)

    assert widget.hint == hint
    assert received == []


def test_the_script_is_small_and_requests_no_url() -> None:
    code = str(SecretInput._esm)

    assert "http" not in code
    assert "import " not in code
    assert len(code) < 3000
