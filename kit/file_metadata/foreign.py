"""Reads the metadata of pictures by other programs of the field."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from kit.file_metadata.xmp import TRAINED, FileMetadata

#: Our parameter names by the lower-case names of these programs.
_PARAMETER_NAMES = {
    **{name: name for name in ("seed", "width", "height", "negative_prompt")},
    **dict.fromkeys(("cfg", "cfg scale"), "guidance_scale"),
    **dict.fromkeys(("denoise", "denoising strength"), "strength"),
    "noise_seed": "seed",
    "steps": "num_inference_steps",
    "clip skip": "clip_skip",
}
#: A setting in a comma-separated list; it must start at a comma, so that blanks cost no time.
_SETTING = re.compile(r'(?:^|(?<=,))\s*([A-Za-z][\w /-]{0,60}):\s*("(?:\\.|[^"\\])*"|[^,]*)(?:,|$)')
#: A network that a prompt of AUTOMATIC1111 loads.
_NETWORK = re.compile(r"<(\w{1,20}:[^<>]{1,200})>")
#: ComfyUI nodes that are read; and limits for listing the others: entries, characters.
_READ_NODES = ("Sampler", "CLIPTextEncode", "CheckpointLoader", "UNETLoader", "LatentImage")
_MAX_ENTRIES, _MAX_LENGTH = 40, 100


def read(texts: Mapping[str, str]) -> FileMetadata | None:
    """Return the metadata in the texts of a file, or None."""
    if "parameters" in texts:
        return read_parameters(texts["parameters"])
    return read_graph(texts["prompt"]) if "prompt" in texts else None


def read_parameters(text: str) -> FileMetadata | None:
    r"""Return the metadata in a text of AUTOMATIC1111.

    Examples
    --------
    >>> found = read_parameters("a lake\nNegative prompt: fog\nSteps: 20, Sampler: Euler, Model: m")
    >>> found.prompt, found.model, found.parameters, found.unread
    ('a lake', 'm', {'num_inference_steps': 20, 'negative_prompt': 'fog'}, ['Sampler: Euler'])
    """
    body, _, last = text.rpartition("\n")
    pairs: dict[str, Any] = {name: _parse_number(value) for name, value in _SETTING.findall(last)}
    if "Seed" not in pairs and "Steps" not in pairs:
        return FileMetadata(prompt=text.strip()) if text.strip() else None
    prompt, _, negative = body.partition("Negative prompt:")
    model = pairs.pop("Model", None)
    if size := re.fullmatch(r"(\d+)x(\d+)", str(pairs.get("Size"))):
        del pairs["Size"]
        pairs |= {"width": int(size[1]), "height": int(size[2])}
    settings, unread = _rename(pairs | {"negative_prompt": negative.strip()})
    unread += [*_NETWORK.findall(prompt), *filter(None, [_SETTING.sub("", last).strip(" ,")])]
    return FileMetadata(
        model=None if model is None else str(model),
        prompt=_NETWORK.sub("", prompt).strip() or None,
        parameters=settings,
        source_type=TRAINED,
        unread=_shorten(unread),
    )


def read_graph(text: str) -> FileMetadata | None:
    """Return the metadata in a graph of ComfyUI: texts, first sampler's settings, checkpoint."""
    try:
        graph = json.loads(text)
    except (ValueError, RecursionError):
        return None
    nodes = graph.values() if isinstance(graph, dict) else ()
    valid = [
        node for node in nodes if isinstance(node, dict) and isinstance(node.get("inputs"), dict)
    ]
    if not valid:
        return None
    sampler = next((node for node in valid if "Sampler" in str(node.get("class_type"))), None)
    latent = next((node for node in valid if "LatentImage" in str(node.get("class_type"))), None)
    inputs = sampler["inputs"] if sampler else {}
    pairs = {**inputs, "negative_prompt": _linked_text(graph, inputs.get("negative"))}
    if latent:
        pairs |= {name: latent["inputs"].get(name) for name in ("width", "height")}
    settings, unread = _rename({n: v for n, v in pairs.items() if isinstance(v, (int, float, str))})
    names = (node["inputs"].get("ckpt_name") or node["inputs"].get("unet_name") for node in valid)
    kinds = {str(node.get("class_type")) for node in valid}
    others = sorted(kind for kind in kinds if not any(name in kind for name in _READ_NODES))
    return FileMetadata(
        model=next((str(name) for name in names if name), None),
        prompt=_linked_text(graph, inputs.get("positive")),
        parameters=settings,
        source_type=TRAINED,
        unread=_shorten([*unread, *others]),
    )


def _rename(pairs: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the settings that we have names for, and descriptions of the others."""
    known = {name: _PARAMETER_NAMES.get(name.lower()) for name in pairs}
    settings = {new: pairs[name] for name, new in known.items() if new and pairs[name] != ""}
    return settings, [f"{name}: {pairs[name]}" for name, new in known.items() if not new]


def _shorten(unread: Sequence[str]) -> list[str]:
    more = [f"and {len(unread) - _MAX_ENTRIES:,} more"] if len(unread) > _MAX_ENTRIES else []
    return [text[:_MAX_LENGTH] for text in unread[:_MAX_ENTRIES]] + more


def _linked_text(graph: Mapping[str, Any], link: Any) -> str | None:
    """Return the text that an input is linked with, through at most a few nodes."""
    for _ in range(8):
        node = graph.get(str(link[0])) if isinstance(link, list) and link else None
        inputs = node.get("inputs") if isinstance(node, dict) else None
        if not isinstance(inputs, dict):
            return None
        if isinstance(inputs.get("text"), str):
            return str(inputs["text"])
        link = inputs.get("text") or inputs.get("conditioning")
    return None


def _parse_number(text: str) -> Any:
    text = text.strip().strip('"')
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
