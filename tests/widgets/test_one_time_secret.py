"""A secret that is shown once: the first page that asks receives it, and no state contains it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kit.widgets.secret import OneTimeSecret
from tests.widgets.tree import send

SECRET = "cs_test_" + "s3cr3t" * 6


@pytest.fixture
def box() -> tuple[OneTimeSecret, list[Any]]:
    """A box, and the messages that it sends to its pages."""
    sent: list[Any] = []
    widget = OneTimeSecret(SECRET, hint="Copy the key now.")
    widget.send = sent.append
    return widget, sent


def test_only_the_first_page_that_asks_receives_the_secret(
    box: tuple[OneTimeSecret, list[Any]],
) -> None:
    widget, sent = box
    for _ in range(2):
        send(widget, {"ready": True})

    assert sent == [{"secret": SECRET}, {"gone": True}]
    assert repr(widget) == "<OneTimeSecret, seen>"


def test_the_secret_is_in_no_state_and_no_repr(box: tuple[OneTimeSecret, list[Any]]) -> None:
    widget, _ = box

    assert SECRET not in json.dumps(widget.get_state(), default=str)
    assert SECRET not in repr(widget) + str(widget._repr_mimebundle_())


def test_a_forgotten_secret_is_sent_to_no_page(box: tuple[OneTimeSecret, list[Any]]) -> None:
    widget, sent = box
    widget.forget()
    send(widget, {"ready": True})

    assert sent == [{"gone": True}, {"gone": True}]
    assert SECRET not in str(vars(widget))


@pytest.mark.parametrize("content", ["ready", {"ready": False}, {"secret": "x"}, None, []])
def test_other_messages_get_no_response(box: tuple[OneTimeSecret, list[Any]], content: Any) -> None:
    widget, sent = box
    send(widget, content)

    assert sent == []
