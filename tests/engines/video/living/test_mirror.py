from dataclasses import replace

import numpy as np

from kit.engines.base import Progress
from kit.engines.film.filming import Take
from kit.engines.film.living.mirror import Mirror
from kit.engines.film.living.stage import Stage
from kit.engines.media.clip import Frame
from kit.engines.painting.families import paint
from kit.engines.painting.land import motion as stirring
from kit.engines.prompt.brief import read

SIZE = (320, 180)
STAGE = Stage(*SIZE, (180, 320), None, Take(width=320, height=180, fps=24, frames=48))


def water(**values: object) -> stirring.Water:
    """Return a mirror from row 90 on, with a post before its right part."""
    lines, columns = np.indices((90, 320), np.float32)
    away = np.full((90, 320), 50.0, np.float32)
    away[:, 240:] = 10.0
    plain = stirring.Water(
        rows=slice(90, 180),
        columns=columns,
        lines=89.0 - lines,
        share=np.full((90, 320), 1.0, np.float32),
        away=away,
        level=np.full((90, 1), 50.0, np.float32),
    )
    return replace(plain, **values)


def planes() -> Frame:
    half = np.full((90, 160), 128, np.uint8)
    return np.full((180, 320), 60, np.uint8), half, half.copy()


def shown(mirror: Mirror) -> tuple[np.ndarray, ...]:
    """Return what water shows of a light that appears above it, and of one behind a post."""
    before, now = planes(), planes()
    for columns in (slice(100, 140), slice(260, 290)):
        now[0][20:40, columns] = 160
        now[2][10:20, slice(columns.start // 2, columns.stop // 2)] = 168
    mirror.draw(now, before)
    return tuple(part.astype(int) for part in now)


def test_water_shows_upside_down_what_has_changed_above_it() -> None:
    luma, blue, red = shown(Mirror(water(), STAGE, 60))

    assert np.abs(luma[142:158, 104:136] - 160).max() <= 2  # 20 to 40 rows above row 90
    assert np.abs(red[71:79, 52:68] - 168).max() <= 2
    assert (luma[92:136] == 60).all()
    assert (luma[164:] == 60).all()
    assert (blue[46:] == 128).all()


def test_what_stands_before_the_water_shows_nothing() -> None:
    assert (shown(Mirror(water(), STAGE, 60))[0][90:, 244:] == 60).all()


def test_water_that_mirrors_little_shows_little() -> None:
    faint = Mirror(water(share=np.full((90, 320), 0.2, np.float32)), STAGE, 60)

    assert 15 < (shown(faint)[0][150, 104:136] - 60).mean() < 60


def test_water_shows_nothing_of_what_stands_still() -> None:
    above = Mirror(water(), STAGE, 0)
    now = planes()
    Mirror(water(), STAGE, 60).draw(now, planes())

    assert above.rows == 0
    assert (now[0] == 60).all()


def test_a_lake_tells_what_it_mirrors_to_whoever_listens_and_stays_the_same() -> None:
    brief = read("a calm lake at noon, clear", {"aspect_ratio": "16:9", "size": 160}, 4)
    with stirring.heard() as told:
        listened = paint(brief, Progress())
    (lake,) = (one for one in told if isinstance(one, stirring.Water))

    assert np.array_equal(listened, paint(brief, Progress()))
    assert lake.lines.shape == lake.columns.shape == lake.share.shape == lake.away.shape
    seen = lake.share > 0.2
    assert seen.any()
    own = np.arange(lake.rows.start, lake.rows.stop)[:, None]
    assert (lake.lines <= own)[seen].all()  # it mirrors what is above it
