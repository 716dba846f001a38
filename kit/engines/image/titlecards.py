"""How a title card is made: a background of the right shape, then the title on it."""

from __future__ import annotations

from kit.engines.base import Asset, Job, Progress
from kit.engines.image.editing.finish import color_of, finished, flat, source
from kit.engines.image.editing.framing import scaled
from kit.engines.image.editing.painted import behind, landscape
from kit.engines.image.editing.titling import Title, titled
from kit.engines.landscape.settings import longest_side
from kit.engines.media.color import Bytes
from kit.engines.media.crops import cut


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
    ground = _background(job, progress)
    progress.report(0.6)
    pixels, facts = titled(ground, title)
    progress.report(0.8)
    return finished(job, progress, "title-card", pixels, facts={**facts, "seed": job.seed})


def _background(job: Job, progress: Progress) -> Bytes:
    width, height = longest_side(job.parameters["aspect_ratio"], job.parameters["size"])
    if job.media.get("image"):
        return scaled(cut(flat(source(job)), width / height), width, height)
    words = (job.parameters.get("background") or "").strip()
    if words:
        return behind(words, width, height, job.seed, progress)
    return landscape(job.prompt, width, height, job.seed, progress)
