"""Notices: what is worth a line to whoever works here, and is said once."""

from __future__ import annotations

import logging
from collections.abc import Callable

_log = logging.getLogger("kit")


class Notices:
    """Says each sentence once in a session; usable from many threads.

    Examples
    --------
    >>> def full() -> None:
    ...     raise OSError(28, "No space left on device")
    >>> Notices().try_write(full, "the price of gen_1")
    """

    def __init__(self) -> None:
        self._said: set[str] = set()

    def notify(self, sentence: str) -> None:
        """Say a sentence, unless it was said before."""
        if sentence not in self._said:
            self._said.add(sentence)
            _log.warning("%s", sentence)

    def try_write(self, write: Callable[[], object], what: str) -> None:
        """Write down what nothing depends on; where that fails it is said, and all goes on."""
        try:
            write()
        except OSError as error:
            self.notify(f"{what} could not be written down: {failure_reason(error)}")


def failure_reason(error: OSError) -> str:
    """Return why something could not be written, without a number.

    Examples
    --------
    >>> failure_reason(OSError(28, "No space left on device", "journal.jsonl"))
    'No space left on device'
    """
    return error.strerror or str(error) or type(error).__name__
