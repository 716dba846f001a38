import numpy as np

from kit.engines.painting.land.tone import bloom, developed, gradient, light


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def test_more_light_is_never_darker() -> None:
    planes = np.tile(np.linspace(0, 6, 200, dtype=np.float32), (3, 40, 1))
    picture = developed(planes, rng(), vignette=0.0, grain=0.0)

    means = picture.mean(axis=(0, 2))
    assert (np.diff(means) > -0.6).all()
    assert means[0] < 3
    assert means[-1] > 245


def test_a_dark_ramp_has_no_bands() -> None:
    planes = np.tile(np.linspace(0.01, 0.03, 300, dtype=np.float32), (3, 60, 1))
    picture = developed(planes, rng()).astype(int)

    assert (np.abs(np.diff(picture, axis=1)).sum(axis=(0, 2)) > 0).all()


def test_bright_light_shines_over_its_surroundings() -> None:
    planes = np.full((3, 64, 64), 0.1, np.float32)
    planes[:, 30:34, 30:34] = 9.0
    bloom(planes, 0.4)

    assert planes[0, 32, 40] > planes[0, 32, 60] >= 0.1


def test_a_gradient_begins_and_ends_in_its_colors() -> None:
    stops = [(0.9, 0.05, 60.0), (0.6, 0.1, 300.0), (0.3, 0.08, 270.0)]
    ends = gradient(stops, np.array([0.0, 1.0], np.float32))

    for place, stop in ((0, stops[0]), (1, stops[-1])):
        assert np.allclose(ends[:, place], light(stop).ravel(), atol=0.02)


def test_gray_stays_gray_but_for_the_split_tone() -> None:
    picture = developed(np.full((3, 80, 80), 0.3, np.float32), rng(), vignette=0.0, grain=0.0)

    assert np.ptp(picture.mean(axis=(0, 1))) < 6
