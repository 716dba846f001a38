"""Painted Scene: landscapes in depth, streets, space and abstracts, directed by a prompt."""

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
from kit.engines.painting.families import FAMILIES
from kit.engines.prompt.reading import prompt_problems
from kit.wire import Multiplier, Parameter, Rule, UnitPrice

_SIZE = Parameter(
    name="size",
    type="integer",
    default=1024,
    minimum=512,
    maximum=2048,
    description="The longer side in pixels",
)
_DETAIL = Parameter(
    name="detail",
    type="string",
    default="standard",
    enum=["low", "standard", "high"],
    description="How much time to spend on fine structure",
)


def family() -> Parameter:
    """Return the setting for the kind of scene."""
    return Parameter(
        name="family",
        type="string",
        default="auto",
        enum=["auto", *FAMILIES],
        description="Kind of scene; auto takes it from the words of the prompt",
    )


class Scene(Engine):
    """Paints lakes, deserts, forests, seas, streets, space and abstracts by rule."""

    definition = Definition(
        id="scene",
        title="Painted Scene",
        asset_type="image",
        category="Generation",
        description=(
            "Scenes painted by rule in real depth: mountain lakes and hills, deserts, forests,"
            " seas, streets, space, liquids and flowing lines. English words choose the scene, its"
            " hour, season, weather, mood, colors and camera. By name it adds volcanoes, palms,"
            " oases, waterfalls, sailboats, lighthouses, planets, comets, black holes and"
            " wormholes, each where it belongs. It does not draw people, animals or arbitrary"
            " objects; words it does not know only vary the picture."
        ),
        settings=(
            picture_settings.aspect_ratio("1:1"),
            _SIZE,
            family(),
            picture_settings.palette(),
            _DETAIL,
            picture_settings.file_format(),
            picture_settings.quality(),
            seed_parameter(),
        ),
        pricing=Rule(
            base=Decimal("0.01"),
            units=[UnitPrice(parameter="size", credits=Decimal("0.00006"))],
            multipliers=[
                Multiplier(
                    parameter="detail", values={"low": Decimal("0.7"), "high": Decimal("1.6")}
                ),
                Multiplier(parameter="format", values={"png": Decimal("1.2")}),
            ],
        ),
    )

    def check(self, order: Order) -> Iterator[Problem]:
        """Yield that nothing of the prompt can be painted."""
        return prompt_problems(order.prompt, order.parameters)

    def render(self, job: Job, progress: Progress) -> Asset:
        """Paint the prompt's scene in the size, shape and format that were asked for."""
        from kit.engines.painting.picture import paint_scene

        return paint_scene(job, progress)
