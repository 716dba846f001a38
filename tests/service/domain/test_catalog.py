"""The catalog: what loads, what does not, and the figures it shows."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from kit.engines.base import Definition
from kit.engines.registry import installed
from kit.errors import BadRequestError, ConfigError, NotFoundError
from kit.service.domain import catalog
from kit.service.domain.catalog import Catalog
from kit.wire import Multiplier, Parameter, Rule, UnitPrice
from tests.service.domain.conftest import NOW, Write

FLAT = installed()["flat"].definition


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"category": "Lip syncing"}, "category 'Lip syncing'"),
        ({"pricing": Rule(base=Decimal(-1))}, "negative price"),
        ({"pricing": Rule(units=[UnitPrice(credits=Decimal(1))])}, "exactly one of"),
        ({"pricing": Rule(units=[UnitPrice(parameter="no", credits=Decimal(1))])}, "'no'"),
        ({"pricing": Rule(units=[UnitPrice(medium="no", credits=Decimal(1))])}, "'no'"),
        ({"pricing": Rule(units=[UnitPrice(parameter="size", credits=Decimal(1))])}, "no number"),
        ({"pricing": Rule(multipliers=[Multiplier(parameter="no", values={})])}, "'no'"),
        (
            {
                "pricing": Rule(
                    multipliers=[Multiplier(parameter="size", values={"big": Decimal(0)})]
                )
            },
            "not positive",
        ),
        (
            {
                "pricing": Rule(
                    multipliers=[Multiplier(parameter="count", values={"1": Decimal(2)})]
                )
            },
            "no fixed set of values",
        ),
        (
            {
                "pricing": Rule(
                    multipliers=[Multiplier(parameter="size", values={"bg": Decimal(2)})]
                )
            },
            "'bg'",
        ),
    ],
)
def test_a_model_that_cannot_be_priced_does_not_load(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        catalog.load([replace(FLAT, **change)])

    assert "'flat'" in str(caught.value)
    assert sentence in str(caught.value).replace("not a number", "no number")


def test_models_come_by_kind_and_title(offered: Catalog) -> None:
    order = [(model.asset_type, model.title) for model in offered.models.values()]

    assert order == sorted(order)


def test_an_unknown_model_names_the_closest(offered: Catalog) -> None:
    with pytest.raises(NotFoundError, match="did you mean 'poster'"):
        offered.get("postr")


def test_figures_follow_from_the_rule(offered: Catalog) -> None:
    flat = offered.get("flat")

    assert flat.credits_from == flat.credits_at_defaults == Decimal("0.6")
    assert flat.estimated_credits == Decimal("0.6")


def medium(kind: str) -> Parameter:
    return Parameter(name=kind, type=kind, media=True)


@pytest.mark.parametrize(
    ("asset_type", "category", "media", "expected"),
    [
        ("image", "Generation", [], "text-to-image"),
        ("image", "Editing", ["image"], "image-to-image"),
        ("video", "Video Generation", [], "text-to-video"),
        ("video", "Video Generation", ["image"], "image-to-video"),
        ("video", "Video Generation", ["audio"], "text-to-video"),
        ("video", "Editing", ["video", "image"], "video-to-video"),
        ("video", "Lip syncing", ["image", "audio"], "lip-sync"),
    ],
)
def test_a_generation_is_called_by_what_goes_in(
    asset_type: Any, category: str, media: list[str], expected: str
) -> None:
    definition = Definition(
        id="m",
        title="M",
        asset_type=asset_type,
        category=category,
        description="",
        pricing=Rule(base=Decimal(1)),
        media=[medium(kind) for kind in ("image", "video", "audio")],
    )
    model = catalog.load([definition]).get("m")

    assert catalog.generation_type(model, media) == expected


def test_the_estimate_is_the_mean_of_the_last_hundred(
    write: Write, queue_up: Callable[..., str], offered: Catalog
) -> None:
    flat = offered.get("flat")
    assert write(catalog.with_estimate(flat)) == flat
    queue_up(NOW, parameters={"count": 10})
    queue_up(NOW)

    assert write(catalog.with_estimate(flat)).estimated_credits == Decimal("1.05")


def test_a_filter_must_agree_with_its_alias(offered: Catalog) -> None:
    with pytest.raises(BadRequestError, match="give one of them"):
        catalog.chosen(offered, asset_type="image", alias="video", category=None)
