import numpy as np
import pytest

from kit.engines.film.filming import Take
from kit.engines.film.rain import dull
from kit.engines.film.weather import Weather
from kit.engines.media.clip import views


def take(width: int, height: int, *, loop: bool = False) -> Take:
    return Take(width=width, height=height, fps=24, frames=48, loop=loop)


def rained(size: Take, moment: float) -> np.ndarray:
    """Return what rain adds to the light of a gray frame."""
    frame = np.full((size.height * 3 // 2, size.width), 110, np.uint8)
    rng = np.random.default_rng(4)
    rain = Weather("rain", (size.width, size.height), rng, size.seconds, size.loop)
    rain.draw(views(frame, size.width, size.height), moment)
    luma = frame[: size.height].astype(int)
    return luma - int(np.median(luma))


@pytest.mark.parametrize("size", [(240, 160), (540, 360), (360, 640), (1280, 720)])
def test_streaks_are_short_and_let_the_picture_through_at_every_size(size: tuple[int, int]) -> None:
    added = rained(take(*size), 0.3)

    seen = added > 6
    assert 0.003 < seen.mean() < 0.12
    assert np.quantile(added[seen], 0.9) < 75
    # No run of light down a column is longer than a few hundredths of the height.
    padded = np.pad(seen, ((1, 1), (0, 0))).T.astype(int)
    begins, ends = (np.flatnonzero(np.diff(padded.ravel()) == way) for way in (1, -1))
    assert np.quantile(ends - begins, 0.98) < 0.06 * size[1] + 3


def test_a_small_clip_has_as_much_light_in_its_rain_as_a_large_one() -> None:
    small, large = (rained(take(*size), 0.3).clip(0).mean() for size in ((270, 180), (1080, 720)))

    assert 0.4 < small / large < 2.0


def test_rain_falls_along_its_streaks() -> None:
    size = take(300, 200)
    one, later = rained(size, 0.5), rained(size, 0.504)
    fits = {
        (down, across): float((np.roll(one, (down, across), (0, 1)) * later).sum())
        for down in range(-8, 9)
        for across in range(-3, 4)
    }

    down, across = max(fits, key=lambda move: fits[move])
    assert down > 0
    assert across <= 0


def test_rain_in_a_loop_comes_back_to_where_it_began() -> None:
    size = take(160, 100, loop=True)

    assert np.abs(rained(size, 0.0) - rained(size, 1.0)).max() <= 1
    assert np.abs(rained(size, 0.0) - rained(size, 0.4)).mean() > 0.5


def test_a_dull_frame_has_less_light_and_less_color() -> None:
    frame = np.full((6, 4), 200, np.uint8)

    dull(views(frame, 4, 4))

    assert 180 < frame[0, 0] < 195
    assert 180 < frame[-1, -1] < 195
