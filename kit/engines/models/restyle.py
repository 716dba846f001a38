"""Restyle: another look for a picture, by color grading and redrawing."""

from kit.engines.base import Asset, Definition, Engine, Job, Order, Progress
from kit.engines.editing.picture.looks import LOOKS, NO_CHANGE, is_idle
from kit.engines.editing.title import DEFAULT, headline_problems
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
            "Grades a picture's colors (cinematic, noir, vintage ...), redraws it as a painting,"
            " pencil sketch or flat poster, and can add a title. Look and style are chosen by the"
            " settings or by words such as 'moody teal' or 'like a Van Gogh painting'; the content"
            " stays the same. Drawings are made at up to 1,600 pixels and enlarged; drawings,"
            " titled and transparent pictures are reduced to 4,096 pixels per side."
        ),
        settings=(
            choice("look", ("auto", "none", *LOOKS), "Color grade; auto follows the prompt"),
            choice("stylize", _MANNERS, "Redraw the picture; auto follows the prompt"),
            number("strength", 0.8, 0, 1, "How much of the new look is mixed in"),
            text("text", "A title on the picture; transparent parts become white"),
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
            yield "look", NO_CHANGE
        values = order.parameters
        yield from headline_problems("text", values.get("text") or "", values["font"], DEFAULT)

    def render(self, job: Job, progress: Progress) -> Asset:
        """Grade and redraw the picture as setting and prompt ask."""
        from kit.engines.editing.picture.restyling import restyle

        return restyle(job, progress)
