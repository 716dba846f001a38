"""Retouch: erase something, take out noise, enlarge or sharpen."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

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
from kit.engines.models import picture_settings
from kit.wire import Multiplier, Parameter, Rule

_SCALE = Parameter(
    name="scale",
    type="integer",
    default=2,
    enum=[2, 4],
    description="How many times wider and higher the result is; upscale only",
)


class Retouch(Engine):
    """Repairs a picture without changing what it shows."""

    definition = Definition(
        id="retouch",
        title="Retouch",
        asset_type="image",
        category="Editing",
        description=(
            "Erases what a mask covers, reduces noise, enlarges or sharpens. Erasing continues the"
            " surroundings with patches of the same picture; it does not imagine objects. Upscaling"
            " keeps edges crisp and free of halos but invents no detail; its result has at most 40"
            " megapixels, and 24 as a webp with transparency. A picture of more than 4,096 pixels a"
            " side is made smaller for erasing, and where it has transparency also for denoise and"
            " sharpen."
        ),
        settings=(
            picture_settings.choice(
                "operation",
                "upscale",
                ("erase", "denoise", "upscale", "sharpen"),
                "What to do; erase needs a mask",
            ),
            _SCALE,
            picture_settings.share("strength", 0.5, "How strongly; not used by erase"),
            picture_settings.file_format(transparent=True),
            picture_settings.quality(),
            seed_parameter(),
        ),
        media=(
            picture_settings.medium("image", "The picture to repair"),
            picture_settings.medium(
                "mask",
                "White, or any bright color, where something is to be erased; erase only",
                required=False,
            ),
        ),
        pricing=Rule(
            base=Decimal("0.02"),
            multipliers=[
                # The scale has no price: it would be one of all operations, and what bounds the
                # work of enlarging is how large the result may be.
                Multiplier(
                    parameter="operation",
                    values={"erase": Decimal("1.5"), "denoise": Decimal("1.5")},
                ),
            ],
        ),
        supports_prompt=False,
        prompt_required=False,
    )

    def check(self, order: Order) -> Iterator[Problem]:
        """Yield what is missing for what is to be done, or given for nothing."""
        if order.parameters["operation"] == "erase" and not order.media.get("mask"):
            yield "mask", "is required to erase: a picture that is white where something is to go"
        yield from picture_settings.unused(order, "mask", "erase")

    def render(self, job: Job, progress: Progress) -> Asset:
        """Repair the picture in the way that was asked for."""
        from kit.engines.editing.attending import attended
        from kit.engines.editing.picture.repairs import repair

        return attended(job, progress, repair)
