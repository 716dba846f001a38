import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from kit import parameters, pricing
from kit.engines.base import Definition
from kit.engines.models.drift import Drift
from kit.engines.models.poster import Poster
from kit.wire import CATEGORIES, Model

POINTS = [e for e in entry_points(group="kit.engines") if e.value.startswith("kit.engines.")]
DEFINITIONS = [point.load().definition for point in sorted(POINTS, key=lambda point: point.name)]

LISTING = """
import sys
from kit.engines.registry import installed
models = installed()
assert {"poster", "drift"} <= set(models), models
heavy = {"numpy", "cv2", "av", "PIL"} & set(sys.modules)
assert not heavy, heavy
"""


def model_of(definition: Definition) -> Model:
    return Model(
        id=definition.id,
        asset_type=definition.asset_type,
        setting_parameters=list(definition.settings),
        media_parameters=list(definition.media),
        pricing=definition.pricing,
    )


def test_listing_the_engines_loads_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LISTING], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda d: d.id)
def test_a_definition_is_valid_and_its_price_rule_prices_it(definition: Definition) -> None:
    model = model_of(definition)

    pricing.check_rule(model)
    assert definition.category in CATEGORIES[definition.asset_type]
    assert 0 < pricing.least(model) <= pricing.at_defaults(model)
    for parameter in definition.settings:
        if parameter.default is not None:
            assert parameters.problem_with(parameter, parameter.default) is None


def test_every_category_has_a_model() -> None:
    offered = {(definition.asset_type, definition.category) for definition in DEFINITIONS}

    assert offered == {(kind, name) for kind, names in CATEGORIES.items() for name in names}


def test_a_larger_poster_and_a_longer_or_sharper_clip_cost_more() -> None:
    def poster(**values: object) -> float:
        defaults = {p.name: p.default for p in Poster.definition.settings}
        return float(pricing.price(Poster.definition.pricing, {**defaults, **values}).total)

    def drift(**values: object) -> float:
        defaults = {p.name: p.default for p in Drift.definition.settings}
        return float(pricing.price(Drift.definition.pricing, {**defaults, **values}).total)

    assert poster(size=256) < poster() < poster(size=2048)
    assert poster() < poster(format="png")
    assert drift(resolution="360p") < drift() < drift(resolution="1080p")
    assert drift(duration=8) == 2 * drift()
