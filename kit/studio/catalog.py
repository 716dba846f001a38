"""The models of a service: fetched once, displayed in notebooks, and completed in IPython.

Completion fetches the models as the studio does; if that fails, it completes nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kit import wire
from kit.client import calls, flows
from kit.client.calls import Flow
from kit.client.flows import Policy
from kit.errors import KitError, NotFoundError, ParameterError
from kit.parameters import suggest
from kit.studio import requests
from kit.widgets import preview

if TYPE_CHECKING:
    import pandas as pd


class UnknownModelError(NotFoundError, KeyError):
    """The model is unknown; also a `KeyError`, because `Models` is a mapping."""

    __str__ = Exception.__str__

    @classmethod
    def suggesting(cls, model_id: str, known: Iterable[str]) -> UnknownModelError:
        """Build the error with a suggested id, or the list of all."""
        return cls(f"there is no model {model_id!r}{suggest(str(model_id), known)}")


class ModelCatalog:
    """The models of a service, fetched once."""

    def __init__(self, policy: Policy, models: Mapping[str, wire.Model] | None = None) -> None:
        self._policy = policy
        self._models = None if models is None else dict(models)

    @property
    def cached(self) -> Mapping[str, wire.Model]:
        """The models as last fetched; empty before that."""
        return self._models or {}

    def forget(self) -> None:
        """Fetch the models again when they are needed."""
        self._models = None

    def models(self, *, refresh: bool = False) -> Flow[dict[str, wire.Model]]:
        """Return all models by id."""
        known = None if refresh else self._models
        if known is None:
            found = yield from flows.ask(calls.list_models(), self._policy)
            known = self._models = {model.id: model for model in (*found.image, *found.video)}
        return known

    def model(self, model: str | wire.Model) -> Flow[wire.Model]:
        """Return the current definition of a model, also of one that is not listed."""
        model_id = model.id if isinstance(model, wire.Model) else model
        if not requests.json_text(model_id, "model"):
            raise ParameterError.fields([("model", "is required: the id of a model")])
        models = yield from self.models()
        if model_id in models:
            return models[model_id]
        try:
            return (yield from flows.ask(calls.get_model(model_id), self._policy))
        except NotFoundError:
            raise UnknownModelError.suggesting(model_id, models) from None


def describe_retirement(model: wire.Model, models: Mapping[str, wire.Model]) -> str:
    """Return when a model is removed, its replacement and the price; empty if it is not."""
    if model.retires_at is None and model.replaced_by is None:
        return ""
    sentence = f"the model {model.id!r} " + (
        f"is available until {model.retires_at:%Y-%m-%d}" if model.retires_at else "is superseded"
    )
    if model.replaced_by:
        sentence += f"; {model.replaced_by!r} replaces it"
        other = models.get(model.replaced_by)
        if other and other.credits_at_defaults is not None:
            sentence += f", for {other.credits_at_defaults:f} credits at its defaults"
    return sentence


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Models(Mapping[str, wire.Model]):
    """Model definitions by id, in the service's order, images first.

    Examples
    --------
    >>> models = Models({"poster": wire.Model(id="poster")}, fetch_again=lambda: None)
    >>> models["postr"]
    Traceback (most recent call last):
    kit.studio.catalog.UnknownModelError: there is no model 'postr'; did you mean 'poster'?
    """

    items_by_id: Mapping[str, wire.Model]
    fetch_again: Callable[[], Any]

    def __getitem__(self, model_id: str) -> wire.Model:
        try:
            return self.items_by_id[model_id]
        except KeyError:
            raise UnknownModelError.suggesting(model_id, self.items_by_id) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.items_by_id)

    def __len__(self) -> int:
        return len(self.items_by_id)

    def __repr__(self) -> str:
        return f"<Models {', '.join(self)}>"

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def _repr_html_(self) -> str:
        return preview.models(list(self.values()))

    def frame(self) -> pd.DataFrame:
        """Return the models as a dataframe; see `kit.explore.frames.models`."""
        from kit.explore import frames

        return frames.models(self.values())

    def parameters_frame(self) -> pd.DataFrame:
        """Return all parameters as a dataframe; see `kit.explore.frames.parameters`."""
        from kit.explore import frames

        return frames.parameters(self.values())

    def refresh(self) -> Any:
        """Fetch the models again and return them; with an async studio, await it."""
        return self.fetch_again()


_IDENTIFIER = "kit"
#: Calls whose first argument is a model, and lookups of models.
_CALL = re.compile(
    r"(?P<studio>[^\W\d]\w*)\.((generate|start|estimate|form|sweep)\(|models\[)(?P<given>[^()]*)$"
)
_MODEL = re.compile(r"""\s*(model\s*=\s*)?["'](?P<begun>[^"'\n]*)$""")
_AFTER_MODEL = re.compile(
    r"""\s*(model\s*=\s*)?["'](?P<model>[^"'\n]+)["']\s*,(?P<rest>.*)$""", re.DOTALL
)
_VALUE = re.compile(r"""(?P<name>\w+)\s*=\s*["'](?P<begun>[^"'\n]*)$""")
_NAME = re.compile(r"(^|[\s,])(?P<begun>\w*)$")


def complete_call(before: str, names: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Return the unfinished word at the end of code, and its completions, given `names`."""
    call = _CALL.search(before)
    session: Any = getattr(names.get(call["studio"]), "session", None) if call else None
    if call is None or not hasattr(session, "operations"):
        return "", []
    try:
        models = session.client.block(session.operations.models())
    except KitError:
        return "", []
    if found := _MODEL.match(call["given"]):
        return found["begun"], _complete_word(found["begun"], models)
    found = _AFTER_MODEL.match(call["given"])
    model = models.get(found["model"]) if found else None
    return _complete_setting(model, found["rest"]) if found and model else ("", [])


def _complete_setting(model: wire.Model, given: str) -> tuple[str, list[str]]:
    if found := _VALUE.search(given):
        values = [v for p in model.parameters if p.name == found["name"] for v in p.enum or ()]
        return found["begun"], _complete_word(found["begun"], map(str, values))
    if found := _NAME.search(given):
        names = [f"{p.name}=" for p in model.parameters if f"{p.name}=" not in given]
        return found["begun"], _complete_word(found["begun"], names)
    return "", []


def _complete_word(beginning: str, words: Iterable[str]) -> list[str]:
    return [word for word in words if word.startswith(beginning)]


def register_completion(shell: Any = None) -> None:
    """Register completion in IPython; without IPython 8.6, as in Colab, do nothing."""
    ipython = sys.modules.get("IPython")
    shell = shell or (ipython and ipython.get_ipython())
    completer = getattr(shell, "Completer", None)  # Solara's shell has none
    if not ipython or completer is None or ipython.version_info < (8, 6):
        return
    matchers = completer.custom_matchers
    if all(getattr(each, "matcher_identifier", "") != _IDENTIFIER for each in matchers):
        matchers.append(_make_matcher(shell))


def _make_matcher(shell: Any) -> Callable[[Any], dict[str, Any]]:
    from IPython.core.completer import SimpleCompletion, context_matcher

    @context_matcher(identifier=_IDENTIFIER)  # type: ignore[untyped-decorator]
    def complete(context: Any) -> dict[str, Any]:
        lines = context.full_text.split("\n")
        last = lines[context.cursor_line][: context.cursor_position]
        before = "\n".join([*lines[: context.cursor_line], last])
        beginning, words = complete_call(before, shell.user_ns)
        return {
            "completions": [SimpleCompletion(text=word, type="param") for word in words],
            "matched_fragment": beginning,
            "suppress": bool(words),
        }

    matcher: Callable[[Any], dict[str, Any]] = complete
    return matcher
