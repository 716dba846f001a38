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
            "Pans and zooms slowly over your picture, toward what stands out in it. The picture"
            " itself stays flat: nothing in it moves, and nothing beyond its edges is invented."
        ),
        supports_prompt=False,
        prompt_required=False,
        settings=(
            *settings.frame(5, 30, "720p", "keep"),
            settings.choice("camera", _MOVES, "How the camera moves; auto follows the shape"),
            settings.number("motion", 0.5, 0, 1, "How far the camera travels and zooms"),
            settings.number("focus_x", None, 0, 1, "Where a zoom leads, as a share of the width"),
            settings.number("focus_y", None, 0, 1, "And of the height; left out: what stands out"),
            settings.choice(
                "easing", ("smooth", "linear"), "Start and stop gently, or keep one speed"
            ),
            settings.switch("loop", False, "Go there and back again, so that the clip can repeat"),
            settings.FPS,
            settings.FILM_FORMAT,
        ),
        media=(
            settings.picture("The picture to move over; the larger, the sharper a zoom stays"),
            settings.SOUNDTRACK,
        ),
        pricing=settings.film_prices("0.008", "0.01"),
    )

    def render(self, job: Job, progress: Progress) -> Asset:
        """Render the clip, in the requested length and size."""
        from kit.engines.film.kenburns import render_ken_burns

        return render_ken_burns(job, progress)
