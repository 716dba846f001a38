"""Sweeps: many requests, priced as a whole, made within the limits of the service, and compared."""

from __future__ import annotations

from kit.studio.sweeps.faces import AsyncSweeps, Sweeps
from kit.studio.sweeps.sweep import Sweep

__all__ = ["AsyncSweeps", "Sweep", "Sweeps"]
