"""What no signature says of the library's pipelines, by the names of their classes.

The most special beginning of a name stands first in a table; the empty one is for all the others.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

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
