"""Reframe: a picture in another shape."""

from __future__ import annotations

from decimal import Decimal

from kit.engines.base import Asset, Definition, Engine, Job, Progress
from kit.engines.models import picture_settings
from kit.engines.models.picture_settings import aspect_ratio
from kit.wire import Rule


class Reframe(Engine):
    """Crops, fills or stretches a picture into another shape."""

    definition = Definition(
        id="reframe",
        title="Reframe",
        asset_type="image",
        category="Editing",
        description=(
            "Brings a picture into another shape: a crop that keeps faces and what stands out, the"
            " whole picture over a blurred copy of itself, or edges stretched while the middle"
            " keeps its proportions. It invents no new content. Transparency is kept but over a"
            " blurred copy."
        ),
        settings=(
            aspect_ratio("9:16"),
            picture_settings.choice(
                "mode",
                "smart_crop",
                ("smart_crop", "blurred_fill", "stretch_edges"),
                "How the new shape is filled",
            ),
            picture_settings.side(1280),
            picture_settings.file_format(transparent=True),
            picture_settings.quality(),
        ),
        media=(picture_settings.medium("image", "The picture to reframe"),),
        pricing=Rule(base=Decimal("0.01")),
        supports_prompt=False,
        prompt_required=False,
    )

    def render(self, job: Job, progress: Progress) -> Asset:
        """Bring the picture into the shape and size that were asked for."""
        from kit.engines.editing.attending import attended
        from kit.engines.editing.picture.framing import reframe

        return attended(job, progress, reframe)
