"""Maps a pipeline's arguments to settings and media, with a table of known names.

Other arguments are not offered: arrays, hooks and switches are for programs, not for forms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from kit.engines.base import Definition, seed_parameter
from kit.engines.configured.inputs import check_definition
from kit.engines.diffusers.entry import PipelineEntry
from kit.engines.diffusers.library import INSTALLED, Argument, Library
from kit.errors import ConfigError
from kit.parameters import suggest
from kit.wire import AssetType, Parameter, Rule

#: Sizes are rounded down to these multiples, by prefix of the class name.
_MULTIPLES = {32: "LTX Sana GlmImage", 64: "HunyuanImage Kandinsky", 16: "Kandinsky5"}
#: Frames per second that a family was trained with.
_RATES = {
    16: "Wan SanaVideo SanaImageToVideo ChronoEdit",
    8: "CogVideoX ConsisID AnimateDiff PIA TextToVideo",
    7: "StableVideoDiffusion",
    30: "Mochi",
}
#: Frames per step in latent space: a clip has a multiple of them, plus one.
_STRIDES = {
    8: "LTX Cosmos",
    6: "Mochi",
    4: "Cosmos2 Cosmos3 AnyFlow ChronoEdit CogVideoX ConsisID EasyAnimate Hunyuan Kandinsky"
    " LucyEdit MotifVideo Sana SkyReels Wan",
}
#: Parts of class names whose pipelines require a picture, although the default is None.
_PICTURE_REQUIRED = (
    "Img2Img Image2Image ImageToVideo VideoToVideo Inpaint Fill Edit InstructPix2Pix Upscale"
    " SuperResolution Refiner Depth2Img Control Adapter Variation I2VGen"
)
#: Parts of class names whose pipelines are one stage of several, or make no picture at all.
_NO_OUTPUT = (
    "Audio Prior LatentUpsample ShapE Marigold DiffusionGemma LDM3D QwenImageLayered VisualCloze"
)
#: Arguments that are required although the default is None.
_REQUIRED = {"conditioning_frames", "control_video", "control_mask", "gligen_boxes", "id_cond"}
_REQUIRED |= {"original_image", "source_embeds"}
#: Pipelines that accept a list of pictures, and its maximum length.
_MULTI_PICTURE, _MAX_PICTURES = ("QwenImageEditPlus", "Flux2"), 4


def _find_by_family(table: Mapping[int, str], pipeline: str, usual: int) -> int:
    """Return the value for the longest matching prefix of a class name in a table."""
    starts = {start: value for value, names in table.items() for start in names.split()}
    found = max((start for start in starts if pipeline.startswith(start)), key=len, default="")
    return starts.get(found, usual)


def _has_part(names: str, pipeline: str) -> bool:
    return any(part in pipeline for part in names.split())


def _number(low: float, high: float, description: str, kind: str = "number") -> Parameter:
    return Parameter(name="", type=kind, minimum=low, maximum=high, description=description)


_count = partial(_number, kind="integer")


SETTINGS: Mapping[str, Parameter] = {
    "negative_prompt": Parameter(name="", description="What the result should not contain{guided}"),
    "width": _count(64, 4096, "Width in pixels, rounded down to a multiple of {multiple}"),
    "height": _count(64, 4096, "Height in pixels, rounded down to a multiple of {multiple}"),
    "num_frames": _count(1, 257, "Length of the clip in frames{rounded}"),
    "frames": _count(1, 257, "Length of the clip in frames{rounded}"),
    "video_length": _count(1, 257, "Length of the clip in frames{rounded}"),
    "frame_rate": _number(1, 60, "Frames per second"),
    "fps": _count(1, 60, "Frames per second"),
    "num_inference_steps": _count(1, 150, "Number of denoising steps; more take longer"),
    "guidance_scale": _number(0, 30, "How closely to follow the prompt"),
    "guidance_scale_2": _number(0, 30, "How closely to follow the prompt in the second half"),
    "true_cfg_scale": _number(1, 20, "How strongly the negative prompt counts; 1 has no effect"),
    "image_guidance_scale": _number(0, 10, "How closely to follow the picture"),
    "guidance_rescale": _number(0, 1, "Reduces overexposure by a high guidance"),
    "min_guidance_scale": _number(0, 20, "Guidance of the first frame"),
    "max_guidance_scale": _number(0, 20, "Guidance of the last frame"),
    "pag_scale": _number(0, 10, "Strength of perturbed-attention guidance"),
    "strength": _number(0, 1, "How much the picture is changed; only with an image"),
    "controlnet_conditioning_scale": _number(0, 2, "How closely to follow the control image"),
    "conditioning_scale": _number(0, 2, "How closely to follow the control input"),
    "motion_bucket_id": _count(1, 255, "How much moves"),
    "noise_aug_strength": _number(0, 1, "Noise added to the picture; more noise, more motion"),
    "decode_chunk_size": _count(1, 32, "Frames decoded at a time; fewer need less memory"),
    "clip_skip": _count(1, 4, "Layers of the text encoder to leave out"),
}
MEDIA: Mapping[str, str] = {
    "image": "The picture to start from",
    "mask_image": "White where the picture is to be replaced; needs an image",
    "last_image": "The picture to end with",
    "control_image": "Edges, depth or a pose to follow, as the model was trained for",
    "video": "The clip to change; of a long one only the beginning is used",
}
#: Settings for the number of frames of a clip.
LENGTHS = ("num_frames", "frames", "video_length")
#: Guidance settings that a negative prompt needs, in order of preference.
_GUIDANCE_SETTINGS = ("true_cfg_scale", "guidance_scale")
#: Arguments that are filled in for every job.
_FILLED_ARGUMENTS = {"prompt", "generator", "output_type", "return_dict", "callback_on_step_end"}
_SIDES = ("width", "height")
_FORMAT = Parameter(
    name="format",
    default="png",
    enum=["png", "jpeg", "webp"],
    description="File format; png is lossless",
)


@dataclass(frozen=True, slots=True)
class PipelineShape:
    """The inputs and outputs of a pipeline."""

    pipeline: str
    asset_type: AssetType
    arguments: Sequence[Argument]
    siblings: Mapping[str, str]  # siblings that share its weights: "image", "inpaint" -> class name
    multiple: int  # sizes are rounded down to it
    stride: int  # the number of frames is a multiple of it, plus one
    fps: int  # of the clip, if no setting determines it

    @property
    def names(self) -> frozenset[str]:
        """The names of its arguments."""
        return frozenset(argument.name for argument in self.arguments)


def shape_of(entry: PipelineEntry, library: Library = INSTALLED) -> PipelineShape:
    """Return the shape of an entry's pipeline, without importing it.

    Raises
    ------
    ConfigError
        It makes neither pictures nor video, or requires an argument that a job cannot provide.
    """
    pipeline = entry.class_name(library)
    found = library.arguments(pipeline)
    names = {argument.name for argument in found}
    if not names & {"height", "width", "image"} or _has_part(_NO_OUTPUT, pipeline):
        raise ConfigError(f"{pipeline} generates neither pictures nor videos by itself")
    available = {*MEDIA, *_FILLED_ARGUMENTS, *entry.always, *SETTINGS}
    required = [a.name for a in found if a.required or a.name in _REQUIRED]
    if missing := [name for name in required if name not in available]:
        raise ConfigError(f"{pipeline} needs {missing[0]!r}, which a job cannot provide")
    free = names - _FILLED_ARGUMENTS
    if unknown := [name for name in entry.always if name not in free]:
        hint = suggest(unknown[0], free)
        raise ConfigError(f"'always.{unknown[0]}': {pipeline} has no such argument{hint}")
    video = bool(names & {*LENGTHS}) or "Video" in pipeline
    # The siblings of a controlled pipeline need the controlling picture, too.
    shares = entry.edit and not video and "Control" not in pipeline
    return PipelineShape(
        pipeline=pipeline,
        asset_type="video" if video else "image",
        arguments=found,
        siblings=library.siblings(pipeline) if shares else {},
        multiple=_find_by_family(_MULTIPLES, pipeline, 16),
        stride=_find_by_family(_STRIDES, pipeline, 1),
        fps=entry.fps or _find_by_family(_RATES, pipeline, 24),
    )


def definition_of(
    entry: PipelineEntry, shape: PipelineShape, library: Library = INSTALLED
) -> Definition:
    """Return an entry's model as the catalog shows it."""
    media = tuple(_media(entry, shape))
    settings = [*_settings(shape, library), *([_FORMAT] if shape.asset_type == "image" else [])]
    settings = _adjust(entry, settings)
    needs_picture = any(p.required for p in media)
    category = {"image": "Editing" if needs_picture else "Generation", "video": "Video Generation"}
    text = f"The pipeline {shape.pipeline} with weights on this machine: what it can do "
    definition = Definition(
        id=entry.id,
        title=entry.title or entry.id,
        asset_type=shape.asset_type,
        category=entry.category or category[shape.asset_type],
        description=entry.description or f"{text}depends on what they were trained on.",
        pricing=_price(entry, settings),
        settings=(*settings, seed_parameter()),
        media=media,
        supports_prompt="prompt" in shape.names,
        prompt_required="prompt" in shape.names,
    )
    return check_definition(definition)


