"""The pipelines and arguments of the installed diffusers library, read from its source text.

Importing it loads torch, which takes seconds and hundreds of megabytes: too much for a process that
only lists models.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kit.errors import ConfigError
from kit.parameters import suggest

MISSING = (
    "the libraries of local pipelines are not installed; "
    "pip install 'creative-studio-kit[diffusers]' brings them"
)
_CLASS_NAME = re.compile(r"^class (\w+)\b", re.MULTILINE)
#: Table of the library's automatic pipelines by further task with the same weights.
_TABLE_NAMES = {
    "text": "AUTO_TEXT2IMAGE_PIPELINES_MAPPING",
    "image": "AUTO_IMAGE2IMAGE_PIPELINES_MAPPING",
    "inpaint": "AUTO_INPAINT_PIPELINES_MAPPING",
}


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a pipeline's call; its default is None if it is no literal."""

    name: str
    default: Any
    required: bool


class Library:
    """The source of the library, in a folder or as installed.

    Raises
    ------
    ConfigError
        From all methods: the library is not installed, or has no such class.
    """

    def __init__(self, root: Path | None = None) -> None:
        self._root = root

    @cache  # noqa: B019 - there is one library
    def arguments(self, pipeline: str) -> tuple[Argument, ...]:
        """Return the arguments of a pipeline class, in the order of its signature."""
        for definition in self._lineage(pipeline):
            for node in definition.body:
                if isinstance(node, ast.FunctionDef) and node.name == "__call__":
                    return tuple(_arguments(node.args))
        raise ConfigError(f"the pipeline {pipeline!r} cannot be called")

    def siblings(self, pipeline: str) -> Mapping[str, str]:
        """Return the pipelines that share a text-to-image pipeline's weights.

        The keys are ``image`` and ``inpaint``, if they exist; the values are class names.
        """
        tables = self._tables
        keys = [key for key, name in tables["text"].items() if name == pipeline]
        return {
            task: tables[task][key]
            for key in keys[:1]
            for task in ("image", "inpaint")
            if tables[task].get(key, pipeline) != pipeline
        }

    def folders(self) -> frozenset[str]:
        """Return the names of the library's own modules of pipelines, which may contain parts."""
        return frozenset(path.name for path in self._pipelines.iterdir() if path.is_dir())

    def _lineage(self, pipeline: str) -> Iterator[ast.ClassDef]:
        """Yield a class and its base classes, as far as they are defined by library pipelines."""
        if pipeline not in self._files:
            known = [name for name in self._files if name.endswith("Pipeline")]
            hint = suggest(pipeline, known)
            hint = hint if "did you mean" in hint else ""
            raise ConfigError(f"the installed diffusers has no pipeline {pipeline!r}{hint}")
        names = [pipeline]
        for name in names:  # the list grows meanwhile
            tree = ast.parse(self._files[name].read_text(encoding="utf-8"))
            found = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name)
            bases = [base.id for base in found.bases if isinstance(base, ast.Name)]
            names += [base for base in bases if base in self._files and base not in names]
            yield found

    @cached_property
    def _pipelines(self) -> Path:
        root = self._root
        if root is None:
            spec = find_spec("diffusers")
            places = (spec and spec.submodule_search_locations) or ()
            root = next(map(Path, places), None)
        if root is None:
            raise ConfigError(MISSING)
        return root / "pipelines"

    @cached_property
    def _files(self) -> Mapping[str, Path]:
        """The file of each class among the library's pipelines."""
        found: dict[str, Path] = {}
        for file in sorted(self._pipelines.rglob("*.py")):
            for name in _CLASS_NAME.findall(file.read_text(encoding="utf-8")):
                found.setdefault(name, file)
        return found

    @cached_property
    def _tables(self) -> Mapping[str, Mapping[str, str]]:
        """For each task, the class that the library uses for each family of weights."""
        tree = ast.parse((self._pipelines / "auto_pipeline.py").read_text(encoding="utf-8"))
        named = {
            node.targets[0].id: dict(_pairs(node.value))
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        return {task: named.get(table, {}) for task, table in _TABLE_NAMES.items()}


#: The installed library.
INSTALLED = Library()


def _arguments(found: ast.arguments) -> Iterator[Argument]:
    positional = [*found.posonlyargs, *found.args]
    missing: list[ast.expr | None] = [None] * (len(positional) - len(found.defaults))
    pairs = [*zip(positional, [*missing, *found.defaults], strict=True)]
    pairs += zip(found.kwonlyargs, found.kw_defaults, strict=True)
    for argument, default in pairs:
        value = None
        with suppress(ValueError):  # a name or a call: the pipeline uses its own default
            value = default and ast.literal_eval(default)
        if argument.arg != "self":
            yield Argument(argument.arg, value, default is None)


def _pairs(node: ast.expr) -> Iterator[tuple[str, str]]:
    """Yield pairs of a text and a name in an expression, e.g. ``("flux", FluxPipeline)``."""
    for pair in ast.walk(node):
        match pair:
            case ast.Tuple(elts=[ast.Constant(value=str(key)), ast.Name(id=name)]):
                yield key, name
