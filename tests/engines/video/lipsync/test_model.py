import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import pytest

from kit.engines.editing.lipsync.film import frame_size
from kit.engines.models.lip_sync import LipSync
from kit.parameters import check
from kit.pricing import Medium, check_rule, price
from kit.wire import Model


def test_the_model_is_priced_by_the_second_of_its_audio() -> None:
    definition = LipSync.definition
    model = Model(
        id=definition.id,
        media_parameters=list(definition.media),
        setting_parameters=list(definition.settings),
        pricing=definition.pricing,
        supports_prompt=False,
    )
    check_rule(model)
    files = {"portrait": ["upl_1"], "audio": ["upl_2"]}
    values = check(model, prompt=None, parameters={"resolution": "720p"}, media=files)
    ten = {"audio": [Medium("audio", Fraction(10))]}

    assert price(definition.pricing, values, ten).total == Decimal("0.64")
    assert definition.category == "Lip syncing"


def test_listing_the_model_loads_nothing_heavy() -> None:
    code = (
        "import sys, kit.engines.models.lip_sync;"
        "print([m for m in ('numpy', 'cv2', 'av', 'PIL') if m in sys.modules])"
    )

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("given", "resolution", "size"),
    [
        ((1920, 1080), "480p", (854, 480)),
        ((101, 203), "360p", (360, 724)),
        ((4000, 200), "360p", (900, 44)),
        ((1, 1), "720p", (720, 720)),
        ((3000, 1), "360p", (900, 2)),
    ],
)
def test_sizes_are_even_and_bounded(
    given: tuple[int, int], resolution: str, size: tuple[int, int]
) -> None:
    assert frame_size(*given, resolution) == size
