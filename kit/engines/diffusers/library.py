"""What the installed diffusers library offers, read from its source text.

Importing it loads torch: seconds and hundreds of megabytes that a process which only lists models
has no use for.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kit.errors import ConfigError
from kit.parameters import suggest

MISSING = (
    "the libraries of local pipelines are not installed; "
    "pip install 'creative-studio-kit[diffusers]' brings them"
)
_CLASS = re.compile(r"^class (\w+)\b", re.MULTILINE)
#: What a pipeline can also do with the same weights -> table of the library's automatic pipelines.
_TABLES = {
    "text": "AUTO_TEXT2IMAGE_PIPELINES_MAPPING",
    "image": "AUTO_IMAGE2IMAGE_PIPELINES_MAPPING",
    "inpaint": "AUTO_INPAINT_PIPELINES_MAPPING",
}


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a pipeline's call.

    Parameters
    ----------
    default : Any
        None also where it has none, or one that is not a literal.
    """

    name: str
    default: Any
    required: bool


@cache
def arguments(pipeline: str) -> tuple[Argument, ...]:
    """Return what a pipeline class is called with, in the order of its signature.

    Raises
    ------
    ConfigError
        The library is not installed, or has no such class.
    """
    for definition in _lineage(pipeline):
        for node in definition.body:
            if isinstance(node, ast.FunctionDef) and node.name == "__call__":
                return tuple(_arguments(node.args))
    raise ConfigError(f"the pipeline {pipeline!r} cannot be called")


@cache
def siblings(pipeline: str) -> Mapping[str, str]:
    """Return the pipelines that share a text-to-image pipeline's weights.

    Returns
    -------
    mapping of str to str
        ``image`` and ``inpaint``, as far as there are such, to class names.
    """
    tables = _tables()
    keys = [key for key, name in tables["text"].items() if name == pipeline]
    return {
        task: tables[task][key]
        for key in keys[:1]
        for task in ("image", "inpaint")
        if tables[task].get(key, pipeline) != pipeline
    }


def folders() -> frozenset[str]:
    """Return the names of the library's own modules of pipelines, which may bring parts.

    Raises
    ------
    ConfigError
        The library is not installed.
    """
    return frozenset(path.name for path in (_root() / "pipelines").iterdir() if path.is_dir())


def _arguments(found: ast.arguments) -> Iterator[Argument]:
    positional = [*found.posonlyargs, *found.args]
    missing: list[ast.expr | None] = [None] * (len(positional) - len(found.defaults))
    both = [*zip(positional, [*missing, *found.defaults], strict=True)]
    both += zip(found.kwonlyargs, found.kw_defaults, strict=True)
    for argument, default in both:
        if argument.arg != "self":
            yield Argument(argument.arg, _literal(default), default is None)


def _literal(node: ast.expr | None) -> Any:
    try:
        return None if node is None else ast.literal_eval(node)
    except ValueError:  # a name or a call: the pipeline knows it, we leave it alone
        return None


def _lineage(pipeline: str) -> Iterator[ast.ClassDef]:
    """Yield a class and what it inherits from, as far as the library's pipelines define it."""
    wanted, seen = [pipeline], set[str]()
    while wanted:
        name = wanted.pop(0)
        if name in seen or (name not in _files() and name != pipeline):
            continue
        seen.add(name)
        definition = _class(name)
        wanted += [base.id for base in definition.bases if isinstance(base, ast.Name)]
        yield definition


def _class(name: str) -> ast.ClassDef:
    file = _files().get(name)
    if file is None:
        close = suggest(name, [known for known in _files() if known.endswith("Pipeline")])
        hint = close if "did you mean" in close else ""
        raise ConfigError(f"the installed diffusers has no pipeline {name!r}{hint}")
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name)


@cache
def _files() -> Mapping[str, Path]:
    """Return the file of each class among the library's pipelines."""
    found: dict[str, Path] = {}
    for file in sorted((_root() / "pipelines").rglob("*.py")):
        for name in _CLASS.findall(file.read_text(encoding="utf-8")):
            found.setdefault(name, file)
    return found


@cache
def _tables() -> Mapping[str, Mapping[str, str]]:
    """Return, for each task, the class that the library takes for each family of weights."""
    tree = ast.parse((_root() / "pipelines" / "auto_pipeline.py").read_text(encoding="utf-8"))
    named = dict(_mappings(tree))
    return {task: named.get(table, {}) for task, table in _TABLES.items()}


def _mappings(tree: ast.Module) -> Iterator[tuple[str, dict[str, str]]]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, dict(_pairs(node.value))


def _pairs(node: ast.expr) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a text and a name in an expression, e.g. ``("flux", FluxPipeline)``."""
    for pair in ast.walk(node):
        match pair:
            case ast.Tuple(elts=[ast.Constant(value=str(key)), ast.Name(id=name)]):
                yield key, name


def _root() -> Path:
    found = find_spec("diffusers")
    if found is None or not found.submodule_search_locations:
        raise ConfigError(MISSING)
    return Path(found.submodule_search_locations[0])
