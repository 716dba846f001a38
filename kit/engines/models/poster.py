"""Poster Landscape: flat layered landscapes, directed by the words of the prompt."""

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
from kit.engines.prompt.reading import prompt_problems
from kit.wire import Multiplier, Parameter, Rule, UnitPrice

_SIZE = Parameter(
    name="size",
    type="integer",
    default=1024,
    minimum=256,
    maximum=2048,
    description="The longer side in pixels",
)
_STARS = Parameter(
    name="stars",
    type="boolean",
    default=True,
    description="Stars in the sky of dusk and night",
)
_GRAIN = Parameter(
    name="grain",
    type="boolean",
    default=False,
    description="A touch of paper grain; it makes the file larger",
)


class Poster(Engine):
    """Paints mountains, hills, deserts, seas, forests and lakes in flat layers."""

    definition = Definition(
        id="poster",
        title="Poster Landscape",
        asset_type="image",
        category="Low Cost",
        description=(
            "Flat layered landscapes, drawn by rule: the prompt's English words for time of day,"
            " place, season, weather, mood, color and camera direct the scene. It does not draw"
            " arbitrary objects; other words only vary the composition."
        ),
        settings=(
            picture_settings.aspect_ratio("1:1"),
            _SIZE,
            picture_settings.palette(),
            picture_settings.layers(),
            picture_settings.mist(),
            _STARS,
            _GRAIN,
            picture_settings.file_format(),
            picture_settings.quality(),
            seed_parameter(),
        ),
        pricing=Rule(
            base=Decimal("0.004"),
            units=[UnitPrice(parameter="size", credits=Decimal("0.000015"))],
            multipliers=[Multiplier(parameter="format", values={"png": Decimal("1.5")})],
        ),
    )

    def check(self, order: Order) -> Iterator[Problem]:
        """Yield that nothing of the prompt can be painted."""
        return prompt_problems(order.prompt, order.parameters, family="poster")

    def render(self, job: Job, progress: Progress) -> Asset:
        """Paint the prompt's landscape in the size, shape and format that were asked for."""
        from kit.engines.painting.poster.compose import paint_poster

        return paint_poster(job, progress)
