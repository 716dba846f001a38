"""Title Card: a headline on a picture, sized, placed and lit so that it reads at a glance."""

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
from kit.engines.editing.title.styles import STYLES, headline_problems, subtitle_problems
from kit.engines.media.fonts import FACES
from kit.engines.models import picture_settings
from kit.engines.prompt.backgrounds import ground_problems
from kit.engines.prompt.colors import color_problems
from kit.engines.sizes import longest_side
from kit.wire import Rule, UnitPrice

_ASPECTS = ("16:9", "1:1", "9:16", "4:5")


class TitleCard(Engine):
    """Sets the prompt as a headline on a picture or a painted background."""

    definition = Definition(
        id="title-card",
        title="Title Card",
        asset_type="image",
        category="Generation",
        description=(
            "Sets the prompt as a headline, word for word, on your picture or on a landscape"
            " painted by rule. Lines are balanced, the quietest part of the picture is chosen, and"
            " the text is shaded to a contrast of at least 4.5:1. The fonts have Latin, Greek,"
            " Cyrillic, Hebrew and Arabic letters, not Chinese, Japanese, Korean or Indic ones;"
            " emoji are left out."
        ),
        settings=(
            picture_settings.choice("aspect_ratio", "16:9", _ASPECTS, "Width to height"),
            picture_settings.side(1280, most=2160),
            picture_settings.choice("style", "bold", tuple(STYLES), "How the title looks"),
            picture_settings.choice(
                "font", "auto", ("auto", *FACES), "Typeface of the headline; auto suits the style"
            ),
            picture_settings.choice(
                "position",
                "auto",
                ("auto", "top", "center", "bottom"),
                "Where the title stands; auto finds the quietest place",
            ),
            picture_settings.text("subtitle", "A smaller line below or above the headline"),
            picture_settings.text(
                "accent",
                "Color of what is stressed, a name or #rrggbb; lightened where it would not read",
                "auto",
            ),
            picture_settings.text(
                "background",
                "Words for the background where there is no picture, such as 'teal', 'navy to"
                " black' or 'foggy forest'; without them the headline's words direct a landscape",
            ),
            picture_settings.file_format(),
            picture_settings.quality(),
            seed_parameter(),
        ),
        media=(picture_settings.medium("image", "The picture behind the title", required=False),),
        pricing=Rule(
            base=Decimal("0.01"),
            units=[UnitPrice(parameter="size", credits=Decimal("0.00001"))],
        ),
    )

    def check(self, order: Order) -> Iterator[Problem]:
        """Yield what cannot be set or painted: letters without a font, words without a picture."""
        values = order.parameters
        width, height = longest_side(values["aspect_ratio"], values["size"])
        style, small, shape = values["style"], values.get("subtitle") or "", (height, width)
        yield from headline_problems("prompt", order.prompt, values["font"], style, shape)
        yield from subtitle_problems("subtitle", small, style, shape)
        accent = values["accent"].strip()
        if accent.lower() not in ("", "auto"):
            yield from color_problems("accent", accent)
        if not order.media.get("image"):
            yield from ground_problems("background", values.get("background") or "")

    def render(self, job: Job, progress: Progress) -> Asset:
        """Set the prompt on the picture or on a painted background."""
        from kit.engines.editing.attending import attended
        from kit.engines.editing.title.titling import make_card

        return attended(job, progress, make_card)
