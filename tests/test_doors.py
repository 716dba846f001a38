"""Tests use public interfaces: no private name of another module, and no patch of our own code.

The seam for tests is an argument. The remaining exceptions may become fewer, but not more.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
#: Folder -> numbers of private names that its tests still use, and of patches of our own code.
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
#: First names of objects of Python or libraries, which tests may patch.
OTHERS = {
    "Image",
    "Path",
    "diffusers",
    "huggingface_hub",
    "os",
    "shutil",
    "sys",
    "threading",
    "torch",
}


#: Documented names of Python, ipywidgets and anywidget that begin with an underscore.
DOCUMENTED = {"_asdict", "_css", "_dom_classes", "_esm", "_exit", "_replace"}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("_") and name not in DOCUMENTED


def private_names(tree: ast.AST) -> Iterator[str]:
    """Yield the private names of other modules that a test uses."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            if ast.unparse(node.value) not in ("self", "cls", "super()"):
                yield ast.unparse(node)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kit"):
            yield from (name.name for name in node.names if is_private(name.name))


def own_patches(tree: ast.AST) -> Iterator[str]:
    """Yield the calls with which a test patches our own code."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            target = ast.unparse(node.args[0]).strip("'\"") if node.args else ""
            if node.func.attr == "setattr" and target.partition(".")[0] not in OTHERS:
                yield ast.unparse(node)


def folder_of(path: Path) -> str:
    return path.relative_to(TESTS).parts[0] if path.parent != TESTS else ""


@pytest.mark.parametrize("folder", LEFT, ids=lambda name: name or "tests")
def test_tests_use_no_private_names_and_no_patches(folder: str) -> None:
    trees = [
        ast.parse(path.read_text("utf-8"))
        for path in sorted(TESTS.rglob("*.py"))
        if folder_of(path) == folder
    ]
    private = [name for tree in trees for name in private_names(tree)]
    patches = [call for tree in trees for call in own_patches(tree)]

    assert len(private) <= LEFT[folder][0], private
    assert len(patches) <= LEFT[folder][1], patches


def test_every_folder_of_tests_is_listed() -> None:
    folders = {folder_of(path) for path in TESTS.rglob("*.py")}

    assert folders == LEFT.keys()
