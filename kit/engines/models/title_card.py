"""Title Card: a headline on a picture, sized, placed and shaded to be legible at a glance."""

from kit.engines.base import Asset, Definition, Engine, Job, Order, Progress
from kit.engines.editing.title import STYLES, headline_problems, subtitle_problems
from kit.engines.media.fonts import FACES
from kit.engines.models import settings
from kit.engines.models.settings import choice, text
from kit.engines.prompt.backgrounds import background_problems
from kit.engines.prompt.colors import color_problems
from kit.engines.sizes import longest_side


class TitleCard(Engine):
    """Sets the prompt as a headline on a picture or a painted background."""

    definition = Definition(
        id="title-card",
        title="Title Card",
        asset_type="image",
        category="Generation",
        description=(
            "Writes the prompt as a headline on a calm part of your picture, or of a landscape"
            " painted by rules, with a contrast of at least 4.5:1. The fonts contain Latin, Greek,"
            " Cyrillic, Hebrew and Arabic letters, but no Chinese, Japanese, Korean or Indic ones;"
            " emoji are left out."
        ),
        settings=(
            choice("aspect_ratio", ("16:9", "1:1", "9:16", "4:5"), "Width to height"),
            settings.size(1280, 256, 2160),
            choice("style", tuple(STYLES), "Style of the title"),
            choice("font", ("auto", *FACES), "Typeface of the headline; auto follows the style"),
            settings.TITLE_PLACE,
            text("subtitle", "A smaller line above or below the headline"),
            text("accent", "Accent color, a name or #rrggbb", "auto"),
            text(
                "background",
                "'teal', 'navy to black' or 'foggy forest'; by default as the headline",
            ),
            *settings.picture_file(),
            settings.SEED,
        ),
        media=(settings.picture("The picture behind the title", required=False),),
        pricing=settings.prices("0.01", {"size": "0.00001"}),
    )

    def check(self, order: Order) -> settings.Problems:
        """Yield the problems of texts: letters without a font, words that cannot be painted."""
        values = order.parameters
        width, height = longest_side(values["aspect_ratio"], values["size"])
        style, small, shape = values["style"], values.get("subtitle") or "", (height, width)
        yield from headline_problems("prompt", order.prompt, values["font"], style, shape)
        yield from subtitle_problems("subtitle", small, style, shape)
        accent = values["accent"].strip()
        if accent.lower() not in ("", "auto"):
            yield from color_problems("accent", accent)
        if not order.media.get("image"):
            yield from background_problems("background", values.get("background") or "")

    def render(self, job: Job, progress: Progress) -> Asset:
        """Set the prompt on the picture or on a painted background."""
        from kit.engines.editing.title.titling import make_card

        return make_card(job, progress)
