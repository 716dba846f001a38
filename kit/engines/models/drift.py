"""Drifting Landscape: a camera that moves through the layers of a landscape."""

from __future__ import annotations

from collections.abc import Iterator

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
from kit.engines.models import film_settings, picture_settings
from kit.engines.prompt.reading import prompt_problems

_CAMERA = film_settings.directed_camera(
    "drift", ["drift", "push", "pull", "pan_left", "pan_right", "rise", "still"]
)


class Drift(Engine):
    """Flies slowly through a landscape whose layers move at their own speeds."""

    definition = Definition(
        id="drift",
        title="Drifting Landscape",
        asset_type="video",
        category="Low Cost",
        description=(
            "A slow camera through a flat layered landscape, drawn by rule: the prompt's English"
            " words for time of day, place, season, weather, mood, color and camera direct it. It"
            " does not draw arbitrary objects."
        ),
        settings=(
            film_settings.duration(),
            film_settings.resolution(),
            film_settings.aspect_ratio(),
            _CAMERA,
            film_settings.motion(),
            film_settings.loop("End where it began, so that the clip can repeat without a cut"),
            picture_settings.palette(),
            film_settings.fps(),
            film_settings.file_format(),
            seed_parameter(),
        ),
        media=(film_settings.soundtrack(),),
        # Its work grows with every pixel; a flight has much that is done once.
        pricing=film_settings.prices(
            "0.015",
            sizes={"360p": "0.6", "720p": "2.5", "1080p": "8"},
            rates={"25": "1.05", "30": "1.3", "60": "2.8"},
        ),
    )

    def check(self, order: Order) -> Iterator[Problem]:
        """Yield that nothing of the prompt can be painted."""
        return prompt_problems(
            order.prompt, order.parameters, family="poster", moves=_CAMERA.enum or ()
        )

    def render(self, job: Job, progress: Progress) -> Asset:
        """Film the prompt's landscape, as long and as large as was asked for."""
        from kit.engines.film.drift import fly

        return fly(job, progress)
