"""Poster Landscape: flat layered landscapes, described by a prompt."""

from kit.engines.base import Asset, Definition, Job, Progress
from kit.engines.models import settings


class Poster(settings.PaintedModel):
    """Paints mountains, hills, deserts, seas, forests and lakes in flat layers."""

    family = "poster"
    definition = Definition(
        id="poster",
        title="Poster Landscape",
        asset_type="image",
        category="Low Cost",
        description=(
            "Flat layered landscapes, drawn by rules. English words in the prompt choose time of"
            " day, place, season, weather, mood, color and camera. It does not draw arbitrary"
            " objects; other words only vary the composition."
        ),
        settings=(
            settings.aspect_ratio("1:1"),
            settings.size(1024, 256, 2048),
            settings.PALETTE,
            settings.number(
                "layers", 7, 4, 9, "Ridges from the horizon to the foreground", "integer"
            ),
            settings.number("mist", 0.4, 0, 1, "Amount of mist between the ridges"),
            settings.switch("stars", True, "Stars in the sky of dusk and night"),
            settings.switch("grain", False, "Slight paper grain; the file becomes larger"),
            *settings.picture_file(),
            settings.SEED,
        ),
        pricing=settings.prices("0.004", {"size": "0.000015"}, format={"png": "1.5"}),
    )

    def render(self, job: Job, progress: Progress) -> Asset:
        """Paint the prompt's landscape in the requested size, aspect and format."""
        from kit.engines.painting.poster.compose import paint_poster

        return paint_poster(job, progress)
