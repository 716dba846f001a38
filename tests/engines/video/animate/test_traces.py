import cv2
import numpy as np

from kit.engines.film.animate.traces import traces, with_traces

LEAST = 12


def sky(width: int = 400, height: int = 300) -> np.ndarray:
    noise = np.random.default_rng(3).normal(0, 3, (height, width, 1))
    return np.clip(np.float32([150, 180, 210]) + noise, 0, 255).astype(np.uint8)


def helmet() -> tuple[np.ndarray, np.ndarray]:
    """Return a dark ball with a white rim, and a cutout that misses the rim."""
    pixels = sky()
    cv2.circle(pixels, (200, 150), 84, (250, 250, 250), -1, cv2.LINE_AA)
    cv2.circle(pixels, (200, 150), 78, (20, 20, 25), -1, cv2.LINE_AA)
    alpha = np.zeros((300, 400), np.uint8)
    cv2.circle(alpha, (200, 150), 78, 255, -1, cv2.LINE_AA)
    return pixels, alpha


def ring(inner: float, outer: float) -> np.ndarray:
    away = np.hypot(*np.mgrid[-150:150, -200:200])
    return np.asarray((away > inner) & (away < outer))


def test_a_rim_that_the_cutout_missed_is_found() -> None:
    found, own = traces(*helmet(), LEAST)

    assert found[ring(80, 83)].mean() > 230
    assert own[ring(80, 83)].mean() > 230
    assert not found[ring(92, 400)].any()


def test_beside_a_whole_cutout_there_is_nothing() -> None:
    pixels, alpha = helmet()
    cv2.circle(alpha, (200, 150), 86, 255, -1, cv2.LINE_AA)

    assert traces(pixels, alpha, LEAST)[0].mean() < 1


def test_what_goes_on_behind_a_subject_is_not_the_subjects() -> None:
    pixels, alpha = helmet()
    cv2.circle(alpha, (200, 150), 86, 255, -1, cv2.LINE_AA)
    pixels[145:155, 290:] = (120, 40, 20)
    pixels[145:155, 280:290] = (120, 40, 20)

    own = traces(pixels, alpha, LEAST)[1]

    assert not own[145:155, 292:].any()


def test_a_busy_ground_is_left_where_it_is() -> None:
    rng = np.random.default_rng(4)
    pixels = rng.integers(0, 255, (300, 400, 3)).astype(np.uint8)
    alpha = helmet()[1]

    found, own = traces(pixels, alpha, LEAST)

    assert not own.any()
    assert found[alpha < LEAST].mean() < 1


def test_traces_belong_to_the_subject_as_far_as_they_differ_from_what_is_behind() -> None:
    pixels, alpha = helmet()
    own = traces(pixels, alpha, LEAST)[1]

    cover = with_traces(pixels, sky(), alpha, own)

    assert cover[ring(80, 83)].mean() > 220
    assert cover[ring(88, 400)].max() < 60
    assert np.array_equal(cover[ring(0, 76)], alpha[ring(0, 76)])


def test_a_cutout_of_nearly_everything_or_nothing_has_no_traces() -> None:
    pixels = sky(80, 60)

    for value in (0, 255):
        assert not traces(pixels, np.full((60, 80), value, np.uint8), LEAST)[0].any()