def _price(entry: PipelineEntry, settings: Sequence[Parameter]) -> Rule:
    # A job without these settings must still be charged for their effective values.
    unpriced = {p.name for p in settings if p.default is None and not p.required}
    rule = entry.price.rule()
    for unit in rule.units:
        if unit.parameter in unpriced:
            raise ConfigError(
                f"'price': {unit.parameter!r} has no default, so a job that leaves it out would"
                " not pay for it; give it one in 'defaults'"
            )
    return rule


def _settings(shape: PipelineShape, library: Library) -> Iterator[Parameter]:
    guidance = next((name for name in _GUIDANCE_SETTINGS if name in shape.names), None)
    lengths = ", ".join(str(1 + shape.stride * count) for count in range(1, 4))
    words = {
        "multiple": shape.multiple,
        "guided": f"; used if {guidance} is above 1" if guidance else "",
        "rounded": f"; rounded down to {lengths} and so on" if shape.stride > 1 else "",
    }
    for argument in shape.arguments:
        if argument.name in SETTINGS:
            yield _setting(argument, words)
    if shape.siblings and "strength" not in shape.names:
        calls = [library.arguments(name) for name in shape.siblings.values()]
        found = {a.default for call in calls for a in call if a.name == "strength"}
        yield _setting(Argument("strength", found.pop() if len(found) == 1 else None, False), words)


