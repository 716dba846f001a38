"""Fast Scene: the painted scenes at a reduced size, enlarged."""

from kit.engines.base import Asset, Definition, Job, Progress
from kit.engines.models import settings


class SceneFast(settings.PaintedModel):
    """Paints the same scenes as the model ``scene``, softer and several times faster."""

    definition = Definition(
        id="scene-fast",
        title="Painted Scene Fast",
        asset_type="image",
        category="Fast",
        description=(
            "A fast preview of a painted scene, from the same words. Most scenes are painted at"
            " half size and enlarged, so fine structure is soft. It does not draw people, animals"
            " or arbitrary objects."
        ),
        settings=(
            settings.aspect_ratio("1:1"),
            settings.size(768, 256, 1024, "; most scenes are painted at half size and enlarged"),
            settings.FAMILY,
            settings.PALETTE,
            *settings.picture_file(),
            settings.SEED,
        ),
        pricing=settings.prices("0.005", {"size": "0.00002"}),
    )

    def render(self, job: Job, progress: Progress) -> Asset:
        """Paint the prompt's scene small and enlarge it."""
        from kit.engines.painting.picture import paint_scene

        return paint_scene(job, progress, fast=True)
