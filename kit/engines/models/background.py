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
            "Removes, replaces or blurs the background. A small network finds people, animals and"
            " single objects, and their colors refine the outline; glass, hair, gaps, busy pictures"
            " and subjects in the color of their background become imprecise. If no subject is"
            " found, the generation fails and is refunded; mark the subject with a box or a rough"
            " mask. The prompt may name a color, two colors for a gradient, or a landscape. Results"
            " have at most 4,096 pixels per side."
        ),
        settings=(
            choice("operation", ("remove", "replace", "blur"), "What to do with the background"),
            text("color", "New color without backdrop and prompt: a name or #rrggbb", "white"),
            number("blur_strength", 0.5, 0, 1, "How much the background is blurred; only for blur"),
            number("feather", 0, 0, 40, "Softness of the subject's edge, in pixels"),
            *settings.SUBJECT,
            *settings.picture_file("png", transparent=True),
            settings.SEED,
        ),
        media=(
            settings.picture("The picture with the subject"),
            settings.medium("backdrop", "image", "The new background; only for replace"),
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
        yield from settings.unused_problems(order, "backdrop", "replace")
        yield from settings.subject_problems(order)

    def render(self, job: Job, progress: Progress) -> Asset:
        """Cut out the subject and composite it on the requested background."""
        from kit.engines.editing.picture.background import change_background

        return change_background(job, progress)
