import numpy as np

from kit.engines.media.color import Bytes, Floats
from kit.engines.painting.heightfield.ashore import bring_ashore
from kit.engines.painting.heightfield.camera import Eye
from kit.engines.painting.heightfield.patches import Atlas, box_of
from kit.engines.painting.heightfield.slices import bare, wooded
from kit.engines.painting.heightfield.terrain import GRID, TEXEL, Station
from kit.engines.painting.heightfield.visible import Seen


def shores(
    surface: Floats, colors: Bytes, slices: Floats | None = None
) -> tuple[Seen, Bytes, Bytes]:
    """Return what is seen of land in water, and its colors before and after."""
    at = Station(x=100.0, y=100.0, heading=0.1, height=20.0, horizon=0.4, bank=0.0)
    eye = Eye(320, 180)
    box = box_of([at], eye.widest)
    eye.over(surface, box, bare(240) if slices is None else slices)
    atlas = Atlas(colors, box, eye.focal, np.zeros((GRID, GRID), np.uint8), {})
    seen = eye.look(at)
    before = atlas.seen(seen.x, seen.y, seen.inverse)
    after = before.copy()
    bring_ashore(after, atlas, eye, seen, at, 0.0)
    return seen, before, after


def test_water_does_not_climb_the_cliffs_behind_it() -> None:
    cliff = slice(round(300 / TEXEL), round(500 / TEXEL))
    surface = np.zeros((GRID, GRID), np.float32)
    surface[cliff] = 40.0
    colors = np.full((GRID, GRID, 4), 255, np.uint8)
    colors[cliff, :, 3] = 128  # neither water nor trees
    seen, before, after = shores(surface, colors)
    climbing = (seen.height > 1.0) & ~seen.sky

    assert (after[climbing, 3] > 200).mean() < 0.2 * (before[climbing, 3] > 200).mean()
    assert (after[(seen.height < 0.05) & (seen.away < 150), 3] == 255).all()


def test_a_steep_shore_has_its_beach_along_the_water_and_no_row_of_beads() -> None:
    y, x = np.indices((GRID, GRID), np.float32) * np.float32(TEXEL)
    inland = y - np.float32(180.0) - np.float32(0.8) * (x - np.float32(100.0))
    surface = np.clip(np.float32(3.0) * inland, 0.0, 60.0)
    beach = (surface > 0) & (surface < 3.0)
    colors = np.full((GRID, GRID, 4), 20, np.uint8)
    colors[beach, :3] = 220
    colors[..., 3] = np.where(surface > 0, 128, 255)
    seen, before, after = shores(surface.astype(np.float32), colors)

    def sandy(shown: Bytes) -> float:
        """Return how much of what stands a little above the water is beach."""
        low = (seen.height > 0.6) & (seen.height < 2.2) & (seen.away < 300)
        return float((shown[low, 0] > 120).mean())

    assert sandy(before) < 0.4
    assert sandy(after) > 0.7


def test_a_far_shore_has_its_beach_along_the_water_and_none_up_its_slope() -> None:
    y, x = np.indices((GRID, GRID), np.float32) * np.float32(TEXEL)
    inland = y - np.float32(470.0) - np.float32(0.3) * (x - np.float32(120.0))
    surface = np.clip(np.float32(1.3) * inland, 0.0, 60.0)
    colors = np.full((GRID, GRID, 4), 20, np.uint8)
    colors[(surface > 0) & (surface < 4.0), :3] = 220
    colors[..., 3] = np.where(surface > 0, 128, 255)
    seen, before, after = shores(surface.astype(np.float32), colors, wooded(240, 40.0))
    far = (seen.away > 320) & (seen.away < 440)

    def sandy(shown: Bytes, low: float, high: float) -> float:
        """Return how much of what stands so high above the water is beach."""
        zone = far & (seen.height > low) & (seen.height < high)
        return float((shown[zone, 0] > 120).mean())

    assert sandy(before, 0.6, 2.2) < 0.4
    assert sandy(after, 0.6, 2.2) > 0.8  # slices lie 10 units apart; it was 0.3
    assert sandy(after, 5.0, 25.0) == 0.0
