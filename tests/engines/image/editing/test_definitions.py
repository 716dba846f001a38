import subprocess
import sys
from decimal import Decimal

import pytest

from kit import parameters, pricing
from kit.engines.base import Definition
from kit.engines.models.background import Background
from kit.engines.models.reframe import Reframe
from kit.engines.models.restyle import Restyle
from kit.engines.models.retouch import Retouch
from kit.engines.models.title_card import TitleCard
from kit.wire import CATEGORIES, Model

DEFINITIONS = [kind.definition for kind in (Background, Reframe, Restyle, Retouch, TitleCard)]

LISTING = """
import sys
import kit.engines.models.title_card
import kit.engines.models.background, kit.engines.models.reframe
import kit.engines.models.restyle, kit.engines.models.retouch
heavy = {"numpy", "cv2", "av", "PIL"} & set(sys.modules)
assert not heavy, heavy
"""


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda d: d.id)
def test_a_definition_is_valid_and_priced(definition: Definition) -> None:
    model = Model(
        id=definition.id,
        asset_type=definition.asset_type,
        setting_parameters=list(definition.settings),
        media_parameters=list(definition.media),
        pricing=definition.pricing,
    )

    pricing.check_rule(model)
    assert definition.category in CATEGORIES["image"]
    cheapest, usual = pricing.least(model), pricing.at_defaults(model)
    assert Decimal("0.01") <= cheapest <= usual <= Decimal("0.06")
    for parameter in definition.settings:
        if parameter.default is not None:
            assert parameters.problem_with(parameter, parameter.default) is None


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda d: d.id)
def test_a_setting_of_one_operation_is_no_price_of_the_others(definition: Definition) -> None:
    about = {parameter.name: parameter.description for parameter in definition.settings}
    for multiplier in definition.pricing.multipliers:
        assert not about[multiplier.parameter].endswith("only")


def test_a_larger_scale_leaves_every_price_of_retouching_as_it_is() -> None:
    rule = Retouch.definition.pricing
    prices = {
        operation: {
            pricing.price(rule, {"operation": operation, "scale": scale}).total for scale in (2, 4)
        }
        for operation in ("erase", "denoise", "upscale", "sharpen")
    }

    assert prices == {
        "erase": {Decimal("0.03")},
        "denoise": {Decimal("0.03")},
        "upscale": {Decimal("0.02")},
        "sharpen": {Decimal("0.02")},
    }


def test_definitions_load_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LISTING], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
