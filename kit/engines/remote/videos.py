"""Clips from an endpoint that speaks OpenAI's video API: created, asked after, and fetched.

``POST /v1/videos`` starts a clip, ``GET /v1/videos/{id}`` tells how far it is and
``GET /v1/videos/{id}/content`` is the file. An endpoint may also answer the first request with the
clip, as a file or as ``data[0]`` with ``b64_json`` or ``url``. The prompt and the picture of a job
go to that machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from kit.engines.base import Asset, Definition, Engine, Job, Progress, seed_parameter
from kit.engines.configured.entries import EntrySetting, ModelEntry, checked, read
from kit.engines.configured.inputs import Taken, distinct, usable
from kit.engines.remote.images import Sizes, sizes_of, where
from kit.engines.remote.site import Always, Below, FieldName, SiteEntry, taken
from kit.wire import Parameter


def _lengths(seconds: list[int]) -> list[int]:
    distinct(seconds)
    if any(length < 1 for length in seconds):
        raise ValueError(f"holds {min(seconds)}: a clip has at least 1 second")
    return seconds


class VideosEntry(ModelEntry, SiteEntry):
    """An entry ``[[videos]]`` of the file.

    Parameters
    ----------
    model : str
        What the endpoint calls its model.
    sizes : list of str
        Such as ``1280x720``, the default first; empty where the endpoint takes none.
    seconds : list of int
        Lengths that the endpoint offers, the default first; empty where it takes none.
    parameters : list
        More settings, sent under their own names.
    seed : bool
        Whether the endpoint takes a ``seed``.
    picture : str
        Whether a job brings the first frame: ``none``, ``optional`` or ``required``.
    encoding : str
        How a job is sent: ``multipart``, or ``json`` where the endpoint wants that; a job with a
        picture is ``multipart`` unless `picture_field` is set.
    path : str
        Where clips are started, below the address: ``video`` for LocalAI, ``v1/videos/sync`` for
        vLLM-Omni where the clip is to be the answer.
    picture_field : str
        The field of the picture: ``image`` for Xinference, where it is a file; ``start_image`` for
        LocalAI, where the job is JSON and it holds base64. Without it a job with a picture has it
        as a file ``input_reference``.
    always : table
        Fields of every request that are no settings, such as ``{ fps = 16 }``.
    """

    model: str
    sizes: Sizes = Field(default_factory=list)
    seconds: Annotated[list[int], AfterValidator(_lengths)] = Field(default_factory=list)
    parameters: list[EntrySetting] = Field(default_factory=list)
    seed: bool = False
    picture: Literal["none", "optional", "required"] = "none"
    encoding: Literal["multipart", "json"] = "multipart"
    path: Below = "v1/videos"
    picture_field: FieldName = ""
    always: Always = Field(default_factory=dict)


class Videos(Engine):
    """Has its clips made by another machine."""

    def __init__(self, entry: VideosEntry, copies: Path) -> None:
        self._entry = entry
        self.environment = entry.variables()
        self._notes = copies / "underway"
        self.definition = usable(checked(_definition(entry)), _taken(entry))

    def render(self, job: Job, progress: Progress) -> Asset:
        """Have the endpoint make the clip, wait for it, and fetch it."""
        from kit.engines.remote.filming import film

        return film(self._entry, job, progress, self._notes)


def engines(data: Mapping[str, Any], copies: Path, refresh: bool) -> Sequence[Engine]:
    """Return the engine of one entry ``[[videos]]``.

    Raises
    ------
    ConfigError
        The entry makes no sense.
    """
    return (Videos(read(VideosEntry, data), copies),)


def _definition(entry: VideosEntry) -> Definition:
    sent = "the prompt" if entry.picture == "none" else "the prompt and the picture"
    return Definition(
        id=entry.id,
        title=entry.title or entry.id,
        asset_type="video",
        category=entry.category or "Video Generation",
        description=f"{entry.description} {where(entry, sent)}".strip(),
        pricing=entry.price.rule(),
        settings=(
            *_seconds(entry.seconds),
            *sizes_of(entry.sizes),
            *(setting.parameter() for setting in entry.parameters),
            *([seed_parameter()] if entry.seed else []),
        ),
        media=() if entry.picture == "none" else (_picture(entry),),
    )


def _taken(entry: VideosEntry) -> Taken:
    """Return the names of the fields of a request that no setting may have."""
    return taken(("prompt", "model", "input_reference", entry.picture_field), entry.always)


def _seconds(choices: Sequence[int]) -> list[Parameter]:
    if not choices:
        return []
    return [
        Parameter(
            name="seconds",
            type="integer",
            default=choices[0],
            enum=sorted(choices),
            description="Length in seconds",
        )
    ]


def _picture(entry: VideosEntry) -> Parameter:
    return Parameter(
        name="image",
        type="image",
        media=True,
        required=entry.picture == "required",
        description="The first frame",
    )
