"""What an entry ``[[diffusers]]`` of the file may hold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from kit.engines.configured.entries import ModelEntry, SecretEntry
from kit.engines.diffusers.folder import INDEX, check, class_name
from kit.errors import ConfigError


def _absolute(path: Path) -> Path:
    path = path.expanduser()
    if not path.is_absolute():
        raise ValueError("must be a whole path, or begin with ~")
    return path


Scalar = bool | int | float | str


_LOADING = {
    "path",
    "hub_id",
    "hub",
    "revision",
    "variant",
    "pipeline",
    "device",
    "dtype",
    "offload",
    "vae_tiling",
    "vae_slicing",
    "attention_slicing",
    "threads",
}


class PipelineEntry(ModelEntry, SecretEntry):
    """A pipeline of the diffusers library as a model.

    Parameters
    ----------
    path, hub_id : Path, str
        Where its weights are: a folder, or a name in the local hub cache. Exactly one of them.
    hub : bool
        Whether weights that are not in the cache may be fetched from the hub, at the first job.
    key_env : str, optional
        Name of the environment variable that holds a token of the hub, for weights that ask for it.
    revision, variant : str
        Of the weights on the hub; which files to take, e.g. ``fp16``.
    pipeline : str
        Class name, where it is to be another one than ``model_index.json`` says, or where that file
        is not on this machine yet.
    device, dtype : str
        ``auto`` is the first GPU that CUDA (or ROCm) finds in bfloat16, else the processor in
        float32; on a Mac say ``mps`` for its GPU.
    offload : str
        Parts of the model wait in main memory: whole ones (``model``), or layers (``sequential``,
        which needs the least GPU memory and is by far the slowest).
    vae_tiling, vae_slicing, attention_slicing : bool
        Less memory for a little time.
    threads : int
        Of the processor; 0 for all of them.
    edit : bool
        Whether a text-to-image model also takes a picture, and a mask, where the library can use
        the same weights for it.
    required : list
        Media that a job must bring although the library does not say so.
    defaults, limits, choices : table
        Other defaults, ``[least, most]``, or a list of the values allowed, by setting.
    hidden : list
        Settings that nobody may change.
    always : table
        Arguments of the pipeline that are no settings, e.g. ``max_sequence_length``.
    fps : int
        Frames per second of the clip, where the pipeline does not ask for them.
    most_side : int
        Larger input pictures are scaled down to it, in pixels.
    """

    path: Annotated[Path, AfterValidator(_absolute)] | None = None
    hub_id: str | None = Field(default=None, pattern=r"^[\w.-]+(/[\w.-]+)?$")
    hub: bool = False
    revision: str | None = None
    variant: str | None = None
    pipeline: str = ""
    device: str = Field(default="auto", pattern=r"^(auto|cpu|mps|cuda(:\d+)?)$")
    dtype: Literal["auto", "float32", "float16", "bfloat16"] = "auto"
    offload: Literal["none", "model", "sequential"] = "none"
    vae_tiling: bool = False
    vae_slicing: bool = False
    attention_slicing: bool = False
    threads: int = Field(default=0, ge=0, le=1024)
    edit: bool = True
    required: list[str] = Field(default_factory=list)
    defaults: dict[str, Scalar] = Field(default_factory=dict)
    limits: dict[str, tuple[float | int, float | int]] = Field(default_factory=dict)
    choices: dict[str, list[Scalar]] = Field(default_factory=dict)
    hidden: list[str] = Field(default_factory=list)
    always: dict[str, Any] = Field(default_factory=dict)
    fps: int | None = Field(default=None, ge=1, le=120)
    most_side: int = Field(default=1024, ge=64, le=8192)

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.path is None) == (self.hub_id is None):
            raise ValueError("give exactly one of 'path' and 'hub_id'")
        return self

    @property
    def source(self) -> str:
        """The folder or the name on the hub."""
        return str(self.path or self.hub_id)

    @property
    def weights(self) -> str:
        """What is loaded and how, as text: entries that share it share what is loaded."""
        return self.model_dump_json(include=_LOADING)

    def class_name(self) -> str:
        """Return the pipeline's class, from the entry or from the index beside the weights.

        Raises
        ------
        ConfigError
            Neither says it, or the pipeline brings code of its own.
        """
        if self.path:
            found = class_name(self.path / INDEX)
            return self.pipeline or found
        return self.pipeline or class_name(self._cached_index())

    def check_files(self) -> None:
        """Look at the weights, where all of them should be on this machine.

        Raises
        ------
        ConfigError
            Something is missing, or could not be loaded.
        """
        if self.path:
            check(self.path, self.variant)
        elif not self.hub:
            check(self._cached_index().parent, self.variant)

    def _cached_index(self) -> Path:
        # Imported here: the hub's library is part of the extra.
        try:
            from huggingface_hub import try_to_load_from_cache
        except ImportError:
            from kit.engines.diffusers.library import MISSING

            raise ConfigError(MISSING) from None
        found = try_to_load_from_cache(str(self.hub_id), INDEX, revision=self.revision)
        if not isinstance(found, str):
            raise ConfigError(
                f"{self.hub_id} is not in the local hub cache: fetch it first, or name its "
                "'pipeline' and set 'hub = true' to have it fetched by the first job"
            )
        return Path(found)
