"""A field for a secret: it reaches Python, and is nowhere else."""

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


def test_a_secret_is_handed_on_and_is_in_no_state_no_repr_and_no_message() -> None:
    taken: list[str] = []
    made = field(taken.append)
    message = {"secret": f" {SECRET}\n"}
    send(made, message)

    assert taken == [SECRET]
    assert made.hint == "sent, 44 characters"
    assert SECRET not in json.dumps(made.get_state(), default=str)
    assert SECRET not in repr(made) + str(made._repr_mimebundle_()) + str(vars(made))
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
def test_what_is_no_secret_changes_nothing(content: Any, hint: str) -> None:
    taken: list[str] = []
    made = field(taken.append)
    send(made, content)

    assert made.hint == hint
    assert taken == []


def test_the_page_asks_nobody_else_and_is_small() -> None:
    code = str(SecretInput._esm)

    assert "http" not in code
    assert "import " not in code
    assert len(code) < 3000
