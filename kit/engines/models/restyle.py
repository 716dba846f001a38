"""Restyle: another look for a picture, by color grading and by redrawing it."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from kit.engines.base import Asset, Definition, Engine, Job, Order, Problem, Progress
from kit.engines.editing.picture.looks import LOOKS, NOTHING, is_idle
from kit.engines.editing.title.styles import USUAL, headline_problems
from kit.engines.media.fonts import FACES
from kit.engines.models import picture_settings
from kit.wire import Multiplier, Rule


class Restyle(Engine):
    """Gives a picture another look."""

    definition = Definition(
        id="restyle",
        title="Restyle",
        asset_type="image",
        category="Editing",
        description=(
            "Grades a picture's colors (cinematic, noir, vintage ...), redraws it as painting,"
            " pencil sketch or flat poster, and can set a title on it. Both come from the settings"
            " or from words of the prompt, such as 'moody teal' or 'like a Van Gogh painting';"
            " other words do nothing, and what the picture shows stays as it is. Drawings are made"
            " at up to 1,600 pixels and enlarged; what is redrawn, titled or see-through is made"
            " smaller beyond 4,096 pixels a side."
        ),
        settings=(
            picture_settings.choice(
                "look",
                "auto",
                ("auto", "none", *LOOKS),
                "Color grading; auto takes it from the prompt",
            ),
            picture_settings.choice(
                "stylize",
                "auto",
                ("auto", "none", "painting", "sketch", "poster"),
                "Redraws the picture before it is graded; auto takes it from the prompt, at"
                " the price of a painting",
            ),
            picture_settings.share(
                "strength",
                0.8,
                "How much of the new look is mixed in; black and white has no color from 0.5 on",
            ),
            picture_settings.text(
                "text",
                "A title set on the picture, in Latin, Greek, Cyrillic, Hebrew or Arabic letters;"
                " emoji are left out, and what is see-through becomes white",
            ),
            picture_settings.choice(
                "position",
                "auto",
                ("auto", "top", "center", "bottom"),
                "Where the title stands; auto finds the quietest place",
            ),
            picture_settings.choice("font", "auto", ("auto", *FACES), "Typeface of the title"),
            picture_settings.file_format(transparent=True),
            picture_settings.quality(),
        ),
        media=(picture_settings.medium("image", "The picture to restyle"),),
        pricing=Rule(
            base=Decimal("0.02"),
            multipliers=[
                Multiplier(
                    parameter="stylize",
                    values={
                        # A sentence may ask for a painting.
                        "auto": Decimal(2),
                        "painting": Decimal(2),
                        "sketch": Decimal("1.5"),
                        "poster": Decimal("1.5"),
                    },
                )
            ],
        ),
        prompt_required=False,
    )

    def check(self, order: Order) -> Iterator[Problem]:
        """Yield that nothing would change, or that no font has the letters of the title."""
        if is_idle(order.prompt, order.parameters):
            yield "look", NOTHING
        values = order.parameters
        yield from headline_problems("text", values.get("text") or "", values["font"], USUAL)

    def render(self, job: Job, progress: Progress) -> Asset:
        """Grade and redraw the picture as setting and prompt ask."""
        from kit.engines.editing.attending import attended
        from kit.engines.editing.picture.styling import restyle

        return attended(job, progress, restyle)
