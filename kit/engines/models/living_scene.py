"""Living Scene: a painted still that comes alive."""

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
from kit.engines.painting.families import FAMILIES
from kit.engines.prompt.reading import prompt_problems
from kit.wire import Parameter

_FAMILY = Parameter(
    name="family",
    type="string",
    default="auto",
    enum=["auto", *FAMILIES],
    description="What is painted; auto reads it from the prompt",
)
_WEATHER = film_settings.weather(
    "auto",
    ["auto", "none", "rain", "snow", "fog", "dust", "fireflies", "embers"],
    "What is in the air; auto follows the prompt",
)
_HOURS = Parameter(
    name="hours",
    type="string",
    default="auto",
    enum=["auto", "fixed", "day_to_night", "night_to_day"],
    description=(
        "Keep the prompt's time of day, or let it pass; auto lets it pass where the prompt says so"
        " (from day to night, time lapse)"
    ),
)
_CLOUDS = Parameter(
    name="clouds",
    type="boolean",
    default=True,
    description="Thin clouds drift where there is sky",
)
_CAMERA = film_settings.directed_camera(
    "push", ["push", "pull", "drift", "arc", "pan_left", "pan_right", "rise", "still"]
)


class LivingScene(Engine):
    """Paints a scene and films it as if one stood before it."""

    definition = Definition(
        id="living-scene",
        title="Living Scene",
        asset_type="video",
        category="Video Generation",
        description=(
            "A scene painted by rule from the prompt's English words (lakes, deserts, woods, seas,"
            " streets, space, ink, line art) and brought to life: depth, weather, clouds, ripples,"
            " waterfalls, volcanoes, northern lights, stars and passing hours. Nothing walks,"
            " drives or flies through it, and plants and boats stand still."
        ),
        settings=(
            film_settings.duration(5),
            film_settings.resolution("720p"),
            film_settings.aspect_ratio("16:9"),
            _FAMILY,
            _CAMERA,
            film_settings.motion(0.6),
            _WEATHER,
            _HOURS,
            _CLOUDS,
            picture_settings.palette(),
            film_settings.loop("Swing out and back, so that the clip can repeat"),
            film_settings.fps(),
            film_settings.file_format(),
            seed_parameter(),
        ),
        media=(film_settings.soundtrack(),),
        # Hours that pass cost nothing: prices go by settings, and a prompt may ask for them too.
        pricing=film_settings.prices("0.03", base="0.06"),
    )

    def check(self, order: Order) -> Iterator[Problem]:
        """Yield that nothing of the prompt can be painted."""
        return prompt_problems(order.prompt, order.parameters, moves=_CAMERA.enum or ())

    def render(self, job: Job, progress: Progress) -> Asset:
        """Paint the prompt's scene and film it, as long and as large as was asked for."""
        from kit.engines.film.living.scene import film

        return film(job, progress)
