import numpy as np
import pytest

from kit.engines.painting.poster.falling import falls, kind_of
from kit.engines.prompt.landscape import read


@pytest.mark.parametrize("kind", ["snow", "rain"])
def test_tiles_continue_at_the_opposite_edge(kind: str) -> None:
    for fall in falls(np.random.default_rng(1), 160, 120, kind):
        tile = fall.tile.astype(int)
        inner = np.abs(np.diff(tile, axis=0)).mean()
        seam = np.abs(tile[0] - tile[-1]).mean()

        assert tile.max() > 20
        assert seam < 3 * inner + 1


def test_nearer_weather_is_faster() -> None:
    for kind in ("snow", "rain"):
        speeds = [f.speed[1] for f in falls(np.random.default_rng(1), 80, 60, kind)]
        assert speeds == sorted(speeds)


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [("rain", "rain"), ("blizzard", "snow"), ("fireflies", "fireflies"), ("clear day", None)],
)
def test_the_prompt_says_what_is_in_the_air(prompt: str, kind: str | None) -> None:
    assert kind_of(read(prompt, seed=1)) == kind
