"""Checks a pipeline's folder before anything is loaded, for errors that would fail every job.

The library finds the same errors, but only at the first job and in its own terms; and it would load
code that comes with weights. Here only the index and the names of the files are read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kit.engines.diffusers.library import INSTALLED, Library
from kit.errors import ConfigError

INDEX = "model_index.json"
_CHECKPOINTS = (".safetensors", ".ckpt", ".pt", ".pth", ".bin", ".gguf")
#: Formats whose content is executed when it is loaded, and those of other libraries.
_UNREAD_SUFFIXES = {".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".msgpack", ".h5", ".onnx"}
_LORA = ("pytorch_lora_weights.safetensors", "adapter_config.json")
#: Suffixes of class names whose folders contain vocabularies and settings, but no weights.
_WEIGHTLESS = ("Tokenizer", "TokenizerFast", "Processor", "ProcessorFast", "Extractor", "Scheduler")
_WEIGHTS = re.compile(
    r"(?:model|diffusion_pytorch_model)(?:-\d+-of-\d+)?"
    r"(?:\.(?P<variant>\w+))?(?:-\d+-of-\d+)?\.safetensors"
)
_CONVERT_HINT = (
    "save it as a folder first, with from_single_file and save_pretrained of its pipeline's class"
)
_LFS_POINTER = b"version https://git-lfs"


def class_name(index: Path, library: Library = INSTALLED) -> str:
    """Return the pipeline class in an index.

    Raises
    ------
    ConfigError
        It is no index, or the pipeline or one of its parts contains code.
    """
    content = _read(index)
    name = content["_class_name"]
    if not isinstance(name, str):
        raise ConfigError("the pipeline contains its own code, which is never run")
    for part, (source, _) in _parts(content):
        if source is not None and source not in {"diffusers", "transformers", *library.folders()}:
            raise ConfigError(
                f"the part {part!r} contains its own code ({source!r}), which is never run"
            )
    return name


def check(folder: Path, variant: str | None) -> None:
    """Check the files of a pipeline that should be complete, with weights such as ``fp16``.

    Raises
    ------
    ConfigError
        A part or its weights are missing, or they are of another variant.
    """
    found: set[str | None] = set()
    for part, (source, kind) in _parts(_read(folder / INDEX)):
        if source is None or not isinstance(kind, str):
            continue
        if not (folder / part).is_dir():
            raise ConfigError(f"the part {part!r} is not in {folder}: copy the whole folder")
        if not kind.endswith(_WEIGHTLESS):
            found |= _variants(folder / part, variant)
    if variant is not None and found and variant not in found:
        names = ", ".join(sorted(repr(name) for name in found if name)) or "none"
        raise ConfigError(f"no part has weights of the variant {variant!r}; there is {names}")


def _read(index: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(index.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        content = None
    if not isinstance(content, dict) or "_class_name" not in content:
        raise ConfigError(_describe_found(index)) from None
    return content


def _describe_found(index: Path) -> str:
    """Return what was found instead of the index of a pipeline."""
    folder = index.parent
    if folder.is_file() and folder.suffix.lower() in _CHECKPOINTS:
        return f"{folder} is a single file: {_CONVERT_HINT}"
    if any((folder / name).exists() for name in _LORA):
        return (
            f"{folder} contains a LoRA, which only extends a model: give the folder of a whole "
            "pipeline, into which it was merged (fuse_lora, then save_pretrained)"
        )
    files = folder.iterdir() if folder.is_dir() and not index.exists() else ()
    singles = sorted(f.name for f in files if f.is_file() and f.suffix.lower() in _CHECKPOINTS)
    if singles:
        return f"{folder} contains a checkpoint in one file ({singles[0]}): {_CONVERT_HINT}"
    return f"{index} is missing, or is not the index of a pipeline"


def _parts(content: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """Yield the parts of a pipeline with library and class, both None for an empty part."""
    for part, value in content.items():
        if not part.startswith("_") and isinstance(value, list) and len(value) == 2:
            yield part, value


def _variants(part: Path, variant: str | None) -> set[str | None]:
    """Return the variants of a part's weights, None for plain ones; empty if it needs none."""
    files = sorted(file for file in part.iterdir() if file.is_file())
    found: set[str | None] = set()
    for file in files:
        if match := _WEIGHTS.fullmatch(file.name):
            found.add(match["variant"])
            with file.open("rb") as stream:
                if stream.read(len(_LFS_POINTER)) == _LFS_POINTER:
                    raise ConfigError(
                        f"{file.name} of {part.name!r} only points to weights that were not "
                        "fetched: run 'git lfs pull' in its folder"
                    )
    names = sorted(name for name in found if name)
    if found and None not in found and variant not in found:
        raise ConfigError(
            f"the weights of {part.name!r} exist only as the variant {names[0]!r}: "
            f'set variant = "{names[0]}"'
        )
    unread = [file.name for file in files if file.suffix.lower() in _UNREAD_SUFFIXES]
    if not found and unread:
        raise ConfigError(
            f"the weights of {part.name!r} are not in safetensors files ({unread[0]}), and no "
            "others are read: convert them, e.g. with save_pretrained"
        )
    if not found and any(file.name == "config.json" for file in files):
        raise ConfigError(f"the weights of {part.name!r} are missing: copy the whole folder")
    return found
