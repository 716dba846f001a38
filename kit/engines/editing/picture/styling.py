"""How a picture is restyled: redrawn, graded, mixed with what it was, and titled."""

from __future__ import annotations

import cv2

from kit.engines.base import Asset, Job, Progress
from kit.engines.editing.picture.grading import bands, color_matrix, finished, flat, graded, source
from kit.engines.editing.picture.looks import NOTHING, Look, is_idle, look_of, manner_of
from kit.engines.editing.picture.printing import redrawn
from kit.engines.editing.title.titling import Title, titled
from kit.engines.media.color import Bytes
from kit.engines.media.stills import Still
from kit.engines.prompt.styles import read_style
from kit.engines.sizes import MOST, MOST_IN_BANDS
from kit.errors import EngineError

_FLAT = {"poster": 2.5}
_ROWS = 256  # of a band


def restyle(job: Job, progress: Progress) -> Asset:
    """Render a job of the restyle model."""
    progress.report(0.0)
    values = job.parameters
    style = read_style(job.prompt)
    name, look = look_of(values["look"], style)
    manner = manner_of(values["stylize"], style)
    text = (values.get("text") or "").strip()
    if is_idle(job.prompt, values):
        raise EngineError(NOTHING, code="nothing_to_do")
    # A grading keeps the size; what is redrawn or set in type is worked on whole.
    plain = manner == "none" and not text
    still = source(job, most=MOST_IN_BANDS if plain else MOST, clear=MOST)
    progress.report(0.1)
    pixels = _styled(still.pixels, look, manner, progress.part(0.1, 0.7))
    share = _share(values["strength"], manner)
    mixed = _mixed(still.pixels, pixels, share, colored=1.0 if look.saturation else 1.0 - 2 * share)
    progress.report(0.75)
    words = {"used": list(style.used), "unused": list(style.unused)}
    facts, alpha = {"look": name, "stylize": manner, "words": words}, still.alpha
    if text:
        # What is see-through would take parts of letters along.
        mixed, alpha = flat(Still(mixed, alpha)), None
        title = Title(headline=text, face=values["font"], position=values["position"])
        setting = progress.part(0.75, 0.85)
        mixed, placed = titled(mixed, title, report=setting.report)
        facts = {**facts, **placed}
    progress.report(0.85)
    return finished(job, progress, "restyle", mixed, alpha=alpha, facts=facts)


def _styled(pixels: Bytes, look: Look, manner: str, progress: Progress) -> Bytes:
    if manner != "none":
        pixels = redrawn(pixels, manner, progress)
    progress.report(0.9)
    return graded(pixels, look) if look != Look() else pixels


def _share(strength: float, manner: str) -> float:
    """Return how much of the new picture is taken; what shows through flat inks dirties them."""
    return float(1.0 - (1.0 - strength) ** _FLAT.get(manner, 1.0))


def _mixed(old: Bytes, new: Bytes, share: float, *, colored: float) -> Bytes:
    """Return the new picture with some of the old one, in the memory of the new one.

    Parameters
    ----------
    colored : float
        How much of its color the old one keeps: what shows through a look without colors must not
        bring them back, so from half of its strength on none is left.
    """
    matrix = color_matrix(max(0.0, colored))
    for rows, _, _ in bands(len(new), _ROWS, 0):
        below = old[rows] if colored >= 1.0 else cv2.transform(old[rows], matrix)
        cv2.addWeighted(new[rows], share, below, 1.0 - share, 0.0, dst=new[rows])
    return new
