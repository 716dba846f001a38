"""Fly-through: a flight over generated land, described by a prompt."""

from kit.engines.base import Asset, Definition, Job, Progress
from kit.engines.models import settings

_MOVES = ("forward", "glide", "skim", "rise", "descend", "orbit", "high", "still")
_LANDS = ("auto", "alps", "hills", "forest", "islands", "desert", "canyon")


class FlyThrough(settings.PaintedModel):
    """Flies over mountains, hills, woods, islands, dunes and canyons."""

    painter = "flight"
    definition = Definition(
        id="flythrough",
        title="Fly-through",
        asset_type="video",
        category="Video Generation",
        description=(
            "A flight over three-dimensional land made by rule, which begins where a painted scene"
            " of the same prompt and seed is seen from; over woods and open seas it shows more. The"
            " prompt's English words for land, hour, season, weather, mood, color and flight direct"
            " it. There is land, water, sky and weather, but no buildings, animals or people."
        ),
        settings=(
            *settings.frame(5, 12, "480p"),
            settings.directed_camera("glide", _MOVES),
            settings.number("motion", 0.6, 0, 1, "How fast the camera flies"),
            settings.choice("land", _LANDS, "The land below; auto reads it from the prompt"),
            settings.switch("loop", False, "Dissolve into the beginning, so that it can repeat"),
            settings.PALETTE,
            settings.FPS,
            settings.FILM_FORMAT,
            settings.SEED,
        ),
        media=(settings.SOUNDTRACK,),
        pricing=settings.film_prices("0.08", "0.05", sizes="0.6 1.5 2.5", rates="1.02 1.1 1.5"),
    )

    def render(self, job: Job, progress: Progress) -> Asset:
        """Render the prompt's land, in the requested length and size."""
        from kit.engines.film.flight import render_flight

        return render_flight(job, progress)
