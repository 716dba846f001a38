"""Painted Scene: landscapes in depth, streets, space and abstracts, described by a prompt."""

from kit.engines.base import Asset, Definition, Job, Progress
from kit.engines.models import settings

_DETAILS = ("low", "standard", "high")


class Scene(settings.PaintedModel):
    """Paints lakes, deserts, forests, seas, streets, space and abstracts procedurally."""

    definition = Definition(
        id="scene",
        title="Painted Scene",
        asset_type="image",
        category="Generation",
        description=(
            "Scenes painted by rules, with real depth: mountain lakes and hills, deserts, forests,"
            " seas, streets, space, liquids and flowing lines. English words in the prompt choose"
            " the scene, its time of day, season, weather, mood, colors and camera, and add"
            " volcanoes, palms, oases, waterfalls, sailboats, lighthouses, planets, comets, black"
            " holes and wormholes where they fit. It does not draw people, animals or arbitrary"
            " objects."
        ),
        settings=(
            settings.aspect_ratio("1:1"),
            settings.size(1024, 512, 2048),
            settings.FAMILY,
            settings.PALETTE,
            settings.choice("detail", _DETAILS, "Fine structure; high takes longer", "standard"),
            *settings.picture_file(),
            settings.SEED,
        ),
        pricing=settings.prices(
            "0.01", {"size": "0.00006"}, detail={"low": "0.7", "high": "1.6"}, format={"png": "1.2"}
        ),
    )

    def render(self, job: Job, progress: Progress) -> Asset:
        """Paint the prompt's scene in the requested size, aspect and format."""
        from kit.engines.painting.picture import paint_scene

        return paint_scene(job, progress)
