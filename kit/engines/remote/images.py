"""Pictures from an endpoint that speaks OpenAI's image API, as many local servers do.

``POST /v1/images/generations`` makes a picture, ``POST /v1/images/edits`` changes one that is sent.
The prompt and the pictures of a job go to that machine, and the model's description says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from kit.engines.base import (
    Asset,
    Definition,
    Engine,
    Job,
    Order,
    Problem,
    Progress,
    seed_parameter,
)
from kit.engines.configured.entries import EntrySetting, ModelEntry, checked, read
from kit.engines.configured.inputs import Taken, distinct, usable
from kit.engines.remote.site import Always, Below, FieldName, SiteEntry, taken
from kit.wire import Parameter

#: Fields of a request that the engine fills in itself.
_FILLED = ("prompt", "model", "n", "image", "mask", "response_format")


def _sizes(sizes: list[str]) -> list[str]:
    distinct(sizes)
    for size in sizes:
        if size != "auto" and not re.fullmatch("[1-9][0-9]{0,4}x[1-9][0-9]{0,4}", size):
            raise ValueError(
                f"holds {size[:20]!r}, which is no width x height in pixels such as 1024x1024; "
                "where an endpoint has other words for sizes, make it one of 'parameters'"
            )
    return sizes


#: Sizes in pixels, or ``auto``; the default first.
Sizes = Annotated[list[str], AfterValidator(_sizes)]


class ImagesEntry(ModelEntry, SiteEntry):
    """An entry ``[[images]]`` of the file.

    Parameters
    ----------
    model : str
        What the endpoint calls its model.
    sizes : list of str
        Such as ``1024x1024``, the default first; empty where the endpoint takes none.
    parameters : list
        More settings, sent under their own names.
    seed : bool
        Whether the endpoint takes a ``seed``.
    pictures : int
        Input pictures that a job may bring; 0 where the endpoint cannot edit.
    pictures_required, mask : bool
        Whether a job must bring one; whether the endpoint takes a mask.
    response_format : str
        ``b64_json`` or ``url``; empty where the endpoint refuses the field. One that refuses it in
        so many words is asked again without it.
    always : table
        Fields of every request that are no settings, such as ``{ generator_device = "cpu" }``.
    edits : str
        Where jobs with a picture go, below the address: ``v1/images/inpainting`` for LocalAI.
    mask_field : str
        The field of the mask: ``mask_image`` for vLLM-Omni, which ignores ``mask``.
    picture_field : str
        Where jobs with a picture are JSON like those without: the field that holds them in base64,
        as a list. ``ref_images`` or ``files`` for LocalAI; such jobs bring no mask.
    """

    model: str
    sizes: Sizes = Field(default_factory=list)
    parameters: list[EntrySetting] = Field(default_factory=list)
    seed: bool = False
    pictures: int = Field(default=0, ge=0, le=16)
    pictures_required: bool = False
    mask: bool = False
    response_format: Literal["b64_json", "url", ""] = "b64_json"
    always: Always = Field(default_factory=dict)
    edits: Below = "v1/images/edits"
    mask_field: FieldName = "mask"
    picture_field: FieldName = ""

    @model_validator(mode="after")
    def _takes_pictures(self) -> Self:
        wanted = [
            name for name in ("pictures_required", "mask", "picture_field") if getattr(self, name)
        ]
        if wanted and not self.pictures:
            raise ValueError(f"{wanted[0]!r} makes no sense without 'pictures' of at least 1")
        if self.mask and self.picture_field:
            raise ValueError("'mask' and 'picture_field' make no sense together")
        return self


class Images(Engine):
    """Has its pictures made by another machine."""

    def __init__(self, entry: ImagesEntry) -> None:
        self._entry = entry
        self.environment = entry.variables()
        self.definition = usable(checked(_definition(entry)), _taken(entry))

    def check(self, order: Order) -> Iterator[Problem]:
        """Yield that a mask comes without a picture."""
        if "mask_image" in order.media and "image" not in order.media:
            yield "mask_image", "needs the image that it is for"

    def render(self, job: Job, progress: Progress) -> Asset:
        """Send the job to the endpoint and take the picture that it answers with."""
        from kit.engines.remote.drawing import draw

        return draw(self._entry, job, progress)


def engines(data: Mapping[str, Any], copies: Path, refresh: bool) -> Sequence[Engine]:
    """Return the engine of one entry ``[[images]]``.

    Raises
    ------
    ConfigError
        The entry makes no sense.
    """
    return (Images(read(ImagesEntry, data)),)


def _taken(entry: ImagesEntry) -> Taken:
    """Return the names of the fields of a request that no setting may have."""
    return taken((*_FILLED, entry.mask_field, entry.picture_field), entry.always)


def sizes_of(sizes: Sequence[str]) -> list[Parameter]:
    """Return the setting for the size, or nothing where there is no choice of one."""
    if not sizes:
        return []
    words = "Width x height in pixels"
    return [Parameter(name="size", default=sizes[0], enum=list(sizes), description=words)]


def where(entry: SiteEntry, what: str) -> str:
    """Return the sentence that tells where a job is sent."""
    return f"Sends {what} to {entry.site().described} and shows what it answers."


def _definition(entry: ImagesEntry) -> Definition:
    category = "Editing" if entry.pictures_required else "Generation"
    sent = "the prompt and the pictures" if entry.pictures else "the prompt"
    return Definition(
        id=entry.id,
        title=entry.title or entry.id,
        asset_type="image",
        category=entry.category or category,
        description=f"{entry.description} {where(entry, sent)}".strip(),
        pricing=entry.price.rule(),
        settings=(
            *sizes_of(entry.sizes),
            *(setting.parameter() for setting in entry.parameters),
            *([seed_parameter()] if entry.seed else []),
        ),
        media=_media(entry),
    )


def _media(entry: ImagesEntry) -> tuple[Parameter, ...]:
    if not entry.pictures:
        return ()
    image = Parameter(
        name="image",
        type="image",
        media=True,
        required=entry.pictures_required,
        max_items=entry.pictures if entry.pictures > 1 else None,
        description="The picture to change",
    )
    mask = Parameter(
        name="mask_image",
        type="image",
        media=True,
        description="White where the picture may change; needs an image",
    )
    return (image, mask) if entry.mask else (image,)
