"""The examples in docstrings run and print their documented output."""

import doctest
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit import local

ROOT = Path(__file__).parents[1]
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in (ROOT / "kit").rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("KIT_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    yield
    local.stop()


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_their_documented_output(name: str) -> None:
    module = importlib.import_module(name)
    found = doctest.DocTestFinder(exclude_empty=True).find(module, name)
    output: list[str] = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    for example in found:
        runner.run(example, out=output.append)

    assert runner.tries > 0
    assert runner.failures == 0, "".join(output)
