from dataclasses import replace

import numpy as np

from kit.engines.base import Progress
from kit.engines.painting.flat import paint
from kit.engines.prompt.brief import read


def test_a_flat_scene_follows_the_words_and_the_seed() -> None:
    brief = read("flat poster of snowy mountains", {"aspect_ratio": "3:2", "size": 192}, 4)
    picture = paint(brief, Progress())

    assert picture.shape == (128, 192, 3)
    assert (picture == paint(brief, Progress())).all()
    assert np.abs(picture - paint(replace(brief, seed=5), Progress()).astype(float)).mean() > 2
