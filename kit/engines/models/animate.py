"""Animate a Picture: depth and a moving camera for a still picture."""

from kit.engines.base import Asset, Definition, Engine, Job, Progress
from kit.engines.models import settings


class Animate(Engine):
    """Moves a camera through a still picture."""

    definition = Definition(
        id="animate",
        title="Animate a Picture",
        asset_type="video",
        category="Video Generation",
        description=(
            "Adds depth to your picture and moves a camera through it, optionally with weather."
            " Depth is estimated from the subject and the shape of the picture; people and things"
            " in it do not move."
        ),
        supports_prompt=False,
        prompt_required=False,
        settings=(
            *settings.frame(5, 20, "720p", "keep"),
            settings.choice(
                "technique",
                ("auto", "cutout", "parallax", "ken_burns"),
                "cutout moves the subject in front of its background, parallax bends the picture"
                " so that its lower part is nearer, ken_burns keeps it flat; auto uses cutout if"
                " it finds a subject",
            ),
            settings.choice("camera", settings.MOVES, "How the camera moves"),
            settings.number("motion", 0.6, 0, 1, "How far the camera moves"),
            settings.choice("weather", settings.WEATHERS, "Weather in front of the picture"),
            settings.switch("loop", False, "Move out and back, so that the clip can be looped"),
            settings.FPS,
            settings.FILM_FORMAT,
            settings.SEED,
        ),
        media=(
            settings.picture("The picture to animate; one with a clear subject works best"),
            settings.SOUNDTRACK,
        ),
        pricing=settings.film_prices("0.02", "0.03"),
    )

    def render(self, job: Job, progress: Progress) -> Asset:
        """Render the clip, in the requested length and size."""
        from kit.engines.film.animate import animate

        return animate(job, progress)
