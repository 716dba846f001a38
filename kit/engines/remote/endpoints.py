"""Models of endpoints that speak OpenAI's image or video API, as many local servers do.

``POST /v1/images/generations`` makes a picture, ``POST /v1/images/edits`` changes one that is sent.
``POST /v1/videos`` starts a clip, ``GET /v1/videos/{id}`` tells how far it is and
``GET /v1/videos/{id}/content`` is the file. The prompt and the pictures of a job go to that
machine, and the model's description says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
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
from kit.engines.configured.entries import EntrySetting, ModelEntry, read, text_of_form
from kit.engines.configured.inputs import TakenNames, check_definition
from kit.engines.remote.site import SiteEntry
from kit.errors import ConfigError
from kit.wire import AssetType, Parameter


def _below(path: str) -> str:
    written = re.fullmatch(r"/?[\w.-]+(/[\w.-]+)*/?", path, re.ASCII)
    if not written or {".", ".."} & set(path.split("/")):
        raise ValueError("must be a path below the address, such as v1/videos")
    return path.strip("/")


def _sendable(fields: dict[str, Any]) -> dict[str, Any]:
    for name, value in fields.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            raise ValueError(f"{name!r} cannot be sent as JSON: write a date as text") from None
    return fields


def _distinct(choices: list[Any]) -> list[Any]:
    for choice in choices:
        if choices.count(choice) > 1:
            raise ValueError(f"names {choice!r} twice")
    return choices


_Seconds = Annotated[int, Field(ge=1)]
_Size = Annotated[
    str,
    text_of_form(
        "auto|[1-9][0-9]{0,4}x[1-9][0-9]{0,4}",
        "width x height in pixels such as 1024x1024; where an endpoint has other words for sizes,"
        " make it one of 'parameters'",
    ),
]
#: A path below the address of a site.
_Below = Annotated[str, AfterValidator(_below)]
#: The name of a field; empty for the usual one, or for none.
_FieldName = Annotated[str, text_of_form("[A-Za-z0-9_]*", "letters, digits and underscores")]


class _SharedEntry(ModelEntry, SiteEntry):
    """What entries of endpoints share; `example.toml` says what the keys mean."""

    model: str
    #: The default first, as of all choices; empty where the endpoint takes none.
    sizes: Annotated[list[_Size], AfterValidator(_distinct)] = Field(default_factory=list)
    parameters: list[EntrySetting] = Field(default_factory=list)
    seed: bool = False
    always: Annotated[dict[str, Any], AfterValidator(_sendable)] = Field(default_factory=dict)


class ImagesEntry(_SharedEntry):
    """An entry ``[[images]]`` of the file."""

    pictures: int = Field(default=0, ge=0, le=16)
    pictures_required: bool = False
    mask: bool = False
    #: An endpoint that refuses the field in so many words is asked again without it.
    response_format: Literal["b64_json", "url", ""] = "b64_json"
    edits: _Below = "v1/images/edits"
    mask_field: _FieldName = "mask"
    #: Where jobs with a picture are JSON like those without: what holds them in base64, as a list.
    picture_field: _FieldName = ""

    @model_validator(mode="after")
    def _takes_pictures(self) -> Self:
        wanted = [n for n in ("pictures_required", "mask", "picture_field") if getattr(self, n)]
        if wanted and not self.pictures:
            raise ValueError(f"{wanted[0]!r} makes no sense without 'pictures' of at least 1")
        if self.mask and self.picture_field:
            raise ValueError("'mask' and 'picture_field' make no sense together")
        return self


class VideosEntry(_SharedEntry):
    """An entry ``[[videos]]`` of the file."""

    seconds: Annotated[list[_Seconds], AfterValidator(_distinct)] = Field(default_factory=list)
    picture: Literal["none", "optional", "required"] = "none"
    encoding: Literal["multipart", "json"] = "multipart"
    path: _Below = "v1/videos"
    #: Of a file, or of base64 in JSON; without it the picture is a file ``input_reference``.
    picture_field: _FieldName = ""


EndpointEntry = ImagesEntry | VideosEntry


@dataclass(frozen=True, slots=True)
class _Style:
    """What a kind of endpoint makes and takes, and the fields of a request that it fills in."""

    asset_type: AssetType
    category: str
    sent: str
    filled: tuple[str, ...]
    settings: tuple[Parameter, ...] = ()
    media: tuple[Parameter, ...] = ()


def _style(entry: EndpointEntry) -> _Style:
    medium = partial(Parameter, type="image", media=True)
    if isinstance(entry, ImagesEntry):
        most = entry.pictures if entry.pictures > 1 else None
        required, about = entry.pictures_required, "The picture to change"
        image = medium(name="image", required=required, max_items=most, description=about)
        about = "White where the picture may change; needs an image"
        mask = medium(name="mask_image", description=about)
        return _Style(
            "image",
            "Editing" if required else "Generation",
            "the prompt and the pictures" if entry.pictures else "the prompt",
            ("n", "image", "mask", "response_format", entry.mask_field, entry.picture_field),
            media=(image, mask)[: bool(entry.pictures) + entry.mask],
        )
    lengths = Parameter(
        name="seconds",
        type="integer",
        default=next(iter(entry.seconds), None),
        enum=sorted(entry.seconds),
        description="Length in seconds",
    )
    required = entry.picture == "required"
    image = medium(name="image", required=required, description="The first frame")
    return _Style(
        "video",
        "Video Generation",
        "the prompt" if entry.picture == "none" else "the prompt and the picture",
        ("input_reference", entry.picture_field),
        (lengths,) if entry.seconds else (),
        () if entry.picture == "none" else (image,),
    )


def _definition(entry: EndpointEntry) -> Definition:
    style = _style(entry)
    filled = tuple(filter(None, ("prompt", "model", *style.filled)))
    why = "that field of a request is filled in already"
    if twice := [name for name in entry.always if name in filled]:
        raise ConfigError(f"'always.{twice[0]}': {why}")
    sizes, words = entry.sizes, "Width x height in pixels"
    size = Parameter(name="size", default=(*sizes, "")[0], enum=sizes, description=words)
    place = f"Sends {style.sent} to {entry.site().described} and shows what it answers."
    definition = Definition(
        id=entry.id,
        title=entry.title or entry.id,
        asset_type=style.asset_type,
        category=entry.category or style.category,
        description=f"{entry.description} {place}".strip(),
        pricing=entry.price.rule(),
        settings=(
            *style.settings,
            *((size,) if sizes else ()),
            *(setting.parameter() for setting in entry.parameters),
            *((seed_parameter(),) if entry.seed else ()),
        ),
        media=style.media,
    )
    return check_definition(definition, TakenNames((*filled, *entry.always), why))


class Endpoint(Engine):
    """Has its pictures or clips made by an endpoint on another machine."""

    def __init__(self, entry: EndpointEntry, copies: Path) -> None:
        self._entry = entry
        self._notes = copies / "underway"
        self.environment = entry.variables()
        self.definition = _definition(entry)

    def check(self, order: Order) -> Iterator[Problem]:
        """Yield that a mask comes without a picture."""
        if "mask_image" in order.media and "image" not in order.media:
            yield "mask_image", "needs the image that it is for"

    def render(self, job: Job, progress: Progress) -> Asset:
        """Send the job to the endpoint and take what it makes."""
        from kit.engines.remote import orders, requests

        if isinstance(self._entry, ImagesEntry):
            work: orders.Work = partial(requests.make_image, self._entry)
        else:
            work = partial(requests.make_video, self._entry, self._notes)
        return orders.render(work, self._entry.site(), self.definition.asset_type, job, progress)


def images(data: Mapping[str, Any], copies: Path, refresh: bool) -> Sequence[Engine]:
    """Return the engine of an entry ``[[images]]``, or raise ConfigError."""
    return (Endpoint(read(ImagesEntry, data), copies),)


def videos(data: Mapping[str, Any], copies: Path, refresh: bool) -> Sequence[Engine]:
    """Return the engine of an entry ``[[videos]]``, or raise ConfigError."""
    return (Endpoint(read(VideosEntry, data), copies),)
