import numpy as np

from kit.engines.film.filming import Take
from kit.engines.film.living.lights import STARS, Flicker
from kit.engines.film.living.night import ByNight, StarsByNight, by_night
from kit.engines.media.clip import Frame
from kit.engines.media.color import Bytes
from tests.engines.video.living.test_aurora import aurora, night

TAKE = Take(width=320, height=180, fps=24, frames=120)


def day() -> Frame:
    bright = np.full((180, 320), 200, np.uint8)
    return bright, np.full((90, 160), 150, np.uint8), np.full((90, 160), 110, np.uint8)


def changed(share: float) -> np.ndarray:
    """Return by how much the lights of a moment change a bright sky."""
    lights = ByNight(aurora(), night(), lambda _: share)
    planes = day()
    lights.light_up(planes)  # a day that lights nothing up
    lights.draw(planes, 0.3)
    return planes[0].astype(int) - day()[0]


def test_lights_come_as_far_as_it_is_night() -> None:
    none, half, all_ = (changed(share) for share in (0.0, 0.5, 1.0))

    assert not none.any()
    assert np.abs(all_[25:65, 70:140]).mean() > 6
    assert np.abs(half - 0.5 * all_).max() <= 1


def test_of_what_stirs_northern_lights_alone_wait_for_the_night() -> None:
    other = ByNight(aurora(), night(), lambda _: 0.5)
    stirs = by_night([other, aurora()], night(), lambda _: 0.5)

    assert stirs[0] is other
    assert isinstance(stirs[1], ByNight)
    assert stirs[1].rows == aurora().rows


def test_stars_glimmer_as_far_as_it_is_night() -> None:
    def glimmered(share: float) -> Bytes:
        luma = np.full((180, 320), 30, np.uint8)
        luma[20:100:16, 12:300:24] = 220
        stars = Flicker(luma, TAKE, np.random.default_rng(3), STARS, np.ones((18, 32), np.float32))
        StarsByNight(stars, lambda _: share).draw(luma, 0.3)
        return luma

    assert (glimmered(0.0)[20:100:16, 12:300:24] == 220).all()
    half, all_ = (220 - glimmered(share)[20:100:16, 12:300:24].astype(int) for share in (0.5, 1.0))
    assert all_.mean() > 10
    assert np.abs(half - 0.5 * all_).max() <= 1
