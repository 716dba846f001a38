"""How a title card is made: a background of the right shape, then the title on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kit.engines.base import Asset, Job, Progress
from kit.engines.editing.picture.finish import color_of, finished, flat, source
from kit.engines.editing.picture.framing import scaled
from kit.engines.editing.picture.painted import behind, landscape
from kit.engines.editing.title.titling import Title, titled
from kit.engines.media.color import Bytes
from kit.engines.media.crops import cut
from kit.engines.prompt.backgrounds import asks_for_place
from kit.engines.prompt.reading import read
from kit.engines.sizes import longest_side

#: Of the width: a landscape is painted wider than the card, and that part of it is shown where the
#: sun is off the title.
_SPARE = 0.2


def make_card(job: Job, progress: Progress) -> Asset:
    """Render a job of the title-card model."""
    progress.report(0.0)
    values = job.parameters
    accent = values["accent"].strip().lower()
    title = Title(
        headline=job.prompt,
        subtitle=values.get("subtitle") or "",
        face=values["font"],
        style=values["style"],
        position=values["position"],
        accent=None if accent in ("", "auto") else color_of(accent),
    )
    width, height = longest_side(values["aspect_ratio"], values["size"])
    painted = not job.media.get("image")
    spare = round(_SPARE * width) if painted and _is_place(values) else 0
    ground = _background(job, (width + spare, height), progress)
    progress.report(0.3)
    setting = progress.part(0.3, 0.8)
    pixels, facts = titled(ground, title, spare=spare, painted=painted, report=setting.report)
    return finished(job, progress, "title-card", pixels, facts={**facts, "seed": job.seed})


def _is_place(values: Mapping[str, Any]) -> bool:
    words = (values.get("background") or "").strip()
    return not words or asks_for_place(words)


def _background(job: Job, size: tuple[int, int], progress: Progress) -> Bytes:
    width, height = size
    if job.media.get("image"):
        picture = flat(source(job))
        progress.report(0.15)
        return scaled(cut(picture, width / height), width, height)
    words = (job.parameters.get("background") or "").strip()
    if words:
        return behind(words, width, height, job.seed, progress)
    brief = read(job.prompt, {}, job.seed, family="poster")
    return landscape(brief, width, height, progress)
