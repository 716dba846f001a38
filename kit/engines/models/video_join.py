"""Join Clips: several videos become one, with transitions between them."""

from kit.engines.base import Asset, Definition, Engine, Job, Order, Progress
from kit.engines.editing.video.checks import join_faults
from kit.engines.models import settings
from kit.engines.models.settings import choice, medium, number
from kit.engines.sizes import MAX_SECONDS, SHAPES, SIDES
from kit.wire import Parameter

_TRANSITIONS = ("cut", "crossfade", "fade_black", "slide", "wipe")


class Join(Engine):
    """Plays clips one after another."""

    definition = Definition(
        id="video-join",
        title="Join Clips",
        asset_type="video",
        category="Editing",
        description=(
            "Puts 2 to 10 videos one after another, with the same size, frame rate and loudness,"
            " and a transition at each joint. The clips together may last"
            f" {MAX_SECONDS // 60} minutes; trim them with the Video Editor first."
        ),
        supports_prompt=False,
        prompt_required=False,
        media=(
            Parameter(
                name="clips",
                type="video",
                media=True,
                required=True,
                max_items=10,
                description="2 to 10 videos, in order",
            ),
            medium("music", "audio", "Music for the result; repeated if it is too short"),
        ),
        settings=(
            choice("transition", _TRANSITIONS, "Transition between clips"),
            number("transition_seconds", 0.5, 0.1, 2, "At most half of the shorter clip is used"),
            choice("aspect_ratio", ("auto", *SHAPES), "Width to height; auto: the most common"),
            settings.FIT,
            choice("resolution", ("auto", *SIDES), "The shorter side; auto uses the largest"),
            Parameter(
                name="fps",
                type="integer",
                enum=[24, 25, 30, 50, 60],
                description="Frames per second; by default the most common",
            ),
            *settings.SOUND,
            settings.FILM_FORMAT,
            settings.FILM_QUALITY,
        ),
        pricing=settings.prices(
            "0.05",
            {"clips": "0.015"},
            resolution={"auto": "1.5", "480p": "0.6", "1080p": "2"},
            format={"mp4-av1": "1.2", "webm": "1.2"},
        ),
    )

    def check(self, order: Order) -> settings.Problems:
        """Yield the problem if there is nothing to join, or no sound for a sound setting."""
        if order.media.get("clips", 0) < 2:
            yield "clips", "joining needs two clips or more"
        for fault in join_faults(order.seconds.get("clips", ())):
            yield fault.field, fault.sentence
        yield from settings.sound_problems(order)

    def render(self, job: Job, progress: Progress) -> Asset:
        """Join the job's clips."""
        from kit.engines.editing.video.join import join

        return join(job, progress)
