"""Grades: what moods and tones of light make of the film that a painter chose."""

from __future__ import annotations

from dataclasses import replace

from kit.engines.painting.tone import Film
from kit.engines.prompt.brief import Brief

_DARKEST = 0.56  # share of its light that a picture keeps whatever is said


def printed(film: Film, brief: Brief) -> Film:
    """Return a film as a brief's grade changes it."""
    grade = brief.grade
    return replace(
        film,
        exposure=film.exposure * max(grade.exposure, _DARKEST),
        contrast=film.contrast * grade.contrast,
        saturation=film.saturation * grade.saturation,
        vignette=min(0.75, max(0.0, film.vignette + grade.corners)),
        lift=min(0.4, film.lift + grade.lift),
    )
