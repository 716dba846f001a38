"""Completion in IPython: models and parameters inside of the calls that take them.

It asks the service for its models once, as the studio itself does; where that fails, nothing is
completed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from typing import Any

from kit import wire
from kit.errors import KitError
from kit.studio.generation import Session

_IDENTIFIER = "kit"
#: What begins with a model: calls, and the models themselves.
_CALL = re.compile(
    r"(?P<studio>[^\W\d]\w*)\.((generate|start|estimate|form|sweep)\(|models\[)(?P<given>[^()]*)$"
)
_MODEL = re.compile(r"""\s*(model\s*=\s*)?["'](?P<begun>[^"'\n]*)$""")
_AFTER_MODEL = re.compile(
    r"""\s*(model\s*=\s*)?["'](?P<model>[^"'\n]+)["']\s*,(?P<rest>.*)$""", re.DOTALL
)
_VALUE = re.compile(r"""(?P<name>\w+)\s*=\s*["'](?P<begun>[^"'\n]*)$""")
_NAME = re.compile(r"(^|[\s,])(?P<begun>\w*)$")


def complete_call(before: str, sessions: dict[str, Session[Any]]) -> tuple[str, list[str]]:
    """Return what is begun at the end of some code, and what it can become."""
    call = _CALL.search(before)
    session = sessions.get(call["studio"]) if call else None
    if call is None or session is None:
        return "", []
    try:
        models = session.client.block(session.operations.models())
    except KitError:
        return "", []
    if found := _MODEL.match(call["given"]):
        return found["begun"], _starting(found["begun"], models)
    found = _AFTER_MODEL.match(call["given"])
    model = models.get(found["model"]) if found else None
    return _complete_setting(model, found["rest"]) if found and model else ("", [])


def _complete_setting(model: wire.Model, given: str) -> tuple[str, list[str]]:
    if found := _VALUE.search(given):
        values = [v for p in model.parameters if p.name == found["name"] for v in p.enum or ()]
        return found["begun"], _starting(found["begun"], map(str, values))
    if found := _NAME.search(given):
        names = [f"{p.name}=" for p in model.parameters if f"{p.name}=" not in given]
        return found["begun"], _starting(found["begun"], names)
    return "", []


def _starting(begun: str, words: Iterable[str]) -> list[str]:
    return [word for word in words if word.startswith(begun)]


def register(shell: Any = None) -> None:
    """Teach IPython to complete; without IPython 8.6, as in Colab, or its completer, do nothing."""
    ipython = sys.modules.get("IPython")
    shell = shell or (ipython and ipython.get_ipython())
    completer = getattr(shell, "Completer", None)  # Solara's shell has none
    if not ipython or completer is None or ipython.version_info < (8, 6):
        return
    matchers = completer.custom_matchers
    if all(getattr(each, "matcher_identifier", "") != _IDENTIFIER for each in matchers):
        matchers.append(_matcher_of(shell))


def _matcher_of(shell: Any) -> Callable[[Any], dict[str, Any]]:
    from IPython.core.completer import SimpleCompletion, context_matcher

    @context_matcher(identifier=_IDENTIFIER)  # type: ignore[untyped-decorator]
    def complete(context: Any) -> dict[str, Any]:
        lines = context.full_text.split("\n")
        last = lines[context.cursor_line][: context.cursor_position]
        before = "\n".join([*lines[: context.cursor_line], last])
        found = {name: getattr(value, "session", None) for name, value in shell.user_ns.items()}
        sessions = {name: each for name, each in found.items() if isinstance(each, Session)}
        begun, words = complete_call(before, sessions)
        return {
            "completions": [SimpleCompletion(text=word, type="param") for word in words],
            "matched_fragment": begun,
            "suppress": bool(words),
        }

    matcher: Callable[[Any], dict[str, Any]] = complete
    return matcher
