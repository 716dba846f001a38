"""Restyle: another look for a picture, by color grading and redrawing."""

from kit.engines.base import Asset, Definition, Engine, Job, Order, Progress
from kit.engines.editing.picture.looks import LOOKS, NOTHING, is_idle
from kit.engines.editing.title import USUAL, headline_problems
from kit.engines.media.fonts import FACES
from kit.engines.models import settings
from kit.engines.models.settings import choice, number, text

_MANNERS = ("auto", "none", "painting", "sketch", "poster")


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
            " or from words such as 'moody teal' or 'like a Van Gogh painting'; what the picture"
            " shows stays as it is. Drawings are made at up to 1,600 pixels and enlarged; what is"
            " redrawn, titled or see-through is made smaller beyond 4,096 pixels a side."
        ),
        settings=(
            choice("look", ("auto", "none", *LOOKS), "Color grading; auto: as the prompt asks"),
            choice("stylize", _MANNERS, "Redraws the picture; auto: as the prompt asks"),
            number("strength", 0.8, 0, 1, "How much of the new look is mixed in"),
            text("text", "A title set on the picture; what is see-through becomes white"),
            settings.TITLE_PLACE,
            choice("font", ("auto", *FACES), "Typeface of the title"),
            *settings.picture_file(transparent=True),
        ),
        media=(settings.picture("The picture to restyle"),),
        # A sentence may ask for a painting, so auto costs as much.
        pricing=settings.prices(
            "0.02", stylize={"auto": "2", "painting": "2", "sketch": "1.5", "poster": "1.5"}
        ),
        prompt_required=False,
    )

    def check(self, order: Order) -> settings.Problems:
        """Yield the problem if nothing would change, or if no font has the letters of the title."""
        if is_idle(order.prompt, order.parameters):
            yield "look", NOTHING
        values = order.parameters
        yield from headline_problems("text", values.get("text") or "", values["font"], USUAL)

    def render(self, job: Job, progress: Progress) -> Asset:
        """Grade and redraw the picture as setting and prompt ask."""
        from kit.engines.editing.picture.restyling import restyle

        return restyle(job, progress)
