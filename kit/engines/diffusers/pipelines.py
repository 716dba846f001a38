"""Pipelines with their weights: loaded once in a process, kept until another one is needed.

Weights are data, never code: only safetensors files are read, and code that comes with them is not
executed. Nothing is downloaded unless the entry allows it.
"""

from __future__ import annotations

import gc
import logging
import os
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from kit.engines.base import SpentError
from kit.engines.diffusers.entry import PipelineEntry
from kit.engines.diffusers.folder import INDEX, class_name
from kit.engines.diffusers.library import MISSING
from kit.errors import EngineError

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class LoadedPipeline:
    """A loaded pipeline, and its siblings with the same weights, created on demand."""

    key: str  # identifies what was loaded and how
    pipelines: dict[str, Any]
    move: Callable[[Any], Any] = field(repr=False)  # moves a pipeline to its device

    def pipeline(self, task: str) -> Any:
        """Return the pipeline for ``text`` (the loaded one), ``image`` or ``inpaint``."""
        if task not in self.pipelines:
            import diffusers

            kinds = {
                "image": diffusers.AutoPipelineForImage2Image,
                "inpaint": diffusers.AutoPipelineForInpainting,
            }
            self.pipelines[task] = self.move(kinds[task].from_pipe(self.pipelines["text"]))
        return self.pipelines[task]


#: The only loaded pipeline of this process: two would need the memory of both.
loaded: list[LoadedPipeline] = []


def load(entry: PipelineEntry) -> LoadedPipeline:
    """Return an entry's pipeline, loading it unless it is already loaded.

    Raises
    ------
    EngineError
        The libraries are missing (``not_installed``), the weights cannot be loaded or moved to the
        device (``not_loadable``), or there is too little memory (``out_of_memory``).
    SpentError
        The GPU refuses all work of this process.
    """
    key = entry.weights
    if loaded:
        _check_device()
    if not loaded or loaded[0].key != key:
        if loaded:
            loaded.clear()
            gc.collect()
            free_memory()
        loaded.append(_load(entry, key))
    return loaded[0]


def free_memory() -> None:
    """Release cached memory, because other programs use the GPU, too."""
    import torch

    # A driver that refuses all work cannot release memory.
    with suppress(RuntimeError):
        if torch.cuda.is_initialized():
            torch.cuda.empty_cache()


def free_frames(error: BaseException | None) -> None:
    """Clear the frames of an error's traceback, whose tensors would otherwise stay in memory."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__
    gc.collect()


def is_out_of_memory(error: Exception) -> bool:
    """Whether an error of the library is about missing memory."""
    message = str(error).lower()
    return "out of memory" in message or "can't allocate" in message


def _check_device() -> None:
    """Raise if a kernel has failed: CUDA then refuses the process until its end."""
    import torch

    try:
        if torch.cuda.is_initialized():
            torch.cuda.synchronize()
    except RuntimeError as error:
        reason = str(error).strip().partition("\n")[0]
        raise SpentError(f"the GPU refuses all further work of this process: {reason}") from None


def _load(entry: PipelineEntry, key: str) -> LoadedPipeline:
    try:
        import diffusers
        import torch
        import transformers
    except ImportError as error:
        _log.warning("a local pipeline cannot be used: %s", error)
        raise EngineError(MISSING, code="not_installed") from None
    for library in (diffusers, transformers):
        library.utils.logging.disable_progress_bar()
        library.utils.logging.set_verbosity_error()
    torch.set_num_threads(entry.threads or os.cpu_count() or 1)
    device = entry.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    dtype = entry.dtype
    if dtype == "auto":
        dtype = "float32" if device == "cpu" else "bfloat16"
    token = os.environ.get(entry.key_env) if entry.key_env else None
    options = {"revision": entry.revision, "variant": entry.variant, "token": token}
    try:
        move = partial(_move, entry=entry, device=device)
        found = _load_class(entry, token).from_pretrained(
            str(entry.path or entry.hub_id),
            dtype=getattr(torch, dtype),
            use_safetensors=True,
            local_files_only=not entry.hub,
            **{name: value for name, value in options.items() if value is not None},
        )
        return LoadedPipeline(key, {"text": move(found)}, move)
    except Exception as error:  # noqa: BLE001 - files and drivers may cause any error
        # The library's message contains paths; the log is for the operator.
        _log.warning("the model %r cannot be loaded: %s", entry.id, error)
        free_frames(error)
        free_memory()
        sentence, code = "the model's weights cannot be loaded; see the service's log", ""
        if is_out_of_memory(error):
            sentence, code = "the model needs more memory than available", "out_of_memory"
        raise EngineError(sentence, code=code or "not_loadable") from None


def _load_class(entry: PipelineEntry, token: str | None) -> Any:
    import diffusers

    if entry.hub_id:
        from huggingface_hub import hf_hub_download

        # If downloads are allowed, the index may not have been checked before: code that comes with
        # weights is refused, too.
        local = {"local_files_only": not entry.hub, "token": token}
        index = hf_hub_download(entry.hub_id, INDEX, revision=entry.revision, **local)
        class_name(Path(index))
    return getattr(diffusers, entry.class_name())


def _move(pipeline: Any, entry: PipelineEntry, device: str) -> Any:
    """Move a pipeline to its device, with the memory options of its entry."""
    if device == "cpu" or entry.offload == "none":
        pipeline.to(device)
    elif entry.offload == "model":
        pipeline.enable_model_cpu_offload(device=device)
    else:
        pipeline.enable_sequential_cpu_offload(device=device)
    vae = getattr(pipeline, "vae", None)
    # The decoder of that family works only in tiles.
    tiling = entry.vae_tiling or entry.class_name().startswith("Allegro")
    for is_on, part, switch in (
        (tiling, vae, "enable_tiling"),
        (entry.vae_slicing, vae, "enable_slicing"),
        (entry.attention_slicing, pipeline, "enable_attention_slicing"),
    ):
        if is_on and hasattr(part, switch):
            getattr(part, switch)()
    pipeline.set_progress_bar_config(disable=True)
    return pipeline
