"""Living Scene: an animated painted still."""

from kit.engines.base import Asset, Definition, Job, Progress
from kit.engines.models import settings

_HOURS = ("auto", "fixed", "day_to_night", "night_to_day")


class LivingScene(settings.PaintedModel):
    """Paints a scene and animates it as if seen on site."""

    definition = Definition(
        id="living-scene",
        title="Living Scene",
        asset_type="video",
        category="Video Generation",
        description=(
            "A moving scene, painted by rules from English words in the prompt (lakes, deserts,"
            " woods, seas, streets, space, ink, line art): with depth, weather, clouds, ripples,"
            " waterfalls, volcanoes, northern lights, stars and passing hours. Nothing walks,"
            " drives or flies through it, and plants and boats stand still."
        ),
        settings=(
            *settings.frame(5, 12, "720p"),
            settings.FAMILY,
            settings.directed_camera("push", settings.MOVES),
            settings.number("motion", 0.6, 0, 1, "How far the camera moves"),
            settings.choice(
                "weather", ("auto", *settings.WEATHERS), "Weather; auto follows the prompt"
            ),
            settings.choice(
                "hours", _HOURS, "Keep the time of day or let it pass; auto follows the prompt"
            ),
            settings.switch("clouds", True, "Thin clouds that drift across the sky"),
            settings.PALETTE,
            settings.switch("loop", False, "Move out and back, so that the clip can be looped"),
            settings.FPS,
            settings.FILM_FORMAT,
            settings.SEED,
        ),
        media=(settings.SOUNDTRACK,),
        # Passing hours cost nothing: prices depend on settings, and a prompt may ask for them too.
        pricing=settings.film_prices("0.03", "0.06"),
    )

    def render(self, job: Job, progress: Progress) -> Asset:
        """Paint and animate the prompt's scene, in the requested length and size."""
        from kit.engines.film.living import render_living_scene

        return render_living_scene(job, progress)
