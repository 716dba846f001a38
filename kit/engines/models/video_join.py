"""Join Clips: several videos become one, with transitions between them."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from kit.engines.base import Asset, Definition, Engine, Job, Order, Problem, Progress
from kit.engines.editing.video.checks import join_faults
from kit.engines.models.film_settings import (
    amount,
    choice,
    file_format,
    fit,
    medium,
    music_volume,
    quality,
    size_factors,
    sound_problems,
    switch,
)
from kit.engines.sizes import LONGEST, SHAPES, SIDES
from kit.wire import Parameter, Rule, UnitPrice

_CLIPS = Parameter(
    name="clips",
    type="video",
    media=True,
    required=True,
    max_items=10,
    description="2 to 10 videos, in the order in which they are shown",
)
_FPS = Parameter(
    name="fps",
    type="integer",
    enum=[24, 25, 30, 50, 60],
    description="Frames per second; left out, what most of the clips have",
)


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
            f" {LONGEST // 60} minutes; trim them with the Video Editor first."
        ),
        supports_prompt=False,
        prompt_required=False,
        media=(
            _CLIPS,
            medium("music", "audio", "Music for the whole, repeated where it is too short"),
        ),
        settings=(
            choice(
                "transition",
                ["cut", "crossfade", "fade_black", "slide", "wipe"],
                "How one clip gives way to the next",
            ),
            amount(
                "transition_seconds",
                0.5,
                (0.1, 2),
                "Length of a transition; at most half of the shorter clip; cut has none",
            ),
            choice(
                "aspect_ratio", ["auto", *SHAPES], "Width to height; auto is what most clips have"
            ),
            fit("shows the part of each clip that draws the eye"),
            choice(
                "resolution",
                ["auto", *SIDES],
                "The shorter side in pixels; auto is the largest of the clips of this shape",
            ),
            _FPS,
            choice(
                "sound",
                ["keep", "replace", "mute"],
                "The clips' own sound: keep it beside the"
                " music, replace it by the music, or mute everything",
            ),
            music_volume(),
            switch("duck", True, "Turn the music down while the clips are loud"),
            switch("normalize", True, "Bring every clip to -14 LUFS, as platforms play it"),
            file_format(),
            quality(),
        ),
        pricing=Rule(
            base=Decimal("0.05"),
            units=[UnitPrice(medium="clips", credits=Decimal("0.015"))],
            multipliers=size_factors("auto"),
        ),
    )

    def check(self, order: Order) -> Iterator[Problem]:
        """Yield that there is nothing to join, or no sound to put under it."""
        if order.media.get("clips", 0) < 2:
            yield "clips", "it takes two clips or more to join"
        for fault in join_faults(order.seconds.get("clips", ())):
            yield fault.field, fault.sentence
        yield from sound_problems(order)

    def render(self, job: Job, progress: Progress) -> Asset:
        """Join the job's clips."""
        from kit.engines.editing.video.join import join

        return join(job, progress)
