import subprocess
import sys

import pytest

from kit.engines.scene.families import FAMILIES, painter


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_a_painter(family: str) -> None:
    assert callable(painter(family))


def test_the_table_is_read_without_numpy() -> None:
    code = "import sys, kit.engines.scene.families; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"
