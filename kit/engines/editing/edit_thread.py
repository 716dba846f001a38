"""Edits run in a thread, while the caller's thread reports progress and can be canceled.

A single call of OpenCV or an encoder may take a second on a large picture and cannot be stopped; a
canceled job does not wait for it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TypeAlias

from kit.engines.base import Asset, Job, Progress

_REPORT_SECONDS = 0.2  # seconds after which unchanged progress is reported again

Edit: TypeAlias = Callable[[Job, Progress], Asset]


def keep_reporting(edit: Edit) -> Edit:
    """Make an edit report progress at least every fifth of a second.

    After a cancel its thread continues until its next report, and writes nothing more.
    """

    @functools.wraps(edit)
    def run(job: Job, progress: Progress) -> Asset:
        progress.check()
        reports: SimpleQueue[float | None] = SimpleQueue()
        inner = Progress(reports.put)
        known: float | None = 0.0
        pool = ThreadPoolExecutor(1, thread_name_prefix="edit")
        future = pool.submit(edit, job, inner)
        future.add_done_callback(lambda _: reports.put(None))
        pool.shutdown(wait=False)
        try:
            while known is not None:
                progress.report(known)
                with suppress(Empty):
                    known = reports.get(timeout=_REPORT_SECONDS)
        except BaseException:
            inner.cancel()
            raise
        return future.result()

    return run
