"""Ken Burns: pans and zooms over a picture, at nearly the speed of the encoder."""

from __future__ import annotations

from kit.engines.base import Asset, Definition, Engine, Job, Progress
from kit.engines.models import film_settings
from kit.wire import Parameter

_IMAGE = Parameter(
    name="image",
    type="image",
    media=True,
    required=True,
    description="The picture to move over; the larger, the sharper a zoom stays",
)
_MOVE = Parameter(
    name="camera",
    type="string",
    default="auto",
    enum=[
        *("auto", "zoom_in", "zoom_out", "pan_left", "pan_right", "pan_up", "pan_down"),
        *("drift", "still"),
    ],
    description="How the camera moves; auto travels along a long picture and zooms into others",
)
_EASING = Parameter(
    name="easing",
    type="string",
    default="smooth",
    enum=["smooth", "linear"],
    description="Start and stop gently, or keep one speed from cut to cut",
)
_FOCUS = tuple(
    Parameter(
        name=f"focus_{axis}",
        type="number",
        minimum=0,
        maximum=1,
        description=f"Where a zoom leads, as a share of the {side}; left out: what stands out",
    )
    for axis, side in (("x", "width"), ("y", "height"))
)


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
            film_settings.duration(5, most=30),
            film_settings.resolution("720p"),
            film_settings.aspect_ratio("keep", keep=True),
            _MOVE,
            film_settings.motion(0.5, "How far the camera travels and zooms"),
            *_FOCUS,
            _EASING,
            film_settings.loop("Go there and back again, so that the clip can repeat"),
            film_settings.fps(),
            film_settings.file_format(),
        ),
        media=(_IMAGE, film_settings.soundtrack()),
        pricing=film_settings.prices("0.008", base="0.01"),
    )

    def render(self, job: Job, progress: Progress) -> Asset:
        """Film the picture, as long and as large as was asked for."""
        from kit.engines.film.kenburns.drawing import travel

        return travel(job, progress)
