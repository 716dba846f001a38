"""Models of endpoints with OpenAI's image or video API, which many local servers have, too.

``POST /v1/images/generations`` makes a picture, ``POST /v1/images/edits`` edits one.
``POST /v1/videos`` starts a clip, ``GET /v1/videos/{id}`` returns its progress and
``GET /v1/videos/{id}/content`` the file. Prompt and pictures of a job are sent to that machine, as
the model's description says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from kit.engines import base
from kit.engines.base import Definition, Engine, Job, Order, Progress
from kit.engines.configured.entries import read
from kit.engines.configured.inputs import check_definition
from kit.engines.remote.site import EndpointEntry, ImagesEntry, VideosEntry
from kit.errors import ConfigError
from kit.wire import AssetType, Parameter


@dataclass(frozen=True, slots=True)
class _Style:
    """The output and inputs of a kind of endpoint, and the request fields that it fills."""

    asset_type: AssetType
    category: str
    inputs_text: str
    filled_fields: tuple[str, ...]
    settings: tuple[Parameter, ...] = ()
    media: tuple[Parameter, ...] = ()


def _style(entry: EndpointEntry) -> _Style:
    medium = partial(Parameter, type="image", media=True)
    if isinstance(entry, ImagesEntry):
        most = entry.pictures if entry.pictures > 1 else None
        required, description = entry.pictures_required, "The picture to change"
        image = medium(name="image", required=required, max_items=most, description=description)
        description = "White where the picture may change; needs an image"
        mask = medium(name="mask_image", description=description)
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
    filled = tuple(filter(None, ("prompt", "model", *style.filled_fields)))
    reason = "this field of a request is already used"
    if duplicates := [name for name in entry.always if name in filled]:
        raise ConfigError(f"'always.{duplicates[0]}': {reason}")
    sizes, words = entry.sizes, "Width x height in pixels"
    size = Parameter(name="size", default=(*sizes, "")[0], enum=sizes, description=words)
    sentence = f"Sends {style.inputs_text} to {entry.site().description} and returns its result."
    definition = Definition(
        id=entry.id,
        title=entry.title or entry.id,
        asset_type=style.asset_type,
        category=entry.category or style.category,
        description=f"{entry.description} {sentence}".strip(),
        pricing=entry.price.rule(),
        settings=(
            *style.settings,
            *((size,) if sizes else ()),
            *(setting.parameter() for setting in entry.parameters),
            *((base.seed_parameter(),) if entry.seed else ()),
        ),
        media=style.media,
    )
    return check_definition(definition, (*filled, *entry.always), reason)


class Endpoint(Engine):
    """Renders pictures or clips with an endpoint on another machine."""

    trained = True

    def __init__(self, entry: EndpointEntry, copies: Path) -> None:
        self._entry = entry
        self._notes = copies / "underway"
        self.environment = entry.variables()
        self.definition = _definition(entry)

    def check(self, order: Order) -> Iterator[base.Problem]:
        """Report a mask without a picture."""
        if "mask_image" in order.media and "image" not in order.media:
            yield "mask_image", "needs its image"

    def render(self, job: Job, progress: Progress) -> base.Asset:
        """Send the job to the endpoint and return its output."""
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
