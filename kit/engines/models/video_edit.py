"""Video Editor: one video cut, framed, captioned, graded and mixed with sound in one pass."""

from kit.engines.base import Asset, Definition, Engine, Job, Order, Progress
from kit.engines.editing.picture.looks import LOOKS
from kit.engines.editing.video import checks
from kit.engines.models import settings
from kit.engines.models.settings import choice, medium, number, switch
from kit.engines.sizes import MAX_SECONDS, SHAPES, SIDES
from kit.wire import Parameter

_CAPTIONS = "Text of the captions, spread over the speech, or over the whole clip without speech"


class Edit(Engine):
    """Edits one video in a single streaming pass."""

    definition = Definition(
        id="video-edit",
        title="Video Editor",
        asset_type="video",
        category="Editing",
        description=(
            "Trims, speeds up or slows down, reframes, steadies, grades, captions and sets a video"
            f" of up to {MAX_SECONDS // 60} minutes to sound. Captions are timed by how long words"
            " take to say and where the sound is loud: the model does not recognize speech. The"
            " price goes by the length of the whole input."
        ),
        supports_prompt=False,
        prompt_required=False,
        media=(
            medium("video", "video", "The video to edit", required=True),
            medium("voice", "audio", "Speech for the result, from its start to its end"),
            medium("music", "audio", "Music for the result; repeated if it is too short"),
        ),
        settings=(
            number(
                "start", 0, 0, MAX_SECONDS, "Start of the part to keep, in seconds of the video"
            ),
            number("end", None, 0, MAX_SECONDS, "End of the part to keep, in seconds of the video"),
            number("speed", 1, 0.25, 4, "2 is twice as fast; voices keep their pitch"),
            choice("aspect_ratio", ("keep", *SHAPES), "Width to height; keep uses the video's"),
            settings.FIT,
            choice("resolution", ("keep", *SIDES), "The shorter side; keep: its own, up to 1080"),
            switch("stabilize", False, "Reduce camera shake; the edges are cropped a little"),
            choice("look", ("none", *LOOKS), "Color grade"),
            Parameter(name="captions", description=_CAPTIONS, max_length=checks.MAX_TEXT),
            choice("caption_style", ("bold", "clean", "karaoke"), "Style of the captions"),
            choice("caption_position", ("bottom", "middle", "top"), "Position of the captions"),
            number("fade_in", 0, 0, 5, "Seconds of a fade from black at the start"),
            number("fade_out", 0, 0, 5, "Seconds of a fade to black at the end"),
            *settings.SOUND,
            number("poster_time", None, 0, MAX_SECONDS, "Second of the result for the preview"),
            settings.FILM_FORMAT,
            settings.FILM_QUALITY,
        ),
        pricing=settings.prices(
            "0.05",
            {"video": "0.02"},
            resolution={"keep": "1.5", "480p": "0.6", "1080p": "2"},
            format={"mp4-av1": "1.2", "webm": "1.2"},
            stabilize={"true": "1.5"},
        ),
    )

    def check(self, order: Order) -> settings.Problems:
        """Yield the problem if the part does not exist, or captions have no text or no sound."""
        whole, *_ = [*order.seconds.get("video", ()), None]
        faults = list(checks.edit_faults(order.parameters, whole))
        yield from ((fault.field, fault.sentence) for fault in faults)
        known = whole is not None and not faults
        seconds = checks.edit_seconds(order.parameters, whole) if known else None
        captions, style = order.parameters.get("captions"), order.parameters["caption_style"]
        yield from checks.caption_problems("captions", captions or "", style, seconds)
        yield from settings.sound_problems(order)

    def render(self, job: Job, progress: Progress) -> Asset:
        """Edit the job's video."""
        from kit.engines.editing.video.edit import edit

        return edit(job, progress)
