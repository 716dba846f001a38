"""Fast Scene: the painted scenes at a reduced size, enlarged."""

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
from kit.engines.models.scene import family
from kit.engines.prompt.reading import prompt_problems
from kit.wire import Parameter, Rule, UnitPrice

_SIZE = Parameter(
    name="size",
    type="integer",
    default=768,
    minimum=256,
    maximum=1024,
    description=(
        "The longer side in pixels; half as many are painted, then enlarged, except of seas,"
        " liquids and flowing lines"
    ),
)


class SceneFast(Engine):
    """Paints the same scenes as the model ``scene``, softer and several times faster."""

    definition = Definition(
        id="scene-fast",
        title="Painted Scene Fast",
        asset_type="image",
        category="Fast",
        description=(
            "A quick look at a painted scene: the same words lead to the same kind of scene,"
            " most of them painted at half size and enlarged, so that fine structure is soft. It"
            " does not draw people, animals or arbitrary objects."
        ),
        settings=(
            picture_settings.aspect_ratio("1:1"),
            _SIZE,
            family(),
            picture_settings.palette(),
            picture_settings.file_format(),
            picture_settings.quality(),
            seed_parameter(),
        ),
        pricing=Rule(
            base=Decimal("0.005"),
            units=[UnitPrice(parameter="size", credits=Decimal("0.00002"))],
        ),
    )

    def check(self, order: Order) -> Iterator[Problem]:
        """Yield that nothing of the prompt can be painted."""
        return prompt_problems(order.prompt, order.parameters)

    def render(self, job: Job, progress: Progress) -> Asset:
        """Paint the prompt's scene small and enlarge it."""
        from kit.engines.painting.picture import paint_fast

        return paint_fast(job, progress)
