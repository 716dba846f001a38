"""The settings and media that a pipeline's arguments become: a table of the names that are known.

What is not in the table stays hidden: arrays, hooks and switches are for programs, not for forms.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kit.engines.base import Definition, seed_parameter
from kit.engines.configured.inputs import Taken, check_definition
from kit.engines.diffusers.entry import PipelineEntry
from kit.engines.diffusers.library import Argument, arguments, siblings
from kit.errors import ConfigError
from kit.parameters import suggest
from kit.wire import AssetType, Parameter, Rule

#: Sizes are rounded down to a multiple of this.
_MULTIPLES = {
    "LTX": 32,
    "Sana": 32,
    "GlmImage": 32,
    "HunyuanImage": 64,
    "Kandinsky5": 16,
    "Kandinsky": 64,
    "": 16,
}
#: Frames per second that a family was trained on.
_RATES = {
    "Wan": 16,
    "SanaVideo": 16,
    "SanaImageToVideo": 16,
    "ChronoEdit": 16,
    "CogVideoX": 8,
    "ConsisID": 8,
    "AnimateDiff": 8,
    "PIA": 8,
    "TextToVideo": 8,
    "StableVideoDiffusion": 7,
    "Mochi": 30,
    "": 24,
}
#: Frames that are one step in the latent space: a clip has a multiple of them, and one more.
_STRIDES = {
    "LTX": 8,
    "Cosmos2": 4,
    "Cosmos3": 4,
    "Cosmos": 8,
    "Mochi": 6,
    "AnyFlow": 4,
    "ChronoEdit": 4,
    "CogVideoX": 4,
    "ConsisID": 4,
    "EasyAnimate": 4,
    "Hunyuan": 4,
    "Kandinsky": 4,
    "LucyEdit": 4,
    "MotifVideo": 4,
    "Sana": 4,
    "SkyReels": 4,
    "Wan": 4,
    "": 1,
}
#: Parts of class names whose pipelines cannot do without a picture, though the default is None.
_NEED_A_PICTURE = (
    "Img2Img",
    "Image2Image",
    "ImageToVideo",
    "VideoToVideo",
    "Inpaint",
    "Fill",
    "Edit",
    "InstructPix2Pix",
    "Upscale",
    "SuperResolution",
    "Refiner",
    "Depth2Img",
    "Control",
    "Adapter",
    "Variation",
    "I2VGen",
)
#: Parts of class names whose pipelines are one stage of several, or make no picture at all.
_NO_PICTURE = (
    "Audio",
    "Prior",
    "LatentUpsample",
    "ShapE",
    "Marigold",
    "DiffusionGemma",
    "LDM3D",
    "QwenImageLayered",
    "VisualCloze",
)
#: Arguments that their pipelines cannot do without, though the default is None.
_NEEDED = {
    "conditioning_frames",
    "control_video",
    "control_mask",
    "gligen_boxes",
    "id_cond",
    "original_image",
    "source_embeds",
}
_MANY_PICTURES = ("QwenImageEditPlus", "Flux2")


def multiple(pipeline: str) -> int:
    """Return what a pipeline's sizes are rounded down to, in pixels."""
    return _family(_MULTIPLES, pipeline)


def rate(pipeline: str) -> int:
    """Return the frames per second of a pipeline's clips, where no setting says so."""
    return _family(_RATES, pipeline)


def stride(pipeline: str) -> int:
    """Return what the frames of a clip are a multiple of, beside the first one."""
    return _family(_STRIDES, pipeline)


def needs_a_picture(pipeline: str) -> bool:
    """Whether a pipeline cannot do without its pictures, though its signature allows it."""
    return any(part in pipeline for part in _NEED_A_PICTURE)


def takes_several_pictures(pipeline: str) -> bool:
    """Whether a pipeline takes a list of pictures."""
    return pipeline.startswith(_MANY_PICTURES)


