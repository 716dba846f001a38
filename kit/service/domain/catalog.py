"""The catalog: what the engines offer, with prices, as the API shows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from kit import pricing
from kit.engines.base import Definition
from kit.errors import BadRequestError, ConfigError, NotFoundError
from kit.parameters import suggest
from kit.service.store import generations
from kit.service.store.database import Transaction, one
from kit.wire import CATEGORIES, Model, Models

_MILLI = Decimal("0.001")


@dataclass(frozen=True, slots=True)
class Catalog:
    """All models by id, images first."""

    models: Mapping[str, Model]

    def get(self, model_id: str) -> Model:
        """Return a model's definition.

        Raises
        ------
        NotFoundError
            There is none of that id; the message names the closest.
        """
        model = self.models.get(model_id)
        if model is None:
            raise NotFoundError(f"there is no model {model_id!r}{suggest(model_id, self.models)}")
        return model


def load(definitions: Iterable[Definition]) -> Catalog:
    """Return the catalog of some engines' definitions.

    Raises
    ------
    ConfigError
        A model has no valid category or price rule: the service does not start with it.

    Source: contract, "Models".
    """
    models = [_model(definition) for definition in definitions]
    models.sort(key=lambda model: (model.asset_type, model.title))
    return Catalog({model.id: model for model in models})


def chosen(
    catalog: Catalog, *, asset_type: str | None, alias: str | None, category: str | None
) -> list[Model]:
    """Return the models of an asset type and a category.

    Raises
    ------
    BadRequestError
        The asset type is unknown, disagrees with its alias, or has no such category.

    Source: API document, operation 2; contract, "Models".
    """
    if asset_type and alias and asset_type != alias:
        sentence = f"is {alias!r} while assetType is {asset_type!r}; give one of them"
        raise BadRequestError.fields([("type", sentence)])
    field, wanted = ("assetType", asset_type) if asset_type else ("type", alias)
    if wanted and wanted not in CATEGORIES:
        sentence = f"must be 'image' or 'video', not {wanted!r}"
        raise BadRequestError.fields([(field, sentence)])
    types = [wanted] if wanted else list(CATEGORIES)
    valid = sorted({name for kind in types for name in CATEGORIES[kind]})
    if category and category != "All" and category not in valid:
        names = ", ".join(["All", *valid])
        raise BadRequestError.fields([("category", f"{category!r} is none; there is {names}")])
    return [
        model
        for model in catalog.models.values()
        if model.asset_type in types and category in (None, "", "All", model.category)
    ]


def grouped(models: Iterable[Model]) -> Models:
    """Return models as the list operation answers them: both groups, always."""
    found = list(models)
    return Models(
        image=[model for model in found if model.asset_type == "image"],
        video=[model for model in found if model.asset_type == "video"],
    )


def with_estimate(model: Model) -> Transaction[Model]:
    """Return a model with the mean charge of its last 100 generations as its estimate."""
    recent = yield from one(generations.RECENT_CHARGES(model=model.id))
    if not recent.number:
        return model
    mean = Decimal(int(recent.total)) / int(recent.number) / pricing.MILLI
    rounded = mean.quantize(_MILLI, ROUND_HALF_UP).normalize()
    return model.model_copy(update={"estimated_credits": rounded})


def generation_type(model: Model, media: Iterable[str]) -> str:
    """Return the word for what a request does, from the media that it brings.

    Source: contract, "Generations".
    """
    kinds = {p.name: p.type for p in model.media_parameters}
    given = {kinds[name] for name in media}
    if model.category == "Lip syncing":
        return "lip-sync"
    source = next((kind for kind in ("video", "image") if kind in given), "text")
    return f"{source}-to-{model.asset_type}"


def _model(definition: Definition) -> Model:
    if definition.category not in CATEGORIES[definition.asset_type]:
        raise ConfigError(
            f"the model {definition.id!r} has the category {definition.category!r}, which is none "
            f"of {', '.join(CATEGORIES[definition.asset_type])}"
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
    pricing.check_rule(model)
    defaults = pricing.at_defaults(model)
    figures = {
        "credits_from": pricing.least(model),
        "credits_at_defaults": defaults,
        "estimated_credits": defaults,
    }
    return model.model_copy(update=figures)
