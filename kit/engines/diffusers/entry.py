"""The keys of an entry ``[[diffusers]]`` of the file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from kit.engines.configured.entries import ModelEntry, SecretEntry, text_pattern
from kit.engines.diffusers.folder import INDEX, check, class_name
from kit.engines.diffusers.library import INSTALLED, MISSING, Library
from kit.errors import ConfigError


def _check_absolute(path: Path) -> Path:
    path = path.expanduser()
    if not path.is_absolute():
        raise ValueError("must be a whole path, or begin with ~")
    return path


_Scalar = bool | int | float | str
#: The keys that determine what is loaded and how.
_LOADING_KEYS = {"path", "hub_id", "hub", "revision", "variant", "pipeline", "device", "dtype"}
_LOADING_KEYS |= {"offload", "vae_tiling", "vae_slicing", "attention_slicing", "threads"}


class PipelineEntry(ModelEntry, SecretEntry):
    """A pipeline of the diffusers library as a model; `example.toml` explains its keys."""

    #: Location of the weights: a folder, or a name in the local hub cache. Exactly one of them.
    path: Annotated[Path, AfterValidator(_check_absolute)] | None = None
    hub_id: str | None = Field(default=None, pattern=r"^[\w.-]+(/[\w.-]+)?$")
    #: Whether weights that are not in the cache may be downloaded from the hub, at the first job.
    hub: bool = False
    revision: str | None = None
    variant: str | None = None
    #: A class instead of that in ``model_index.json``, also if that file is not downloaded yet.
    pipeline: str = ""
    #: ``auto`` is the first GPU that CUDA (or ROCm) finds with bfloat16, otherwise the processor.
    device: Annotated[
        str,
        text_pattern(r"auto|cpu|mps|cuda(:\d+)?", "auto, cpu, mps, cuda or a numbered one: cuda:1"),
    ] = "auto"
    dtype: Literal["auto", "float32", "float16", "bfloat16"] = "auto"
    #: Parts of the model that wait in main memory: whole ones, or layers, which is slowest by far.
    offload: Literal["none", "model", "sequential"] = "none"
    vae_tiling: bool = False
    vae_slicing: bool = False
    attention_slicing: bool = False
    threads: int = Field(default=0, ge=0, le=1024)
    #: Whether a text-to-image model also accepts a picture, and a mask, if its weights allow it.
    edit: bool = True
    #: Media that a job must have although the library does not say so.
    required: list[str] = Field(default_factory=list)
    defaults: dict[str, _Scalar] = Field(default_factory=dict)
    limits: dict[str, tuple[float | int, float | int]] = Field(default_factory=dict)
    choices: dict[str, list[_Scalar]] = Field(default_factory=dict)
    #: Settings that are not offered.
    hidden: list[str] = Field(default_factory=list)
    #: Arguments of the pipeline that are not settings, e.g. ``max_sequence_length``.
    always: dict[str, Any] = Field(default_factory=dict)
    #: Frames per second of the clip, if the pipeline has no such argument.
    fps: int | None = Field(default=None, ge=1, le=120)
    #: Maximum side length in pixels; larger input pictures are scaled down.
    most_side: int = Field(default=1024, ge=64, le=8192)

    @model_validator(mode="after")
    def _check_source(self) -> Self:
        if (self.path is None) == (self.hub_id is None):
            raise ValueError("give exactly one of 'path' and 'hub_id'")
        return self

    @property
    def weights(self) -> str:
        """What is loaded and how, as text: entries with the same text share the loaded weights."""
        return self.model_dump_json(include=_LOADING_KEYS)

    def class_name(self, library: Library = INSTALLED) -> str:
        """Return the pipeline's class, from the entry or from the index beside the weights.

        Raises
        ------
        ConfigError
            Neither names it, or the pipeline contains code.
        """
        found = class_name(self.path / INDEX, library) if self.path else ""
        return self.pipeline or found or class_name(self._cached_index(), library)

    def check_files(self) -> None:
        """Check the weights if they should be on this machine completely; see `folder.check`."""
        if self.path:
            check(self.path, self.variant)
        elif not self.hub:
            check(self._cached_index().parent, self.variant)

    def _cached_index(self) -> Path:
        try:
            from huggingface_hub import try_to_load_from_cache  # part of the extra
        except ImportError:
            raise ConfigError(MISSING) from None
        found = try_to_load_from_cache(str(self.hub_id), INDEX, revision=self.revision)
        if not isinstance(found, str):
            raise ConfigError(
                f"{self.hub_id} is not in the local hub cache: download it first, or set its"
                " 'pipeline' and 'hub = true' to download it with the first job"
            )
        return Path(found)
