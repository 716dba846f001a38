"""Tests go through doors: no private name of another module, and no patch of our own code.

The seam is an argument. Where a room is not there yet, the figure may fall and not rise.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
#: Folder -> private names of others that its tests still use, and patches of our own code.
LEFT = {
    "benchmarks": (1, 0),
    "browser": (0, 0),
    "client": (0, 0),
    "commands": (0, 0),
    "contract": (0, 0),
    "engines": (0, 1),
    "explore": (1, 0),
    "plugins": (1, 0),
    "service": (0, 0),
    "studio": (0, 0),
    "widgets": (1, 0),
    "": (0, 0),
}
#: What belongs to Python or to a library, and is patched to fail: by its first name.
OTHERS = {"Image", "Path", "diffusers", "huggingface_hub", "os", "sys", "threading", "torch"}


#: Documented names of Python, ipywidgets and anywidget, which begin like private ones.
DOCUMENTED = {"_asdict", "_css", "_dom_classes", "_esm", "_exit", "_replace"}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("_") and name not in DOCUMENTED


def private_names(tree: ast.AST) -> Iterator[str]:
    """Yield the private names of others that a test uses."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            if ast.unparse(node.value) not in ("self", "cls", "super()"):
                yield ast.unparse(node)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kit"):
            yield from (name.name for name in node.names if is_private(name.name))


def patches(tree: ast.AST) -> Iterator[str]:
    """Yield what a test patches that is ours."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            target = ast.unparse(node.args[0]).strip("'\"") if node.args else ""
            if node.func.attr == "setattr" and target.partition(".")[0] not in OTHERS:
                yield ast.unparse(node)


def folder_of(path: Path) -> str:
    return path.relative_to(TESTS).parts[0] if path.parent != TESTS else ""


@pytest.mark.parametrize("folder", LEFT, ids=lambda name: name or "tests")
def test_tests_go_through_doors(folder: str) -> None:
    trees = [
        ast.parse(path.read_text("utf-8"))
        for path in sorted(TESTS.rglob("*.py"))
        if folder_of(path) == folder
    ]
    private = [name for tree in trees for name in private_names(tree)]
    patched = [call for tree in trees for call in patches(tree)]

    assert len(private) <= LEFT[folder][0], private
    assert len(patched) <= LEFT[folder][1], patched


def test_every_folder_is_counted() -> None:
    folders = {folder_of(path) for path in TESTS.rglob("*.py")}

    assert folders == LEFT.keys()
