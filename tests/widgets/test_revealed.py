"""A secret that is shown: the first page that asks sees it, and no state ever holds it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kit.widgets.secret import OneTimeSecret
from tests.widgets.tree import send

SECRET = "cs_test_" + "s3cr3t" * 6


@pytest.fixture
def box() -> tuple[OneTimeSecret, list[Any]]:
    """A box, and what it sends to its pages."""
    sent: list[Any] = []
    made = OneTimeSecret(SECRET, hint="Copy the key now.")
    made.send = sent.append
    return made, sent


def test_the_first_page_that_asks_is_answered_and_no_other(
    box: tuple[OneTimeSecret, list[Any]],
) -> None:
    made, sent = box
    for _ in range(2):
        send(made, {"ready": True})

    assert sent == [{"secret": SECRET}, {"gone": True}]
    assert repr(made) == "<OneTimeSecret, seen>"


def test_it_is_in_no_state_and_no_repr(box: tuple[OneTimeSecret, list[Any]]) -> None:
    made, _ = box

    assert SECRET not in json.dumps(made.get_state(), default=str)
    assert SECRET not in repr(made) + str(made._repr_mimebundle_())


def test_what_is_forgotten_is_shown_to_nobody(box: tuple[OneTimeSecret, list[Any]]) -> None:
    made, sent = box
    made.forget()
    send(made, {"ready": True})

    assert sent == [{"gone": True}, {"gone": True}]
    assert SECRET not in str(vars(made))


@pytest.mark.parametrize("content", ["ready", {"ready": False}, {"secret": "x"}, None, []])
def test_other_messages_are_answered_with_nothing(
    box: tuple[OneTimeSecret, list[Any]], content: Any
) -> None:
    made, sent = box
    send(made, content)

    assert sent == []
