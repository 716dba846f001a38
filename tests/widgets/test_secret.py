"""A field for a secret: it reaches Python, and is nowhere else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kit.errors import ConfigError
from kit.widgets.secret import LONGEST, SecretInput
from tests.widgets.tree import send

SECRET = "cs_test_" + "s3cr3t" * 6


def sent(field: SecretInput, content: Any) -> None:
    """Send what the page sends."""
    send(field, content)


def test_a_secret_is_handed_out_once() -> None:
    field = SecretInput()
    sent(field, {"secret": f" {SECRET}\n"})
    assert repr(field) == "<SecretInput 'API key', set>"

    assert field.take() == SECRET
    with pytest.raises(ConfigError, match="nothing was typed into 'API key' yet"):
        field.take()
    assert field.hint == ""


def test_a_secret_is_in_no_state_no_repr_and_no_message() -> None:
    field = SecretInput()
    message = {"secret": SECRET}
    sent(field, message)

    assert field.hint == "set, 44 characters"
    assert SECRET not in json.dumps(field.get_state(), default=str)
    assert SECRET not in repr(field) + str(field._repr_mimebundle_())
    assert message == {}


def test_who_takes_a_secret_keeps_it_and_the_field_does_not() -> None:
    taken: list[str] = []
    field = SecretInput(on_submit=taken.append)
    sent(field, {"secret": SECRET})

    assert taken == [SECRET]
    assert field.hint == "sent, 44 characters"
    assert SECRET not in str(vars(field))
    with pytest.raises(ConfigError):
        field.take()


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        ({"secret": "   "}, "nothing was typed"),
        ({"secret": "x" * (LONGEST + 1)}, "that is too long for a key"),
        ({"secret": 7}, ""),
        ({"other": 1}, ""),
        ("text", ""),
    ],
)
def test_what_is_no_secret_changes_nothing(content: Any, hint: str) -> None:
    field = SecretInput()
    sent(field, content)

    assert field.hint == hint
    assert repr(field) == "<SecretInput 'API key', nothing set>"


def test_the_page_asks_nobody_else_and_is_small() -> None:
    code = str(SecretInput._esm)

    assert "http" not in code
    assert "import " not in code
    assert len(code) < 3000
