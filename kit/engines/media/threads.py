"""Threads: OpenCV shares its work among some, which pays only for large pictures."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import cv2

_ALL = cv2.getNumThreads()


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let OpenCV work in the thread that calls it: sharing a millisecond costs a third more.

    OpenCV has one number for the whole process: what still works when another ends has all again.
    """
    cv2.setNumThreads(1)
    try:
        yield
    finally:
        cv2.setNumThreads(_ALL)