def shares_its_weights(pipeline: str) -> bool:
    """Whether the siblings of a pipeline need no more than a picture and a mask.

    Those of a controlled one need the picture that controls, too, which it calls ``image`` itself.
    """
    return "Control" not in pipeline


def needs_tiles(pipeline: str) -> bool:
    """Whether a pipeline's decoder works in tiles only."""
    return pipeline.startswith("Allegro")


def makes_no_picture(pipeline: str) -> bool:
    """Whether a pipeline makes something else, e.g. sound, or the input of another pipeline."""
    return any(part in pipeline for part in _NO_PICTURE)


def needed(names: Collection[str]) -> set[str]:
    """Return the arguments that a pipeline needs though its signature has a default for them."""
    return {name for name in _NEEDED if name in names}


def _family(table: Mapping[str, int], pipeline: str) -> int:
    return next(value for start, value in table.items() if pipeline.startswith(start))


_MOST_PICTURES = 4


def _number(low: float, high: float, description: str, kind: str = "number") -> Parameter:
    return Parameter(name="", type=kind, minimum=low, maximum=high, description=description)


def _count(low: int, high: int, description: str) -> Parameter:
    return _number(low, high, description, "integer")


SETTINGS: Mapping[str, Parameter] = {
    "negative_prompt": Parameter(name="", description="What should not be seen{guided}"),
    "width": _count(64, 4096, "Width in pixels, rounded down to a multiple of {multiple}"),
    "height": _count(64, 4096, "Height in pixels, rounded down to a multiple of {multiple}"),
    "num_frames": _count(1, 257, "Length of the clip in frames{rounded}"),
    "frames": _count(1, 257, "Length of the clip in frames{rounded}"),
    "video_length": _count(1, 257, "Length of the clip in frames{rounded}"),
    "frame_rate": _number(1, 60, "Frames per second"),
    "fps": _count(1, 60, "Frames per second"),
    "num_inference_steps": _count(1, 150, "Steps from noise to picture; more take longer"),
    "guidance_scale": _number(0, 30, "How closely to follow the prompt"),
    "guidance_scale_2": _number(0, 30, "How closely to follow the prompt in the second half"),
    "true_cfg_scale": _number(1, 20, "How strongly the negative prompt counts; 1 is not at all"),
    "image_guidance_scale": _number(0, 10, "How closely to follow the picture"),
    "guidance_rescale": _number(0, 1, "Softens what a high guidance overexposes"),
    "min_guidance_scale": _number(0, 20, "Guidance of the first frame"),
    "max_guidance_scale": _number(0, 20, "Guidance of the last frame"),
    "pag_scale": _number(0, 10, "Strength of perturbed-attention guidance"),
    "strength": _number(0, 1, "How far to leave the picture; only with an image"),
    "controlnet_conditioning_scale": _number(0, 2, "How closely to follow the control image"),
    "conditioning_scale": _number(0, 2, "How closely to follow the control input"),
    "motion_bucket_id": _count(1, 255, "How much moves"),
    "noise_aug_strength": _number(0, 1, "Noise added to the picture; more lets it move more"),
    "decode_chunk_size": _count(1, 32, "Frames decoded at a time; fewer need less memory"),
    "clip_skip": _count(1, 4, "Layers of the text encoder to leave out"),
}
MEDIA: Mapping[str, str] = {
    "image": "The picture to start from",
    "mask_image": "White where the picture is painted anew; needs an image",
    "last_image": "The picture to end with",
    "control_image": "Edges, depth or a pose to follow, as the model was trained for",
    "video": "The clip to change; of a long one only the beginning is used",
}
#: The settings that say how many frames a clip has.
LENGTHS = ("num_frames", "frames", "video_length")
#: The guidance that a negative prompt needs, the most telling one first.
_GUIDANCE = ("true_cfg_scale", "guidance_scale")
#: Arguments that are given by whoever calls.
_FILLED = {"prompt", "generator", "output_type", "return_dict", "callback_on_step_end"}
_SIDES = ("width", "height")
_FORMAT = Parameter(
    name="format",
    default="png",
    enum=["png", "jpeg", "webp"],
    description="File format; png keeps every pixel",
)


