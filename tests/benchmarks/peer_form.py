"""The kit's form among the peers of a benchmark: ``build(params)`` returns it."""

from __future__ import annotations

from typing import Any

from kit import wire
from kit.widgets.form import Form


def build(params: list[dict[str, Any]]) -> Form:
    """Return the form of a model with these parameters."""
    settings = [wire.Parameter.model_validate(p) for p in params if p["name"] != "prompt"]
    prompt = next(p["default"] for p in params if p["name"] == "prompt")
    model = wire.Model(id="bench", prompt_required=True, setting_parameters=settings)
    return Form(model, {"prompt": prompt})
