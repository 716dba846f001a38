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
            "Erases what a mask covers, reduces noise, enlarges or sharpens. Erasing continues the"
            " surroundings with patches of the same picture, and says how well that went; upscaling"
            " keeps edges crisp but invents no detail, up to 40 megapixels, and 24 as a webp with"
            " transparency. A picture of more than 4,096 pixels a side is made smaller for erasing,"
            " and where it has transparency also for denoise and sharpen."
        ),
        settings=(
            settings.choice("operation", _OPERATIONS, "What to do; erase needs a mask", "upscale"),
            settings.choice("scale", (2, 4), "How many times wider and higher; upscale only"),
            settings.number("strength", 0.5, 0, 1, "How strongly; not used by erase"),
            *settings.picture_file(transparent=True),
            settings.SEED,
        ),
        media=(
            settings.picture("The picture to repair"),
            settings.medium("mask", "image", "White or bright where to erase; erase only"),
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
        yield from settings.unused(order, "mask", "erase")
        if order.parameters["operation"] != "upscale" and order.parameters["scale"] == 4:
            yield "scale", "has a price and is only used by the operation 'upscale': leave it out"

    def render(self, job: Job, progress: Progress) -> Asset:
        """Apply the requested repair."""
        from kit.engines.editing.picture.retouching import retouch

        return retouch(job, progress)
