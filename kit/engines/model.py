"""A definition as the API shows it: a model, with the figures that follow from its price rule."""

from __future__ import annotations

from kit import pricing
from kit.engines.base import Definition
from kit.errors import ConfigError
from kit.wire import CATEGORIES, Model


def model_of(definition: Definition) -> Model:
    """Return the model that a definition describes.

    Raises
    ------
    ConfigError
        It has a category that does not exist, or a price rule that cannot price every request.

    Source: contract, "Models".
    """
    known = CATEGORIES.get(definition.asset_type)
    if known is None:
        kinds = ", ".join(CATEGORIES)
        raise ConfigError(
            f"the model {definition.id!r} has the asset type {definition.asset_type!r}, which is"
            f" none of {kinds}"
        )
    if definition.category not in known:
        raise ConfigError(
            f"the model {definition.id!r} has the category {definition.category!r}, which is none "
            f"of {', '.join(known)}"
        )
    model = Model(
        id=definition.id,
        title=definition.title,
        asset_type=definition.asset_type,
        category=definition.category,
        supports_prompt=definition.supports_prompt,
        prompt_required=definition.prompt_required,
        media_parameters=list(definition.media),
        setting_parameters=list(definition.settings),
        supports_multi_reference_media=any((p.max_items or 1) > 1 for p in definition.media),
        description=definition.description,
        pricing=definition.pricing,
    )
    try:
        pricing.check_rule(model)
        least, defaults = pricing.least(model), pricing.at_defaults(model)
    except ArithmeticError:
        sentence = (
            f"the price rule of the model {model.id!r} comes to no number that can be charged"
        )
        raise ConfigError(sentence) from None
    figures = {
        "credits_from": least,
        "credits_at_defaults": defaults,
        "estimated_credits": defaults,
    }
    return model.model_copy(update=figures)
