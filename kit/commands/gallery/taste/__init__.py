"""What shows the known models at their best: words, inputs, and examples worth a place.

Models that are not named here get what the rules of `kit.commands.gallery.plan` give them.
"""

from __future__ import annotations

from collections.abc import Mapping

from kit.commands.gallery.taste.images import IMAGES
from kit.commands.gallery.taste.shape import NONE, Taste, Variant
from kit.commands.gallery.taste.videos import VIDEOS
from kit.commands.gallery.taste.words import WORDS

__all__ = ["NONE", "TASTES", "WORDS", "Taste", "Variant"]

#: By model id.
TASTES: Mapping[str, Taste] = {**IMAGES, **VIDEOS}
