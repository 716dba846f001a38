import subprocess
import sys

import numpy as np
import pytest

from kit.engines.base import CanceledError, Progress
from kit.engines.painting.families import FAMILIES, paint, painter
from kit.engines.prompt.brief import Brief, read

#: Family, prompt, how often its painting reports at least, and the longest stretch without.
PAINTINGS = [
    ("lake", "a mountain lake at noon", 30, 0.16),
    ("lake", "the milky way over a winter lake", 45, 0.16),
    ("desert", "dunes at noon", 16, 0.19),
    ("desert", "a cactus desert at night", 25, 0.19),
    ("forest", "an oak forest with rays of light", 35, 0.16),
    ("forest", "a forest from above", 35, 0.21),
    ("sea", "a lighthouse at dusk", 20, 0.18),
    ("sea", "an island in a storm", 18, 0.22),
    ("city", "a street at noon", 100, 0.1),
    ("city", "a neon street in the rain at night", 100, 0.1),
    ("space", "saturn with rings and moons", 22, 0.2),
    ("space", "a spiral galaxy", 30, 0.21),
    ("space", "a supernova", 22, 0.21),
    ("liquid", "marble and gold", 14, 0.18),
    ("liquid", "ink", 12, 0.18),
    ("liquid", "silk", 10, 0.18),
    ("liquid", "oil", 10, 0.18),
    ("liquid", "lava", 12, 0.18),
    ("liquid", "acrylic paint", 11, 0.18),
    ("flow", "flow lines", 16, 0.2),
    ("flow", "a topographic map", 8, 0.2),
    ("flow", "layers of cut paper", 9, 0.2),
    ("flow", "waves", 9, 0.2),
    ("flow", "joyplot ridges", 40, 0.2),
    ("poster", "mountains at noon", 8, 0.25),
]
paintings = pytest.mark.parametrize(
    ("family", "prompt", "least", "stretch"), PAINTINGS, ids=[one[1] for one in PAINTINGS]
)


def brief_of(family: str, prompt: str) -> Brief:
    size = 512 if family == "poster" else 128
    settings = {"aspect_ratio": "1:1", "size": size, "detail": "low", "family": family}
    return read(prompt, settings, 7)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_a_painter(family: str) -> None:
    assert callable(painter(family))


def test_the_table_is_read_without_numpy() -> None:
    code = "import sys, kit.engines.painting.families; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"


@paintings
def test_painting_reports_in_many_small_steps(
    family: str, prompt: str, least: int, stretch: float
) -> None:
    seen: list[float] = []

    paint(brief_of(family, prompt), Progress(seen.append))

    assert seen == sorted(seen)
    assert len(seen) >= least
    assert np.diff([0.0, *seen, 1.0]).max() < stretch


@pytest.mark.parametrize(("when", "family"), list(enumerate(FAMILIES, start=1)))
def test_painting_ends_at_the_report_after_a_cancel(family: str, when: int) -> None:
    seen: list[float] = []

    def heard(done: float) -> None:
        seen.append(done)
        if len(seen) == when:
            progress.cancel()

    progress = Progress(heard)
    with pytest.raises(CanceledError):
        paint(brief_of(family, ""), progress)

    assert len(seen) == when
