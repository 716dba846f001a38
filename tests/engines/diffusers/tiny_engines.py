"""Engines with tiny weights."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from kit.engines.diffusers.engine import Pipeline
from kit.engines.diffusers.engine import diffusers as engines

Weights = Callable[[str], Path]
_SHORT = {"max_sequence_length": 16}
_ALWAYS = {"flux": _SHORT, "wan": _SHORT, "wan-i2v": _SHORT}


def engine(weights: Weights, name: str, **more: Any) -> Pipeline:
    """Return the engine of an entry with the weights of a short name."""
    entry = {"id": name, "path": str(weights(name)), "price": 0.1, "threads": 1}
    (model,) = engines(entry | {"always": _ALWAYS.get(name, {})} | more, Path(), False)
    assert isinstance(model, Pipeline)
    return model
