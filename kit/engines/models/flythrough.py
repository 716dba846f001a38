"""Fly-through: a flight over generated land, directed by the words of the prompt."""

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
from kit.wire import Parameter

_LAND = Parameter(
    name="land",
    type="string",
    default="auto",
    enum=["auto", "alps", "hills", "forest", "islands", "desert", "canyon"],
    description="The land below; auto reads it from the prompt",
)
_CAMERA = film_settings.directed_camera(
    "glide", ["forward", "glide", "skim", "rise", "descend", "orbit", "high", "still"]
)


class FlyThrough(Engine):
    """Flies over mountains, hills, woods, islands, dunes and canyons."""

    definition = Definition(
        id="flythrough",
        title="Fly-through",
        asset_type="video",
        category="Video Generation",
        description=(
            "A flight over three-dimensional land made by rule: the prompt's English words for"
            " land, hour, season, weather, mood, color and flight direct it. There is land, water,"
            " sky and weather, but no buildings, animals or people, and other words only vary the"
            " terrain."
        ),
        settings=(
            film_settings.duration(5),
            film_settings.resolution("480p"),
            film_settings.aspect_ratio("16:9"),
            _CAMERA,
            film_settings.motion(0.6, "How fast the camera flies"),
            _LAND,
            film_settings.loop("Dissolve into the beginning, so that the clip can repeat"),
            picture_settings.palette(),
            film_settings.fps(),
            film_settings.file_format(),
            seed_parameter(),
        ),
        media=(film_settings.soundtrack(),),
        pricing=film_settings.prices(
            "0.08",
            base="0.05",
            sizes={"360p": "0.6", "720p": "1.5", "1080p": "2.5"},
            rates={"25": "1.02", "30": "1.1", "60": "1.5"},
        ),
    )

    def check(self, order: Order) -> Iterator[Problem]:
        """Yield that nothing of the prompt can be painted."""
        return prompt_problems(
            order.prompt, order.parameters, painter="flight", moves=_CAMERA.enum or ()
        )

    def render(self, job: Job, progress: Progress) -> Asset:
        """Film the prompt's land, as long and as large as was asked for."""
        from kit.engines.film.flight.journey import travel

        return travel(job, progress)
