"""The blocking face of the studio."""

from __future__ import annotations

from kit.studio.sync.generation import Generation, Output
from kit.studio.sync.studio import Studio

__all__ = ["Generation", "Output", "Studio"]
