"""A mypy plugin that finds mistyped parameters of built-in models.

Enable it with ``plugins = ["kit.mypy"]`` in the settings of mypy. If a call contains the id of a
built-in model, as in ``studio.generate("poster", "a lake", seed=7)``, its keywords are checked
against the model; calls with other models accept any keywords.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points

from mypy.nodes import ARG_NAMED_OPT, ARG_STAR2, StrExpr
from mypy.plugin import MethodSigContext, Plugin
from mypy.types import AnyType, FunctionLike, TypeOfAny

from kit.engines import plugins, registry

_METHODS = "estimate", "form", "generate", "start"
_FULL_NAMES = frozenset(
    f"kit.studio.{face}.{call}"
    for face, kind in (("sync", ""), ("aio", "Async"))
    for call in (f"sweeps.{kind}Sweeps.__call__", *(f"{kind}Studio.{name}" for name in _METHODS))
)


@cache
def parameters_of(model_id: str) -> tuple[str, ...] | None:
    """Return the names of a built-in model's parameters; None for other models."""
    entries = entry_points(group=registry.GROUP, name=model_id)
    if not any(map(plugins.is_built_in, entries)):
        return None
    definition = registry.engine_for(model_id).definition
    return tuple(parameter.name for parameter in (*definition.settings, *definition.media))


def add_parameters(context: MethodSigContext) -> FunctionLike:
    """Return the signature of a call with the model's parameters as keywords."""
    signature = context.default_signature
    model = context.args[0][0] if context.args and context.args[0] else None
    names = parameters_of(model.value) if isinstance(model, StrExpr) else None
    if names is None or signature.arg_kinds[-1] != ARG_STAR2:
        return signature
    new = [name for name in names if name not in signature.arg_names]
    return signature.copy_modified(
        arg_types=[*signature.arg_types[:-1], *(AnyType(TypeOfAny.explicit) for _ in new)],
        arg_kinds=[*signature.arg_kinds[:-1], *(ARG_NAMED_OPT for _ in new)],
        arg_names=[*signature.arg_names[:-1], *new],
    )


class ModelParameters(Plugin):
    """The plugin class: checks calls of a studio that take parameters of a model."""

    def get_method_signature_hook(
        self, fullname: str
    ) -> Callable[[MethodSigContext], FunctionLike] | None:
        """Return the hook that adds the model's parameters to a call."""
        return add_parameters if fullname in _FULL_NAMES else None


def plugin(_version: str) -> type[Plugin]:
    """Return the plugin class; mypy's entry point."""
    return ModelParameters
