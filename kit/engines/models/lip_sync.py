"""Talking Portrait: a photograph or video of a face speaks with a recorded voice."""

from kit.engines.base import Asset, Definition, Engine, Job, Order, Progress
from kit.engines.models import settings
from kit.engines.models.settings import medium, number
from kit.engines.sizes import MAX_VOICE_SECONDS, SLACK

_SIDES = ("360p", "480p", "720p")


class LipSync(Engine):
    """Moves the lips, the jaw and slightly the head of a picture with a voice."""

    definition = Definition(
        id="lip-sync",
        title="Talking Portrait",
        asset_type="video",
        category="Lip syncing",
        description=(
            "Makes the face in a picture or a video speak a recording, by rules: lips and chin"
            " follow the loudness and tone of the voice, not its words, so single sounds are"
            " approximate. Steady background noise is ignored, but melodies, drums and claps may"
            " count as a voice, and a whisper as noise. A network (YuNet, on the CPU) finds the"
            " face. It must be seen roughly from the front with nothing over the mouth, and in a"
            " video it should hardly speak; profiles are refused, full beards look wrong, and"
            " unclear eyes do not blink. Use faces only with consent."
        ),
        supports_prompt=False,
        prompt_required=False,
        media=(
            medium("portrait", "image", "A face from the front; required without a video"),
            medium("video", "video", "A video of a face from the front; repeated if shorter"),
            medium("audio", "audio", f"The voice, up to {MAX_VOICE_SECONDS} s", required=True),
        ),
        settings=(
            settings.choice("resolution", _SIDES, "The shorter side in pixels", "480p"),
            settings.choice("fps", (24, 25, 30), "Frames per second", 25),
            number("intensity", 1, 0, 1.5, "How far the mouth moves; 0 keeps it still"),
            number("head_motion", 0.5, 0, 1, "How much the head in a portrait moves"),
            settings.switch("blink", True, "Let a portrait blink, if both eyes are clear enough"),
            number("mouth_x", None, 0, 1, "Center of the mouth, as a fraction of the width"),
            number("mouth_y", None, 0, 1, "Height of the closed lips, as a fraction"),
            number("mouth_width", None, 0.01, 1, "Width of the mouth, as a fraction of the width"),
            settings.FILM_FORMAT,
            settings.SEED,
        ),
        pricing=settings.prices(
            "0.02",
            {"audio": "0.03"},
            resolution={"360p": "0.6", "720p": "2"},
            format={"mp4-av1": "1.25", "webm": "1.25"},
        ),
    )

    def check(self, order: Order) -> settings.Problems:
        """Yield the problem if there is no face, one too many, or too long a voice."""
        faces = [name for name in ("portrait", "video") if order.media.get(name)]
        if len(faces) != 1:
            many = "both were" if faces else "neither was"
            yield "portrait", f"give either a portrait or a video; {many} given"
        longest = max(order.seconds.get("audio", ()), default=0.0)
        if longest > MAX_VOICE_SECONDS + SLACK:
            yield "audio", f"lasts {longest:,.0f} s; cut it to {MAX_VOICE_SECONDS} s or less"

    def render(self, job: Job, progress: Progress) -> Asset:
        """Render the portrait or the video, speaking the audio."""
        from kit.engines.editing.lipsync.film import render_lip_sync

        return render_lip_sync(job, progress)