def _setting(argument: Argument, words: Mapping[str, Any]) -> Parameter:
    known, default = SETTINGS[argument.name], argument.default
    if known.type == "integer" and isinstance(default, float) and default.is_integer():
        default = int(default)
    description = known.description.format_map(words)
    if argument.name in _SIDES and default is None:
        description += "; left out, it is what the model was trained on, or the picture's"
    default = None if default == "" else default
    changes = {"name": argument.name, "default": default, "description": description}
    if known.maximum is not None and default is not None:
        changes["maximum"] = max(known.maximum, default)
    return known.model_copy(update=changes)


def _media(entry: PipelineEntry, shape: PipelineShape) -> Iterator[Parameter]:
    names = {a.name: a.required for a in shape.arguments if a.name in MEDIA}
    if shape.siblings:
        names.setdefault("image", False)
    if "inpaint" in shape.siblings:
        names.setdefault("mask_image", False)
    if unknown := [name for name in entry.required if name not in names]:
        hint = suggest(unknown[0], names)
        raise ConfigError(f"'required': the model takes no {unknown[0]!r}{hint}")
    needs_picture = not shape.siblings and _has_part(_PICTURE_REQUIRED, shape.pipeline)
    several = shape.pipeline.startswith(_MULTI_PICTURE)
    for name, required in names.items():
        yield Parameter(
            name=name,
            type="video" if name == "video" else "image",
            media=True,
            required=required or name in entry.required or (needs_picture and name != "last_image"),
            max_items=_MAX_PICTURES if several and name == "image" else None,
            description=MEDIA[name],
        )


def _adjust(entry: PipelineEntry, settings: Sequence[Parameter]) -> list[Parameter]:
    """Return the settings as adjusted by the entry, without the hidden ones."""
    known = {parameter.name: parameter for parameter in settings}
    changes: dict[str, Mapping[str, Mapping[str, Any]]] = {
        "defaults": {name: {"default": value} for name, value in entry.defaults.items()},
        "limits": {name: {"minimum": a, "maximum": b} for name, (a, b) in entry.limits.items()},
        "choices": {name: {"enum": values} for name, values in entry.choices.items()},
        "hidden": {name: {} for name in entry.hidden},
    }
    for table, updates in changes.items():
        for name, update in updates.items():
            if name not in known:
                hint = suggest(name, known)
                raise ConfigError(f"'{table}.{name}': there is no such setting{hint}")
            known[name] = known[name].model_copy(update=update)
    return [parameter for name, parameter in known.items() if name not in entry.hidden]
