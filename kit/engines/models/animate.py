"""Animate a Picture: depth and a moving camera for a still picture."""

from __future__ import annotations

from kit.engines.base import Asset, Definition, Engine, Job, Progress, seed_parameter
from kit.engines.models import film_settings
from kit.wire import Parameter

_IMAGE = Parameter(
    name="image",
    type="image",
    media=True,
    required=True,
    description="The picture to animate; one with a clear subject works best",
)
_TECHNIQUE = Parameter(
    name="technique",
    type="string",
    default="auto",
    enum=["auto", "cutout", "parallax", "ken_burns"],
    description=(
        "cutout moves the subject before its background, parallax bends the picture as if its lower"
        " part were nearer, ken_burns keeps it flat; auto cuts out where it finds a subject"
    ),
)
_CAMERA = film_settings.camera(
    "push", ["push", "pull", "drift", "arc", "pan_left", "pan_right", "rise", "still"]
)
_WEATHER = film_settings.weather(
    "none",
    ["none", "rain", "snow", "fog", "dust", "fireflies", "embers"],
    "What is in the air before the picture",
)


class Animate(Engine):
    """Moves a camera through a still picture."""

    definition = Definition(
        id="animate",
        title="Animate a Picture",
        asset_type="video",
        category="Video Generation",
        description=(
            "Gives your picture depth and moves a camera through it, with weather if you like. The"
            " depth is guessed from the subject and the shape of the picture; people and things in"
            " it do not move by themselves."
        ),
        supports_prompt=False,
        prompt_required=False,
        settings=(
            film_settings.duration(5, most=20),
            film_settings.resolution("720p"),
            film_settings.aspect_ratio("keep", keep=True),
            _TECHNIQUE,
            _CAMERA,
            film_settings.motion(0.6),
            _WEATHER,
            film_settings.loop("Swing out and back, so that the clip can repeat"),
            film_settings.fps(),
            film_settings.file_format(),
            seed_parameter(),
        ),
        media=(_IMAGE, film_settings.soundtrack()),
        pricing=film_settings.prices("0.02", base="0.03"),
    )

    def render(self, job: Job, progress: Progress) -> Asset:
        """Film the picture, as long and as large as was asked for."""
        from kit.engines.film.animate.picture import animate

        return animate(job, progress)
