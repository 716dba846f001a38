import cv2
import numpy as np

from kit.engines.film.filming import Take
from kit.engines.film.living.lights import STARS, Flicker

TAKE = Take(width=160, height=90, fps=24, frames=96, motion=0.5, loop=True)


def rng() -> np.random.Generator:
    return np.random.default_rng(4)


def test_only_small_lights_flicker() -> None:
    luma = np.full((90, 160), 30, np.uint8)
    luma[::10, ::10] = 240
    luma[60:, :] = 200
    flicker = Flicker(luma, TAKE, rng())

    def drawn(moment: float) -> np.ndarray:
        found = luma.copy()
        flicker.draw(found, moment)
        return found.astype(int)

    changed = np.abs(drawn(0.2) - drawn(0.45))
    assert changed[:50:10, ::10].max() > 20
    assert changed[70:].max() == 0
    assert np.array_equal(drawn(0.0), drawn(1.0))


def test_a_sign_flickers_as_one() -> None:
    luma = np.full((90, 160), 30, np.uint8)
    luma[20:60:2, 40:44] = 240  # letters, one below the other
    flicker = Flicker(luma, TAKE, rng())
    dimmed = []
    for moment in np.linspace(0, 1, 9):
        found = luma.copy()
        flicker.draw(found, float(moment))
        dimmed.append((luma.astype(int) - found)[24:56:2, 41])

    assert np.max(dimmed) > 20
    assert np.ptp(dimmed, axis=1).max() <= 2


def starry() -> tuple[np.ndarray, np.ndarray]:
    """Return a night with stars and a moon over snow, and where it is sky."""
    luma = np.full((180, 320), 50, np.uint8)
    luma[8:90:14, 6::17] = 150
    cv2.circle(luma, (200, 40), 14, 220, -1, cv2.LINE_AA)
    luma[110:] = 90
    luma[120::9, ::9] = 200  # glints on the snow
    sky = np.zeros((180, 320), np.float32)
    sky[:110] = 1
    return luma, sky


def test_stars_glimmer_and_neither_the_moon_nor_the_ground() -> None:
    luma, sky = starry()
    stars = Flicker(luma, TAKE, rng(), STARS, sky)
    changes = []
    for moment in np.linspace(0, 1, 13):
        found = luma.copy()
        stars.draw(found, float(moment))
        changes.append(luma.astype(int) - found)
    most = np.max(changes, axis=0)

    assert np.mean(most[8:90:14, 6::17] > 15) > 0.6
    assert most[30:50, 190:210].max() == 0
    assert most[110:].max() == 0
    assert np.array_equal(changes[0], changes[-1])
    assert stars.rows < 110


def test_a_sky_that_is_not_seen_has_no_stars() -> None:
    luma, sky = starry()
    found = luma.copy()
    Flicker(luma, TAKE, rng(), STARS, 0 * sky).draw(found, 0.3)

    assert np.array_equal(found, luma)