@dataclass(frozen=True, slots=True)
class PipelineShape:
    """What a pipeline is like.

    Parameters
    ----------
    asset_type : str
        ``image`` or ``video``.
    names : set of str
        What it can be called with.
    also : mapping of str to str
        Sibling pipelines that share its weights: ``image``, ``inpaint`` to class names.
    multiple : int
        What sizes are rounded down to.
    stride : int
        What the frames of a clip are a multiple of, beside the first one.
    fps : int
        Of the clip, where no setting says so.
    """

    pipeline: str
    asset_type: AssetType
    names: frozenset[str]
    also: Mapping[str, str]
    multiple: int
    stride: int
    fps: int


def shape_of(entry: PipelineEntry) -> PipelineShape:
    """Return what an entry's pipeline is like, without importing it.

    Raises
    ------
    ConfigError
        It makes neither pictures nor video, or needs something that a job cannot bring.
    """
    pipeline = entry.class_name()
    found = arguments(pipeline)
    names = frozenset(argument.name for argument in found)
    if not names & {"height", "width", "image"} or makes_no_picture(pipeline):
        raise ConfigError(f"{pipeline} makes neither pictures nor video by itself")
    given = {*MEDIA, *_FILLED, *entry.always, *SETTINGS}
    wanted = {a.name for a in found if a.required} | needed(names)
    if lacking := [a.name for a in found if a.name in wanted - given]:
        raise ConfigError(f"{pipeline} needs {lacking[0]!r}, which a job cannot bring")
    free = names - _FILLED
    if strange := [name for name in entry.always if name not in free]:
        hint = suggest(strange[0], free)
        raise ConfigError(f"'always.{strange[0]}': {pipeline} takes no such argument{hint}")
    video = bool(names & {*LENGTHS}) or "Video" in pipeline
    shares = entry.edit and not video and shares_its_weights(pipeline)
    return PipelineShape(
        pipeline=pipeline,
        asset_type="video" if video else "image",
        names=names,
        also=siblings(pipeline) if shares else {},
        multiple=multiple(pipeline),
        stride=stride(pipeline),
        fps=entry.fps or rate(pipeline),
    )


def definition_of(entry: PipelineEntry, shape: PipelineShape) -> Definition:
    """Return an entry's model as the catalog shows it."""
    found = arguments(shape.pipeline)
    media = tuple(_media(entry, shape, found))
    settings = [*_settings(shape, found), *([_FORMAT] if shape.asset_type == "image" else [])]
    settings = _adjusted(entry, settings)
    pricing = _priced(entry, settings)
    needs_picture = any(p.required for p in media)
    category = {"image": "Editing" if needs_picture else "Generation", "video": "Video Generation"}
    about = f"The pipeline {shape.pipeline} with weights that lie on this machine: what it can do "
    return check_definition(
        Definition(
            id=entry.id,
            title=entry.title or entry.id,
            asset_type=shape.asset_type,
            category=entry.category or category[shape.asset_type],
            description=entry.description or f"{about}depends on what they were trained on.",
            pricing=pricing,
            settings=(*settings, seed_parameter()),
            media=media,
            supports_prompt="prompt" in shape.names,
            prompt_required="prompt" in shape.names,
        ),
        Taken((), ""),
    )


def _priced(entry: PipelineEntry, settings: Sequence[Parameter]) -> Rule:
    """Return the price rule, if a job that leaves everything out pays for what it gets."""
    silent = {p.name for p in settings if p.default is None and not p.required}
    rule = entry.price.rule()
    for unit in rule.units:
        if unit.parameter in silent:
            raise ConfigError(
                f"'price': {unit.parameter!r} has no default, so a job that leaves it out would"
                " not pay for it; give it one in 'defaults'"
            )
    return rule


