"""OpenCV's threads: parallel work pays only for large pictures."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import cv2

_THREADS = cv2.getNumThreads()


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Make OpenCV run in the calling thread: to split a task of a millisecond costs a third more.

    OpenCV has one setting per process: when one block ends, others still open get all threads too.
    """
    cv2.setNumThreads(1)
    try:
        yield
    finally:
        cv2.setNumThreads(_THREADS)
