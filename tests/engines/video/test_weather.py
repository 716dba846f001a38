import numpy as np
import pytest

from kit.engines.film.weather import KINDS, Weather
from kit.engines.media.clip import rgb_of, views

SIZE = (160, 90)
AIRS = [kind for kind in KINDS if kind != "none"]


def gray(value: int = 70) -> np.ndarray:
    frame = np.full((135, 160), 128, np.uint8)
    frame[:90] = value
    return frame


def weather(kind: str, *, loop: bool = False, seconds: float = 4.0) -> Weather:
    return Weather(kind, SIZE, np.random.default_rng(2), seconds, loop)


def drawn(air: Weather, moment: float) -> np.ndarray:
    frame = gray()
    air.draw(views(frame, *SIZE), moment)
    return frame.astype(int)


@pytest.mark.parametrize("kind", AIRS)
def test_every_kind_is_seen_and_moves(kind: str) -> None:
    air = weather(kind)
    one, other = drawn(air, 0.2), drawn(air, 0.5)

    assert np.abs(one - gray()).max() > 12
    assert np.abs(one - other).max() > 8


@pytest.mark.parametrize("kind", AIRS)
def test_the_same_seed_gives_the_same_air(kind: str) -> None:
    assert np.array_equal(drawn(weather(kind), 0.3), drawn(weather(kind), 0.3))


@pytest.mark.parametrize("kind", AIRS)
@pytest.mark.parametrize("seconds", [1.0, 4.5])
def test_a_loop_comes_back_to_where_it_began(kind: str, seconds: float) -> None:
    air = weather(kind, loop=True, seconds=seconds)

    assert np.abs(drawn(air, 0.0) - drawn(air, 1.0)).mean() < 0.05


@pytest.mark.parametrize(("kind", "seconds"), [("snow", 2.0), ("snow", 4.0), ("embers", 2.0)])
def test_what_falls_is_as_fast_in_a_loop_as_otherwise(kind: str, seconds: float) -> None:
    def step(loop: bool) -> float:
        air = weather(kind, loop=loop, seconds=seconds)
        return float(np.abs(drawn(air, 0.1 + 0.005 / seconds) - drawn(air, 0.1)).mean())

    assert step(loop=True) == pytest.approx(step(loop=False), rel=0.25)


@pytest.mark.parametrize("kind", ["snow", "dust", "fireflies"])
@pytest.mark.parametrize(("seconds", "loop"), [(1.0, True), (2.0, True), (1.0, False)])
def test_nothing_hurries_in_a_short_clip(kind: str, seconds: float, loop: bool) -> None:
    def step(seconds: float, loop: bool) -> float:
        air = Weather(kind, (320, 180), np.random.default_rng(2), seconds, loop)
        moments = np.arange(8) / 9
        steps = [seen(air, m + 0.04 / seconds) - seen(air, m) for m in moments]
        return float(np.abs(steps).mean())

    def seen(air: Weather, moment: float) -> np.ndarray:
        frame = np.full((270, 320), 70, np.uint8)
        air.draw(views(frame, 320, 180), moment)
        return frame[:180].astype(float)

    assert step(seconds, loop) == pytest.approx(step(10.0, loop=False), rel=0.2)


@pytest.mark.parametrize("kind", ["snow", "embers", "dust", "fireflies"])
def test_a_short_loop_has_as_much_in_the_air_all_the_time(kind: str) -> None:
    air = weather(kind, loop=True, seconds=1.0)
    light = [float(np.abs(drawn(air, number / 12) - gray())[:90].mean()) for number in range(12)]

    assert min(light) > 0.6 * max(light)


@pytest.mark.parametrize("loop", [False, True])
def test_rain_falls_the_way_its_streaks_lie(loop: bool) -> None:
    air = Weather("rain", (320, 180), np.random.default_rng(2), 4.0, loop)

    def seen(moment: float) -> np.ndarray:
        frame = np.full((270, 320), 70, np.uint8)
        air.draw(views(frame, 320, 180), moment)
        return frame[:180].astype(int) - 70

    # The layer farthest away falls 1.3 heights in a second.
    one, later = (seen(moment) for moment in (0.5, 0.5 + 24 / 180 / 1.3 / 4))
    fits = [int((np.roll(one, (24, x), axis=(0, 1)) * later).sum()) for x in range(-9, 3)]
    assert np.argmax(fits) - 9 in (-4, -3)


@pytest.mark.parametrize("kind", ["fog", "dust"])
def test_what_hangs_in_the_air_stirs_in_a_loop_too(kind: str) -> None:
    air = weather(kind, loop=True, seconds=6.0)

    assert np.abs(drawn(air, 0.0) - drawn(air, 0.25)).max() > 3


@pytest.mark.parametrize("kind", ["rain", "snow"])
def test_what_falls_falls_downward(kind: str) -> None:
    air = weather(kind)
    one, later = drawn(air, 0.50)[:90] - 70, drawn(air, 0.51)[:90] - 70
    fits = [float((np.roll(one, rows, axis=0) * later).sum()) for rows in range(-12, 13)]

    assert np.argmax(fits) > 12


def test_embers_are_warm_and_fog_has_no_color() -> None:
    def color(kind: str) -> np.ndarray:
        frame = gray(40)
        weather(kind).draw(views(frame, *SIZE), 0.4)
        shown = rgb_of(frame).astype(int).reshape(-1, 3)
        bright = shown.sum(axis=1)
        return shown[bright >= np.quantile(bright, 0.995)].mean(axis=0)

    red, _, blue = color("embers")
    assert red > blue + 60
    assert np.ptp(color("fog")) < 6


def test_fog_does_not_turn_a_night_gray() -> None:
    frame = gray(18)
    weather("fog").draw(views(frame, *SIZE), 0.0)

    assert frame[:90].mean() < 60
