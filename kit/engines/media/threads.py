"""Threads: OpenCV shares its work among some, which pays only for large pictures."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import cv2

_TURNS = threading.Lock()
#: OpenCV's number of threads before, once for each work that does with one.
_BEFORE: list[int] = []


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let OpenCV work in the thread that calls it: sharing a millisecond costs a third more.

    OpenCV has one number of threads for the whole process; the last work to end sets it back.
    """
    with _TURNS:
        if not _BEFORE:
            _BEFORE.append(cv2.getNumThreads())
            cv2.setNumThreads(1)
        else:
            _BEFORE.append(_BEFORE[0])
    try:
        yield
    finally:
        with _TURNS:
            before = _BEFORE.pop()
            if not _BEFORE:
                cv2.setNumThreads(before)
