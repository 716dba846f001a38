"""Retouch: erase, denoise, enlarge or sharpen."""

from kit.engines.base import Asset, Definition, Engine, Job, Order, Progress
from kit.engines.models import settings

_OPERATIONS = ("erase", "denoise", "upscale", "sharpen")


class Retouch(Engine):
    """Repairs a picture without changing what it shows."""

    definition = Definition(
        id="retouch",
        title="Retouch",
        asset_type="image",
        category="Editing",
        description=(
            "Erases the parts under a mask, reduces noise, enlarges or sharpens. Erasing fills"
            " with patches of the same picture and reports how well they fit. Upscaling keeps edges"
            " crisp but adds no detail, up to 40 megapixels (24 as a webp with transparency)."
            " Pictures are reduced to 4,096 pixels per side for erase, and transparent ones also"
            " for denoise and sharpen."
        ),
        settings=(
            settings.choice("operation", _OPERATIONS, "What to do; erase needs a mask", "upscale"),
            settings.choice("scale", (2, 4), "Factor of width and height; only for upscale"),
            settings.number("strength", 0.5, 0, 1, "Strength of the effect; not used by erase"),
            *settings.picture_file(transparent=True),
            settings.SEED,
        ),
        media=(
            settings.picture("The picture to repair"),
            settings.medium("mask", "image", "White where to erase, else black; only for erase"),
        ),
        pricing=settings.prices(
            "0.02", operation={"erase": "1.5", "denoise": "1.5"}, scale={"4": "2"}
        ),
        supports_prompt=False,
        prompt_required=False,
    )

    def check(self, order: Order) -> settings.Problems:
        """Yield missing inputs of the operation, and unused or useless ones."""
        if order.parameters["operation"] == "erase" and not order.media.get("mask"):
            yield "mask", "is required to erase: a picture that is white where something is to go"
        yield from settings.unused_problems(order, "mask", "erase")
        if order.parameters["operation"] != "upscale" and order.parameters["scale"] == 4:
            yield "scale", "has a price and is only used by the operation 'upscale': leave it out"

    def render(self, job: Job, progress: Progress) -> Asset:
        """Apply the requested repair."""
        from kit.engines.editing.picture.retouching import retouch

        return retouch(job, progress)
