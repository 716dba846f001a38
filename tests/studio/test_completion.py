"""Completion of a studio's calls in notebooks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import IPython
import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

from kit.studio import Studio
from kit.studio.catalog import complete_call, register_completion
from tests.client.third_party import Answer, Server
from tests.conftest import NO_HISTORY


@pytest.mark.parametrize(
    ("before", "prefix", "words"),
    [
        ('studio.generate("', "", ["paint", "retouch"]),
        ("x = studio.form('pa", "pa", ["paint"]),
        ("studio.models['pa", "pa", ["paint"]),
        ('studio.sweep("paint", "a lake", st', "st", ["style=", "steps="]),
        ('studio.generate("paint", style="o', "o", ["oil"]),
        ('studio.generate("paint", steps=3, ', "", ["size=", "style="]),
        ('studio.estimate(\n    "retouch",\n    pic', "pic", ["picture="]),
        ('studio.generate("nothing", st', "", []),
        ('other.generate("', "", []),
        ("studio.history.frame(", "", []),
    ],
)
def test_models_parameters_and_values_are_completed(
    studio: Studio, before: str, prefix: str, words: list[str]
) -> None:
    assert complete_call(before, {"studio": studio}) == (prefix, words)


def test_ipython_completes_calls_of_a_studio(studio: Studio) -> None:
    shell = InteractiveShell(config=NO_HISTORY)
    register_completion(shell)
    if IPython.version_info < (8, 6):
        pytest.skip("an older one, as Colab's, has no such matchers, and is left alone")
    register_completion(shell)
    shell.user_ns["studio"] = studio

    def complete(code: str) -> list[Any]:
        with provisionalcompleter():
            return [c.text for c in shell.Completer.completions(code, len(code))]

    assert complete('studio.generate("') == ["paint", "retouch"]
    assert complete('studio.generate("paint", sty') == ["style="]
    assert len(shell.Completer.custom_matchers) == 1
    assert list(studio.models) == studio.models._ipython_key_completions_()
    shell.history_manager.end_session()


def test_a_shell_without_completion_is_left_alone() -> None:
    shell = SimpleNamespace(user_ns={})
    register_completion(shell)
    assert vars(shell) == {"user_ns": {}}


def test_a_service_that_refuses_the_key_completes_nothing(studio: Studio, api: Server) -> None:
    api.script("GET", "/v1/creative-studio/models", Answer(401, {}))
    assert complete_call('studio.generate("', {"studio": studio}) == ("", [])
