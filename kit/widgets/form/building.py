"""Building: all the fields of a form, in the order in which they stand there."""

from __future__ import annotations

from kit import parameters
from kit.widgets.form import files, values
from kit.widgets.form.field import Field
from kit.widgets.form.fields import build
from kit.widgets.form.service import BackgroundRunner, Service
from kit.widgets.form.stock import Stock
from kit.wire import Model


def whole(
    model: Model, stock: Stock, service: Service | None, background: BackgroundRunner
) -> list[Field]:
    """Return a field for the prompt, for each medium and for each setting of a model."""
    own = parameters.is_own(model)
    prompt = [build("prompt", values.prompt(model), stock)] if model.supports_prompt else []
    media = [
        files.build(p, stock, service=service, background=background, own=own)
        for p in model.media_parameters
    ]
    settings = [build(f"parameters.{p.name}", p, stock) for p in model.setting_parameters]
    return [*prompt, *media, *settings]
