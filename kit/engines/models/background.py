"""Background: remove it, replace it, or blur it."""

from kit.engines.base import Asset, Definition, Engine, Job, Order, Progress
from kit.engines.models import settings
from kit.engines.models.settings import choice, number, text
from kit.engines.prompt.backgrounds import background_problems
from kit.engines.prompt.colors import color_problems


class Background(Engine):
    """Separates a subject from its background."""

    definition = Definition(
        id="background",
        title="Background",
        asset_type="image",
        category="Editing",
        description=(
            "Removes, replaces or blurs what is behind the subject. A small network finds people,"
            " animals and single things, and fitted colors their outlines: glass, hair, gaps, busy"
            " pictures and subjects in the color of their background come out roughly. Where a"
            " subject cannot be told apart it fails and costs nothing; a box or a rough mask tells"
            " it the subject. The prompt names a color, two for a gradient, or a landscape to"
            " paint. The result has at most 4,096 pixels a side."
        ),
        settings=(
            choice("operation", ("remove", "replace", "blur"), "What to do with the background"),
            text("color", "A name or #rrggbb, where nothing else is to replace it", "white"),
            number("blur_strength", 0.5, 0, 1, "How much the background is blurred; blur only"),
            number("feather", 0, 0, 40, "How far the subject's edge is softened, in pixels"),
            *settings.SUBJECT,
            *settings.picture_file("png", transparent=True),
            settings.SEED,
        ),
        media=(
            settings.picture("The picture with the subject"),
            settings.medium("backdrop", "image", "The new background; replace only"),
            settings.MASK,
        ),
        pricing=settings.prices("0.03", operation={"replace": "1.5"}),
        prompt_required=False,
    )

    def check(self, order: Order) -> settings.Problems:
        """Yield missing or useless backgrounds, unused files, and incomplete boxes."""
        if order.parameters["operation"] == "replace" and not order.media.get("backdrop"):
            if order.prompt.strip():
                yield from background_problems("prompt", order.prompt)
            else:
                yield from color_problems("color", order.parameters["color"])
        yield from settings.unused(order, "backdrop", "replace")
        yield from settings.subject_problems(order)

    def render(self, job: Job, progress: Progress) -> Asset:
        """Cut out the subject and composite it on the requested background."""
        from kit.engines.editing.picture.background import change_background

        return change_background(job, progress)