def _settings(shape: PipelineShape, found: Sequence[Argument]) -> Iterator[Parameter]:
    words = _words(shape)
    for argument in found:
        if argument.name in SETTINGS:
            yield _setting(argument, words)
    if shape.also and "strength" not in shape.names:
        yield _setting(Argument("strength", _strength(shape), False), words)


def _setting(argument: Argument, words: Mapping[str, Any]) -> Parameter:
    known, default = SETTINGS[argument.name], argument.default
    if known.type == "integer" and isinstance(default, float) and default.is_integer():
        default = int(default)
    description = known.description.format_map(words)
    if argument.name in _SIDES and default is None:
        description += "; left out, it is what the model was trained on, or the picture's"
    changes = {
        "name": argument.name,
        "default": None if default == "" else default,
        "description": description,
    }
    if known.maximum is not None and default is not None:
        changes["maximum"] = max(known.maximum, default)
    return known.model_copy(update=changes)


def _strength(shape: PipelineShape) -> Any:
    """Return what the siblings of a pipeline take where nobody says it, if that is one value."""
    found = {
        a.default for name in shape.also.values() for a in arguments(name) if a.name == "strength"
    }
    return found.pop() if len(found) == 1 else None


def _words(shape: PipelineShape) -> Mapping[str, Any]:
    """Return what descriptions say of a pipeline that is not the same for all."""
    guidance = next((name for name in _GUIDANCE if name in shape.names), None)
    steps = shape.stride
    few = ", ".join(str(1 + steps * count) for count in range(1, 4))
    return {
        "multiple": shape.multiple,
        "guided": f"; it counts where {guidance} is above 1" if guidance else "",
        "rounded": f"; rounded down to {few} and so on" if steps > 1 else "",
    }


def _media(
    entry: PipelineEntry, shape: PipelineShape, found: Sequence[Argument]
) -> Iterator[Parameter]:
    names = {argument.name: argument.required for argument in found if argument.name in MEDIA}
    if shape.also:
        names.setdefault("image", False)
    if "inpaint" in shape.also:
        names.setdefault("mask_image", False)
    if strange := [name for name in entry.required if name not in names]:
        hint = suggest(strange[0], names)
        raise ConfigError(f"'required': the model takes no {strange[0]!r}{hint}")
    needed = not shape.also and needs_a_picture(shape.pipeline)
    several = takes_several_pictures(shape.pipeline)
    for name, required in names.items():
        yield Parameter(
            name=name,
            type="video" if name == "video" else "image",
            media=True,
            required=required or name in entry.required or (needed and name != "last_image"),
            max_items=_MOST_PICTURES if several and name == "image" else None,
            description=MEDIA[name],
        )


def _adjusted(entry: PipelineEntry, settings: Sequence[Parameter]) -> list[Parameter]:
    """Return the settings as the entry wants them, without the hidden ones."""
    known = {parameter.name: parameter for parameter in settings}
    tables: dict[str, Sequence[str]] = {
        "defaults": [*entry.defaults],
        "limits": [*entry.limits],
        "choices": [*entry.choices],
        "hidden": entry.hidden,
    }
    for table, names in tables.items():
        for name in names:
            if name not in known:
                raise ConfigError(
                    f"'{table}.{name}': there is no such setting{suggest(name, known)}"
                )
    for name, default in entry.defaults.items():
        known[name] = known[name].model_copy(update={"default": default})
    for name, (low, high) in entry.limits.items():
        known[name] = known[name].model_copy(update={"minimum": low, "maximum": high})
    for name, choices in entry.choices.items():
        known[name] = known[name].model_copy(update={"enum": choices})
    return [parameter for name, parameter in known.items() if name not in entry.hidden]
