"""Errors of a language model: it is unavailable, or its answer is rejected.

The first ends an order; the second is sent back to the model, which may try again.
"""

from __future__ import annotations

import math

from kit.errors import UnavailableError

#: Seconds until another try makes sense, by default: longer than a client waits.
LATER = 60.0


class RejectedError(Exception):
    """An answer of the model that cannot be delivered.

    Parameters
    ----------
    kind : str
        What is wrong in a word; the model gets one chance to cure each kind.
    sentence : str
        What is wrong, for the customer.
    request : str
        What the model is asked to do about it.
    """

    def __init__(self, kind: str, sentence: str, request: str) -> None:
        super().__init__(sentence)
        self.kind = kind
        self.sentence = sentence
        self.request = request


def order_error(sentence: str, *, later: float | None = None) -> UnavailableError:
    """Return the error that ends an order."""
    seconds = LATER if later is None else max(1.0, later)
    return UnavailableError(
        f"{sentence}; nothing was charged", headers={"Retry-After": str(math.ceil(seconds))}
    )
