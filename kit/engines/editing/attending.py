"""Attending: an edit goes on in a thread, while the caller's thread reports and listens.

A single call of OpenCV or of an encoder may take a second on a large picture and cannot be
stopped; a job that is canceled does not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue

from kit.engines.base import Asset, Job, Progress

_BEAT = 0.2  # seconds without news after which what is known is reported again


def attended(job: Job, progress: Progress, edit: Callable[[Job, Progress], Asset]) -> Asset:
    """Return what an edit makes of a job, reporting at least every fifth of a second.

    Parameters
    ----------
    edit : callable
        It is given a progress of its own. After a cancel it is left behind, stops at its next
        report and writes nothing more.

    Raises
    ------
    CanceledError
        The job is not wanted any more.
    """
    progress.check()
    news: SimpleQueue[float | None] = SimpleQueue()
    inner = Progress(news.put)
    pool = ThreadPoolExecutor(1, thread_name_prefix="edit")
    future = pool.submit(edit, job, inner)
    future.add_done_callback(lambda _: news.put(None))
    pool.shutdown(wait=False)
    try:
        _relay(news, progress)
    except BaseException:
        inner.cancel()
        raise
    return future.result()


def _relay(news: SimpleQueue[float | None], progress: Progress) -> None:
    known: float | None = 0.0
    while known is not None:
        progress.report(known)
        known = _next(news, known)


def _next(news: SimpleQueue[float | None], known: float) -> float | None:
    try:
        return news.get(timeout=_BEAT)
    except Empty:
        return known
