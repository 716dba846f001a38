import itertools

import pytest

from kit import pricing
from kit.engines.base import Definition
from kit.engines.models.animate import Animate
from kit.engines.models.drift import Drift
from kit.engines.models.flythrough import FlyThrough
from kit.engines.models.ken_burns import KenBurns
from kit.engines.models.living_scene import LivingScene
from kit.engines.sizes import ASPECTS, frame_size

MODELS = [engine.definition for engine in (Drift, FlyThrough, LivingScene, Animate, KenBurns)]


@pytest.mark.parametrize("definition", MODELS, ids=lambda d: d.id)
def test_longer_sharper_and_faster_clips_cost_more(definition: Definition) -> None:
    defaults = {p.name: p.default for p in definition.settings}

    def cost(**values: object) -> float:
        return float(pricing.price(definition.pricing, {**defaults, **values}).total)

    assert cost(duration=2) < cost(duration=8)
    sizes = [cost(resolution=size) for size in ("360p", "480p", "720p", "1080p")]
    assert sizes == sorted(sizes)
    assert len(set(sizes)) == 4
    assert cost(fps=24) < cost(fps=60)
    assert cost(format="mp4") < cost(format="webm")


@pytest.mark.parametrize(
    ("aspect", "resolution"), [*itertools.product(ASPECTS, ("360p", "480p", "720p", "1080p"))]
)
def test_frames_are_even_and_their_smaller_side_is_the_resolution(
    aspect: str, resolution: str
) -> None:
    width, height = frame_size({"aspect_ratio": aspect, "resolution": resolution})

    across, down = ASPECTS[aspect]
    assert width % 2 == height % 2 == 0
    assert min(width, height) == int(resolution[:-1])
    assert width / height == pytest.approx(across / down, abs=0.01)


@pytest.mark.parametrize(
    ("kept", "size"),
    [((1000, 500), (720, 360)), ((333, 500), (360, 540)), ((4000, 100), (1080, 360))],
)
def test_the_shape_of_the_input_is_kept_within_bounds(
    kept: tuple[int, int], size: tuple[int, int]
) -> None:
    assert frame_size({"aspect_ratio": "keep", "resolution": "360p"}, kept) == size
