"""What other programs of the field write into their pictures, as far as it has a place here."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from kit.file_metadata.facts import TRAINED, FileMetadata

#: Names of AUTOMATIC1111 -> names of parameters here; others are lower case with underscores.
_SETTINGS = {"CFG scale": "guidance_scale", "Negative prompt": "negative_prompt"}
_PAIR = re.compile(r'\s*([A-Za-z][\w /-]{0,60}):\s*("(?:\\.|[^"\\])*"|[^,]*)(?:,|$)')
#: Nodes of ComfyUI's graphs that are read.
_SAMPLER = ("seed", "noise_seed", "steps", "cfg", "sampler_name", "scheduler", "denoise")


def read(texts: Mapping[str, str]) -> FileMetadata | None:
    """Return what the texts of a file say, or None."""
    if "parameters" in texts:
        return read_parameters(texts["parameters"])
    if "prompt" in texts:
        return read_graph(texts["prompt"])
    return None


def read_parameters(text: str) -> FileMetadata | None:
    r"""Return what the text of AUTOMATIC1111 says.

    Examples
    --------
    >>> found = read_parameters("a lake\nNegative prompt: fog\nSteps: 20, Seed: 7, Model: dream")
    >>> found.prompt, found.model, found.parameters
    ('a lake', 'dream', {'negative_prompt': 'fog', 'steps': 20, 'seed': 7})
    """
    body, _, last = text.rpartition("\n")
    pairs = dict(_PAIR.findall(last))
    if "Seed" not in pairs and "Steps" not in pairs:
        return FileMetadata(prompt=text.strip()) if text.strip() else None
    prompt, _, negative = body.partition("Negative prompt:")
    model = pairs.pop("Model", None)
    settings: dict[str, Any] = {"negative_prompt": negative.strip()} if negative else {}
    for name, value in pairs.items():
        known = _SETTINGS.get(name, name.lower().replace(" ", "_"))
        settings[known] = _number(value.strip().strip('"'))
    return FileMetadata(
        model=model and model.strip(),
        prompt=prompt.strip() or None,
        parameters=settings,
        source_type=TRAINED,
    )


def read_graph(text: str) -> FileMetadata | None:
    """Return what a graph of ComfyUI says: texts, the first sampler's settings, the checkpoint."""
    try:
        graph = json.loads(text)
    except (ValueError, RecursionError):
        return None
    nodes = graph.values() if isinstance(graph, dict) else ()
    known = [
        node for node in nodes if isinstance(node, dict) and isinstance(node.get("inputs"), dict)
    ]
    if not known:
        return None
    sampler = next((node for node in known if "Sampler" in str(node.get("class_type"))), None)
    inputs = sampler["inputs"] if sampler else {}
    settings = {
        name: inputs[name] for name in _SAMPLER if isinstance(inputs.get(name), (int, float, str))
    }
    if "noise_seed" in settings:
        settings["seed"] = settings.pop("noise_seed")
    if negative := _linked_text(graph, inputs.get("negative")):
        settings["negative_prompt"] = negative
    names = (node["inputs"].get("ckpt_name") or node["inputs"].get("unet_name") for node in known)
    read_nodes = ("Sampler", "CLIPTextEncode", "CheckpointLoader", "UNETLoader")
    kinds = {str(node.get("class_type")) for node in known}
    return FileMetadata(
        model=next((str(name) for name in names if name), None),
        prompt=_linked_text(graph, inputs.get("positive")),
        parameters=settings,
        source_type=TRAINED,
        unread=sorted(kind for kind in kinds if not any(name in kind for name in read_nodes)),
    )


def _linked_text(graph: Mapping[str, Any], link: Any) -> str | None:
    """Return the text of the node that an input is linked with, through few others."""
    for _ in range(8):
        node = graph.get(str(link[0])) if isinstance(link, list) and link else None
        inputs = node.get("inputs") if isinstance(node, dict) else None
        if not isinstance(inputs, dict):
            return None
        if isinstance(inputs.get("text"), str):
            return str(inputs["text"])
        link = inputs.get("text") or inputs.get("conditioning")
    return None


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
