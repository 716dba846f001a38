"""Whether a start may be sent once more: who is known to honor idempotency keys.

The API document knows no such keys, so a service that says nothing is taken not to know them: what
was lost on the way back may have been charged for, and sending it again would charge twice.
"""

from __future__ import annotations

from collections.abc import Mapping


def tells(headers: Mapping[str, str]) -> bool:
    """Return whether an answer shows that its service honors keys: it was kept from before."""
    return headers.get("idempotency-replayed", "").lower() == "true"
