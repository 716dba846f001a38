"""Loops: detects whether the notebook's own event loop was made re-entrant.

`nest_asyncio.apply()` on the loop of a kernel from ipykernel 7.1 on loses all messages that arrive
while it runs nested: queued cells are never executed and clicks are lost, without an error.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from typing import Any

WARNING = (
    "nest_asyncio.apply() has patched this kernel's event loop: with ipykernel {kernel}, cells "
    "that wait their turn and clicks get lost. Restart the kernel and leave the call out: the kit "
    "does not need it, and `await` works in a cell."
)
_FIRST_LOSSY_RELEASE = (7, 1)
_warned: list[str] = []


def warn() -> None:
    """Warn, once, if the running loop was patched in a way that loses messages."""
    if "nest_asyncio" in sys.modules and not _warned and (sentence := patch_warning()):
        _warned.append(sentence)
        warnings.warn(sentence, RuntimeWarning, stacklevel=4)


def patch_warning(loop: Any = None, *, modules: Mapping[str, Any] = sys.modules) -> str | None:
    """Return a warning if a kernel's loop was patched so that it loses messages, else None."""
    import asyncio  # not at the top: blocking use never loads it

    if loop is None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return None
    # its successor, part of ipykernel, queues the messages that the first one loses
    if not hasattr(type(loop), "_nest_patched") or hasattr(type(loop), "_nest_asyncio2"):
        return None
    kernel = getattr(modules.get("ipykernel"), "__version__", "0")  # none if no kernel runs
    release = tuple(int(part) for part in kernel.split(".")[:2] if part.isdigit())
    return WARNING.format(kernel=kernel) if release >= _FIRST_LOSSY_RELEASE else None
