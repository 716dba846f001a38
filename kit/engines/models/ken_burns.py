"""Ken Burns: pans and zooms over a picture, at nearly the speed of the encoder."""

from kit.engines.base import Asset, Definition, Engine, Job, Progress
from kit.engines.models import settings

_PANS = ("pan_left", "pan_right", "pan_up", "pan_down")
_MOVES = ("auto", "zoom_in", "zoom_out", *_PANS, "drift", "still")


class KenBurns(Engine):
    """Turns a still picture into a slow camera move."""

    definition = Definition(
        id="ken-burns",
        title="Ken Burns",
        asset_type="video",
        category="Fast",
        description=(
            "Pans and zooms slowly over your picture, toward its subject. The picture itself stays"
            " flat: nothing in it moves, and nothing is added beyond its edges."
        ),
        supports_prompt=False,
        prompt_required=False,
        settings=(
            *settings.frame(5, 30, "720p", "keep"),
            settings.choice(
                "camera", _MOVES, "How the camera moves; auto chooses by the shape of the picture"
            ),
            settings.number("motion", 0.5, 0, 1, "How far the camera moves and zooms"),
            settings.number("focus_x", None, 0, 1, "Center of a zoom as a fraction of the width"),
            settings.number("focus_y", None, 0, 1, "Center of a zoom as a fraction of the height"),
            settings.choice("easing", ("smooth", "linear"), "smooth starts and stops slowly"),
            settings.switch("loop", False, "Move there and back, so that the clip can be looped"),
            settings.FPS,
            settings.FILM_FORMAT,
        ),
        media=(
            settings.picture("The picture to move over; large pictures stay sharp when zoomed"),
            settings.SOUNDTRACK,
        ),
        pricing=settings.film_prices("0.008", "0.01"),
    )

    def render(self, job: Job, progress: Progress) -> Asset:
        """Render the clip, in the requested length and size."""
        from kit.engines.film.kenburns import render_ken_burns

        return render_ken_burns(job, progress)
