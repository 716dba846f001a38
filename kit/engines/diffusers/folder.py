"""A pipeline's folder looked at before anything is loaded from it: what would fail at every job.

The library finds the same faults, at the first job and in its own words; and code that comes with
weights it would load. Here nothing but the index and the names of the files is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kit.engines.diffusers.library import folders
from kit.errors import ConfigError

INDEX = "model_index.json"
_CHECKPOINTS = (".safetensors", ".ckpt", ".pt", ".pth", ".bin", ".gguf")
#: Formats that are read by running what is in them, and those of other libraries.
_UNREAD = {".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".msgpack", ".h5", ".onnx"}
_LORA = ("pytorch_lora_weights.safetensors", "adapter_config.json")
_LIBRARIES = ("diffusers", "transformers")
#: Ends of class names whose folders hold words and settings, and no weights.
_WEIGHTLESS = ("Tokenizer", "TokenizerFast", "Processor", "ProcessorFast", "Extractor", "Scheduler")
_WEIGHTS = re.compile(
    r"(?:model|diffusion_pytorch_model)(?:-\d+-of-\d+)?"
    r"(?:\.(?P<variant>\w+))?(?:-\d+-of-\d+)?\.safetensors"
)
_CONVERT = (
    "save it as a folder first, with from_single_file and save_pretrained of its pipeline's class"
)
_POINTER = b"version https://git-lfs"


def class_name(index: Path) -> str:
    """Return the pipeline class that an index names.

    Raises
    ------
    ConfigError
        It is no index, or the pipeline or one of its parts brings code of its own.
    """
    content = _read(index)
    name = content["_class_name"]
    if not isinstance(name, str):
        raise ConfigError("the pipeline brings code of its own, which is never run")
    for part, (library, _) in _pairs(content):
        if library is not None and library not in {*_LIBRARIES, *folders()}:
            raise ConfigError(
                f"the part {part!r} brings code of its own ({library!r}), which is never run"
            )
    return name


def check(folder: Path, variant: str | None) -> None:
    """Look at the files of a pipeline that should all be there.

    Parameters
    ----------
    variant : str or None
        Which weights are wanted, e.g. ``fp16``.

    Raises
    ------
    ConfigError
        A part is missing, or its weights are, or they are of another kind.
    """
    found: set[str | None] = set()
    parts = list(_parts(_read(folder / INDEX)))
    for part, kind in parts:
        if not (folder / part).is_dir():
            raise ConfigError(f"the part {part!r} is not in {folder}: copy the whole folder")
        if not kind.endswith(_WEIGHTLESS):
            found |= _variants(folder / part, variant)
    if variant is not None and found and variant not in found:
        there = ", ".join(sorted(repr(name) for name in found if name)) or "none"
        raise ConfigError(f"no part has weights of the variant {variant!r}; there is {there}")


def _read(index: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(index.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        content = None
    if not isinstance(content, dict) or "_class_name" not in content:
        raise ConfigError(_instead(index)) from None
    return content


def _instead(index: Path) -> str:
    """Return what is there, where the index of a pipeline should be."""
    folder = index.parent
    if folder.is_file():
        return f"{folder} is a single file: {_CONVERT}" if _is_checkpoint(folder) else _no(index)
    if any((folder / name).exists() for name in _LORA):
        return (
            f"{folder} holds a LoRA, which only adds to a model: give the folder of a whole "
            "pipeline, into which it was merged (fuse_lora, then save_pretrained)"
        )
    if folder.is_dir() and not index.exists():
        singles = sorted(file.name for file in folder.iterdir() if _is_checkpoint(file))
        if singles:
            return f"{folder} holds a checkpoint in one file ({singles[0]}): {_CONVERT}"
    return _no(index)


def _no(index: Path) -> str:
    return f"{index} is missing, or is not the index of a pipeline"


def _is_checkpoint(file: Path) -> bool:
    return file.is_file() and file.suffix.lower() in _CHECKPOINTS


def _pairs(content: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """Yield the parts of a pipeline, each with its library and class; neither for none."""
    for part, value in content.items():
        if not part.startswith("_") and isinstance(value, list) and len(value) == 2:
            yield part, value


def _parts(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for part, (library, kind) in _pairs(content):
        if library is not None and isinstance(kind, str):
            yield part, kind


def _variants(part: Path, wanted: str | None) -> set[str | None]:
    """Return which weights a part has, none being the plain ones; an empty set if it needs none."""
    files = sorted(file for file in part.iterdir() if file.is_file())
    fits = [(file, m) for file in files if (m := _WEIGHTS.fullmatch(file.name))]
    for file, _ in fits:
        _check_content(file)
    found = {match["variant"] for _, match in fits}
    if not found:
        _check_none(part, files)
    elif None not in found and wanted not in found:
        there = sorted(name for name in found if name)
        raise ConfigError(
            f"the weights of {part.name!r} are there only as the variant {there[0]!r}: "
            f'set variant = "{there[0]}"'
        )
    return found


def _check_none(part: Path, files: list[Path]) -> None:
    unread = [file.name for file in files if file.suffix.lower() in _UNREAD]
    if unread:
        raise ConfigError(
            f"the weights of {part.name!r} are not in safetensors files ({unread[0]}), and no "
            "others are read: convert them, e.g. with save_pretrained"
        )
    if any(file.name == "config.json" for file in files):
        raise ConfigError(f"the weights of {part.name!r} are missing: copy the whole folder")


def _check_content(file: Path) -> None:
    with file.open("rb") as stream:
        if stream.read(len(_POINTER)) == _POINTER:
            raise ConfigError(
                f"{file.name} of {file.parent.name!r} only points to weights that were not "
                "fetched: run 'git lfs pull' in its folder"
            )
