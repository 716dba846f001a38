import numpy as np

from kit.engines.base import Progress
from kit.engines.painting.space.bursts import Comet, Nova, add_comet, add_nova
from kit.engines.painting.space.cast import cast
from kit.engines.prompt.brief import read

SIZE = 160


def dark() -> np.ndarray:
    return np.zeros((3, SIZE, SIZE), np.float32)


def away(x: float, y: float) -> np.ndarray:
    down, right = np.indices((SIZE, SIZE))
    return np.hypot(right - x, down - y)


def test_a_nova_is_a_star_in_a_shell_with_nothing_around_it() -> None:
    picture = dark()
    add_nova(np.random.default_rng(1), picture, Nova(80, 80, 45, (28, 225), 1.0), 5, Progress())
    light, far = picture.mean(axis=0), away(80, 80)

    assert light[far < 4].mean() > 5 * light[(far > 20) & (far < 50)].mean()
    assert light[(far > 30) & (far < 50)].mean() > 10 * light[far > 75].mean()


def test_a_nova_s_rim_and_heart_differ_in_color() -> None:
    picture = dark()
    add_nova(np.random.default_rng(1), picture, Nova(80, 80, 45, (28, 225), 1.0), 5, Progress())
    far = away(80, 80)
    rim, inside = (
        picture[:, (far > low) & (far < high)].mean(axis=1) for low, high in ((40, 48), (18, 24))
    )

    assert rim[0] / rim[2] > 1.5 * inside[0] / inside[2]


def test_a_comet_s_tail_leads_away_from_its_head() -> None:
    picture = dark()
    add_comet(np.random.default_rng(1), picture, Comet(50, 80, 70, 0.0, 225), 5)
    light = picture.mean(axis=0)

    assert light[80, 50] == light.max()
    assert light[70:90, 70:100].mean() > 20 * light[70:90, :30].mean()
    assert light[70:90, 70:100].mean() > 5 * light[:40, 70:100].mean()


def test_comets_and_novas_appear_where_they_are_named() -> None:
    def seen(prompt: str) -> tuple[bool, bool]:
        brief = read(prompt, {"aspect_ratio": "1:1", "size": 128, "family": "space"}, 1)
        found = cast(np.random.default_rng(1), brief)
        return found.nova is not None, found.comet is not None

    assert seen("a supernova") == (True, False)
    assert seen("a comet over saturn") == (False, True)
    assert seen("saturn") == (False, False)
