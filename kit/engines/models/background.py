"""Background: take it away, put another behind the subject, or blur it."""

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
from kit.engines.prompt.backgrounds import ground_problems
from kit.engines.prompt.colors import color_problems
from kit.wire import Multiplier, Parameter, Rule

_FEATHER = Parameter(
    name="feather",
    type="number",
    default=0,
    minimum=0,
    maximum=40,
    description="How far the subject's edge is softened, in pixels",
)


class Background(Engine):
    """Separates a subject from what is behind it."""

    definition = Definition(
        id="background",
        title="Background",
        asset_type="image",
        category="Editing",
        description=(
            "Removes, replaces or blurs what is behind the subject. It finds people by their faces,"
            " and things that differ from their surroundings in color or sharpness; their outlines"
            " come from fitted color models and from no trained network: glass, busy pictures and"
            " subjects in the color of their background come out roughly, and where a subject"
            " clearly cannot be told apart it fails and costs nothing. Gaps, hair, leaves, and"
            " several things at once come out well before an even background only. If it fails or"
            " takes the wrong thing, a box or a rough mask tells it the subject. The prompt names a"
            " color, two for a gradient, or a landscape to paint. The result has at most 4,096"
            " pixels a side: a larger picture is made smaller."
        ),
        settings=(
            picture_settings.choice(
                "operation",
                "remove",
                ("remove", "replace", "blur"),
                "What to do with the background",
            ),
            picture_settings.text(
                "color",
                "The new background where neither prompt nor backdrop is given: a color name or"
                " #rrggbb; replace only",
                "white",
            ),
            picture_settings.share(
                "blur_strength", 0.5, "How much the background is blurred; blur only"
            ),
            _FEATHER,
            *picture_settings.box(),
            picture_settings.file_format("png", transparent=True),
            picture_settings.quality(),
            seed_parameter(),
        ),
        media=(
            picture_settings.medium("image", "The picture with the subject"),
            picture_settings.medium("backdrop", "The new background; replace only", required=False),
            picture_settings.mask(),
        ),
        pricing=Rule(
            base=Decimal("0.03"),
            multipliers=[Multiplier(parameter="operation", values={"replace": Decimal("1.5")})],
        ),
        prompt_required=False,
    )

    def check(self, order: Order) -> Iterator[Problem]:
        """Yield what is no background where one is asked for, what is not used, and half a box."""
        if order.parameters["operation"] == "replace" and not order.media.get("backdrop"):
            if order.prompt.strip():
                yield from ground_problems("prompt", order.prompt)
            else:
                yield from color_problems("color", order.parameters["color"])
        yield from picture_settings.unused(order, "backdrop", "replace")
        yield from picture_settings.subject_problems(order)

    def render(self, job: Job, progress: Progress) -> Asset:
        """Cut out the subject and set it before what was asked for."""
        from kit.engines.editing.attending import attended
        from kit.engines.editing.picture.cutting import change_background

        return attended(job, progress, change_background)
