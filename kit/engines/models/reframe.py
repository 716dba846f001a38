"""Reframe: a picture in another aspect."""

from kit.engines.base import Asset, Definition, Engine, Job, Progress
from kit.engines.models import settings
from kit.engines.sizes import MAX_SIDE

_MODES = ("smart_crop", "blurred_fill", "stretch_edges")


class Reframe(Engine):
    """Crops, fills or stretches a picture to another aspect."""

    definition = Definition(
        id="reframe",
        title="Reframe",
        asset_type="image",
        category="Editing",
        description=(
            "Changes the shape of a picture: by a crop that keeps faces and the subject, by"
            " placing the whole picture over a blurred copy of itself, or by stretching the edges"
            " while the middle keeps its proportions. It adds no new content. Transparency is kept,"
            " except over a blurred copy."
        ),
        settings=(
            settings.aspect_ratio("9:16"),
            settings.choice("mode", _MODES, "How the new shape is filled"),
            settings.size(1280, 256, MAX_SIDE),
            *settings.picture_file(transparent=True),
        ),
        media=(settings.picture("The picture to reframe"),),
        pricing=settings.prices("0.01"),
        supports_prompt=False,
        prompt_required=False,
    )

    def render(self, job: Job, progress: Progress) -> Asset:
        """Convert the picture to the requested aspect and size."""
        from kit.engines.editing.picture.reframing import reframe

        return reframe(job, progress)
