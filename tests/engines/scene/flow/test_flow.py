import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.painting import flow
from kit.engines.painting.flow.contours import chart, cut_paper, terrain
from kit.engines.painting.flow.inks import Inks, inks
from kit.engines.painting.flow.strokes import Course, drawn, laid
from kit.engines.painting.flow.waves import Rows, Weave, ribbons, ridgelines
from kit.engines.prompt.brief import Brief, read

_COURSE = Course(whirls=2.0, count=400, length=0.5, widths=(0.03, 0.005), gap=0.004)
_INKS = Inks(
    paper=(0.15, 0.02, 260.0), shades=tuple((0.7, 0.12, 60.0 * n) for n in range(5)), dark=True
)


def _brief(prompt: str, seed: int = 3, size: int = 128) -> Brief:
    return read(prompt, {"aspect_ratio": "1:1", "size": size, "family": "flow"}, seed)


def _painted(prompt: str, *, seed: int = 3, size: int = 128) -> np.ndarray:
    return flow.paint(_brief(prompt, seed, size), Progress()).astype(float)


@pytest.mark.parametrize(
    "prompt", ["flow stroke", "contour map", "layered paper", "wave thread", "pulsar signal"]
)
def test_every_style_is_drawn_on_dark_and_on_light_paper(prompt: str) -> None:
    dark, pale = _painted(f"black {prompt}"), _painted(f"white {prompt}")

    assert min(dark.std(), pale.std()) > 4.0
    assert dark.mean() < pale.mean()


def test_strokes_do_not_cross() -> None:
    strokes = laid(np.random.default_rng(1), 200, 300, _COURSE, Progress())
    times = np.zeros((200, 300), int)
    for stroke in strokes:
        canvas = np.zeros((200, 300, 3), np.uint8)
        drawn(canvas, [stroke], np.array([[255, 255, 255]], np.uint8), 1.0)
        times += canvas[..., 0] > 160

    assert len(strokes) > 30
    assert (times > 1).mean() < 0.01
    assert (times > 0).mean() > 0.25


def test_thick_strokes_come_first() -> None:
    strokes = laid(np.random.default_rng(1), 200, 200, _COURSE, Progress())

    widths = [stroke.width for stroke in strokes]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 3 * widths[-1]


def test_strokes_follow_one_another_smoothly() -> None:
    strokes = laid(np.random.default_rng(1), 200, 200, _COURSE, Progress())

    for stroke in strokes[:20]:
        steps = np.hypot(*np.diff(stroke.points, axis=0).T)
        assert steps.max() < 2.5


def test_hills_reach_from_nothing_to_one() -> None:
    hills = terrain(np.random.default_rng(1), 90, 120, 3.0, Progress(), smooth=True)

    assert hills.shape == (90, 120)
    assert (hills.min(), hills.max()) == (0.0, 1.0)


def test_a_chart_has_a_line_at_every_level() -> None:
    slope = np.tile(np.linspace(0.0, 1.0, 400, dtype=np.float32), (40, 1))

    picture = chart(slope, _INKS, 10, Progress())[1, 20]

    ground = np.convolve(np.pad(picture, 20, mode="edge"), np.ones(41) / 41, "valid")
    lines = picture > ground + 0.05
    assert np.count_nonzero(np.diff(lines.astype(int)) == 1) in range(8, 12)


def test_cut_paper_has_few_shades_and_shadows_under_its_edges() -> None:
    slope = np.tile(np.linspace(1.0, 0.0, 400, dtype=np.float32), (400, 1))

    row = cut_paper(slope, _INKS, 4, Progress())[:, 200].mean(axis=0)

    # Falling to the right and lit from the left: below each edge it is darker than further on.
    assert row[104] < 0.9 * row[150]


def test_ribbons_shine_on_dark_paper() -> None:
    picture = ribbons(np.random.default_rng(1), (120, 160), _INKS, Weave(threads=12), Progress())

    assert picture.shape == (3, 120, 160)
    assert picture.max() > 4 * np.median(picture)


def test_ridges_hide_those_behind() -> None:
    picture = ridgelines(np.random.default_rng(1), (200, 160), _INKS, Rows(count=20), Progress())

    lit = (picture.mean(axis=0) > 0.1).mean()
    assert 0.03 < lit < 0.5


def test_inks_stand_out_from_their_paper() -> None:
    for seed in range(12):
        found = inks(np.random.default_rng(seed), _brief("flow"))
        levels = [shade[0] for shade in found.shades]
        assert found.dark == (found.paper[0] < 0.5)
        assert min(abs(level - found.paper[0]) for level in levels) > 0.2


def test_asked_colors_are_the_inks() -> None:
    found = inks(np.random.default_rng(1), _brief("teal flow"))

    assert all(abs(hue - 192.0) < 20.0 for _, _, hue in found.shades)
