"""Drifting Landscape: a camera that moves through the layers of a landscape."""

from kit.engines.base import Asset, Definition, Job, Progress
from kit.engines.models import settings

_MOVES = ("drift", "push", "pull", "pan_left", "pan_right", "rise", "still")


class Drift(settings.PaintedModel):
    """Flies slowly through a landscape with layers in parallax."""

    family = "poster"
    definition = Definition(
        id="drift",
        title="Drifting Landscape",
        asset_type="video",
        category="Low Cost",
        description=(
            "A slow camera move through a flat layered landscape, drawn by rules. English words in"
            " the prompt choose time of day, place, season, weather, mood, color and camera. It"
            " does not draw arbitrary objects."
        ),
        settings=(
            *settings.frame(4, 12, "480p"),
            settings.directed_camera("drift", _MOVES),
            settings.number("motion", 0.6, 0, 1, "How far the camera moves"),
            settings.switch("loop", False, "End where it began, so that the clip can be looped"),
            settings.PALETTE,
            settings.FPS,
            settings.FILM_FORMAT,
            settings.SEED,
        ),
        media=(settings.SOUNDTRACK,),
        # Its cost grows with every pixel; a flight has much one-time work.
        pricing=settings.film_prices("0.015", sizes="0.6 2.5 8", rates="1.05 1.3 2.8"),
    )

    def render(self, job: Job, progress: Progress) -> Asset:
        """Render the prompt's landscape, in the requested length and size."""
        from kit.engines.film.drift import render_drift

        return render_drift(job, progress)
