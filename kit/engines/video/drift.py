"""Drifting Landscape: a camera that moves through the layers of a landscape."""

from __future__ import annotations

from decimal import Decimal

from kit.engines.base import Asset, Definition, Engine, Job, Progress, seed_parameter
from kit.engines.landscape import settings
from kit.wire import Multiplier, Parameter, Rule, UnitPrice

_DURATION = Parameter(
    name="duration",
    type="number",
    default=4,
    minimum=1,
    maximum=12,
    description="Length in seconds",
)
_RESOLUTION = Parameter(
    name="resolution",
    type="string",
    default="480p",
    enum=["360p", "480p", "720p", "1080p"],
    description="The shorter side in pixels",
)
_FPS = Parameter(
    name="fps",
    type="integer",
    default=24,
    enum=[24, 30, 60],
    description="Frames per second",
)
_CAMERA = Parameter(
    name="camera",
    type="string",
    default="drift",
    enum=["drift", "push", "pull", "pan_left", "pan_right", "rise", "still"],
    description="How the camera moves",
)
_MOTION = Parameter(
    name="motion",
    type="number",
    default=0.6,
    minimum=0,
    maximum=1,
    description="How far the camera moves",
)
_LOOP = Parameter(
    name="loop",
    type="boolean",
    default=False,
    description="End where it began, so that the clip can repeat without a cut",
)


class Drift(Engine):
    """Flies slowly through a landscape whose layers move at their own speeds."""

    definition = Definition(
        id="drift",
        title="Drifting Landscape",
        asset_type="video",
        category="Video Generation",
        description=(
            "A slow camera through a flat layered landscape, drawn by rule: the prompt's words for"
            " time of day, place, season, weather, mood and color direct the scene. It does not"
            " draw arbitrary objects, and the clip has no sound."
        ),
        settings=(
            _DURATION,
            _RESOLUTION,
            settings.aspect_ratio("16:9"),
            _CAMERA,
            _MOTION,
            _LOOP,
            settings.palette(),
            _FPS,
            seed_parameter(),
        ),
        pricing=Rule(
            units=[UnitPrice(parameter="duration", credits=Decimal("0.05"))],
            multipliers=[
                Multiplier(
                    parameter="resolution",
                    values={"360p": Decimal("0.6"), "720p": Decimal(2), "1080p": Decimal(4)},
                ),
                Multiplier(parameter="fps", values={"60": Decimal("1.5")}),
            ],
        ),
    )

    def render(self, job: Job, progress: Progress) -> Asset:
        """Film the prompt's landscape, as long and as large as was asked for."""
        from kit.engines.video.flight import fly

        return fly(job, progress)
