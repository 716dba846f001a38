"""Talking Portrait: the mouth of a photograph or a video moves with a recorded voice."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from kit.engines.base import (
    Asset,
    Definition,
    Engine,
    Job,
    Order,
    Problem,
    Progress,
    seed_parameter,
)
from kit.engines.models import film_settings
from kit.engines.sizes import LONGEST_VOICE, SLACK
from kit.wire import Multiplier, Parameter, Rule, UnitPrice

_PORTRAIT = Parameter(
    name="portrait",
    type="image",
    media=True,
    description="A picture of a face from the front; give this or a video",
)
_VIDEO = Parameter(
    name="video",
    type="video",
    media=True,
    description="A video of a face from the front; it starts over where the audio is longer",
)
_AUDIO = Parameter(
    name="audio",
    type="audio",
    media=True,
    required=True,
    description=f"The voice, up to {LONGEST_VOICE} s; the clip is as long as this",
)
_RESOLUTION = Parameter(
    name="resolution",
    type="string",
    default="480p",
    enum=["360p", "480p", "720p"],
    description="The shorter side in pixels; the shape is that of the picture",
)
_FPS = Parameter(
    name="fps",
    type="integer",
    default=25,
    enum=[24, 25, 30],
    description="Frames per second",
)
_INTENSITY = Parameter(
    name="intensity",
    type="number",
    default=1,
    minimum=0,
    maximum=1.5,
    description="How far the mouth moves; 0 keeps it still",
)
_HEAD_MOTION = Parameter(
    name="head_motion",
    type="number",
    default=0.5,
    minimum=0,
    maximum=1,
    description="How much the head sways and nods; only for a portrait",
)
_BLINK = Parameter(
    name="blink",
    type="boolean",
    default=True,
    description="Blink now and then, if both eyes are clear enough to close; only for a portrait",
)


def _fraction(name: str, description: str, *, least: float = 0) -> Parameter:
    return Parameter(name=name, type="number", minimum=least, maximum=1, description=description)


class LipSync(Engine):
    """Moves the lips, the jaw and a little of the head of a picture with a voice."""

    definition = Definition(
        id="lip-sync",
        title="Talking Portrait",
        asset_type="video",
        category="Lip syncing",
        description=(
            "Makes the face in a picture or a video speak a recording, by rule: lips and chin"
            " are bent with the loudness and tone of the voice, not with its words, so single"
            " sounds are approximate. Steady noise behind a voice is left aside; while only noise"
            " is heard the mouth stays shut, but melodies, drums and claps may pass for a voice,"
            " and a whisper for noise. Only the face is found by a network (YuNet,"
            " on the processor). It needs a face seen about from the front with nothing over the"
            " mouth, in a video one that hardly speaks; profiles are refused, full beards look"
            " wrong, and eyes that are not clear do not blink. Show nobody without consent."
        ),
        supports_prompt=False,
        prompt_required=False,
        media=(_PORTRAIT, _VIDEO, _AUDIO),
        settings=(
            _RESOLUTION,
            _FPS,
            _INTENSITY,
            _HEAD_MOTION,
            _BLINK,
            _fraction("mouth_x", "Middle of the mouth from the left, as a fraction of the width"),
            _fraction("mouth_y", "Where the lips meet from the top, as a fraction of the height"),
            _fraction(
                "mouth_width", "Width of the mouth as a fraction of the picture's", least=0.01
            ),
            film_settings.file_format(),
            seed_parameter(),
        ),
        pricing=Rule(
            base=Decimal("0.02"),
            units=[UnitPrice(medium="audio", credits=Decimal("0.03"))],
            multipliers=[
                Multiplier(
                    parameter="resolution", values={"360p": Decimal("0.6"), "720p": Decimal(2)}
                ),
                Multiplier(
                    parameter="format",
                    values={"mp4-av1": Decimal("1.25"), "webm": Decimal("1.25")},
                ),
            ],
        ),
    )

    def check(self, order: Order) -> Iterator[Problem]:
        """Yield that there is no face to move, or one too many, or too long a voice."""
        faces = [name for name in ("portrait", "video") if order.media.get(name)]
        if len(faces) != 1:
            many = "both were" if faces else "neither was"
            yield "portrait", f"give either a portrait or a video; {many} given"
        longest = max(order.seconds.get("audio", ()), default=0.0)
        if longest > LONGEST_VOICE + SLACK:
            yield "audio", f"lasts {longest:,.0f} s; cut it to {LONGEST_VOICE} s or less"

    def render(self, job: Job, progress: Progress) -> Asset:
        """Film the portrait or the video while it speaks the audio."""
        from kit.engines.editing.lipsync.film import film_speech

        return film_speech(job, progress)
