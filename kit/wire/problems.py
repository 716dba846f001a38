"""What goes wrong."""

from __future__ import annotations

from typing import Any

from kit.wire.base import Wire


class Problem(Wire):
    """What went wrong. Source: API document, "Errors"; contract, "Conventions"."""

    code: str = ""
    message: str = ""
    details: Any = None
    request_id: str | None = None


class Problems(Wire):
    """The envelope of every error answer."""

    error: Problem
