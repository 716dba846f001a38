"""The awaited face of the studio."""

from __future__ import annotations

from kit.studio.aio.generation import AsyncGeneration, AsyncOutput
from kit.studio.aio.studio import AsyncStudio

__all__ = ["AsyncGeneration", "AsyncOutput", "AsyncStudio"]
