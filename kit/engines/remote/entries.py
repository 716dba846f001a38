"""Entries of the models file for endpoints that speak OpenAI's image or video API."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from kit.engines.configured.entries import EntrySetting, ModelEntry, text_of_form
from kit.engines.remote.site import SiteEntry


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
