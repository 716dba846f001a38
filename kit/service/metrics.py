"""What the service counts about itself: plain numbers, cheap enough for every request.

Nothing here knows how they are published; `kit.service.http.metrics` does. Each application has its
own, so that several in one process do not count each other's.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

#: Bounds in seconds: of an answer, of a commit, of a render.
_ANSWER = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_COMMIT = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
_RENDER = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0)
_BATCH = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)


@dataclass(frozen=True, slots=True, eq=False)
class Meter:
    """One thing that is counted, or measured where it has bounds."""

    name: str
    help: str
    labels: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()


REQUESTS = Meter("kit_http_requests", "Requests answered.", ("method", "route", "status"))
REQUEST_SECONDS = Meter(
    "kit_http_request_seconds",
    "Time until an answer had left; for the event stream, until it was closed.",
    ("method", "route"),
    _ANSWER,
)
FINISHED = Meter(
    "kit_generations_finished",
    "Generations that this process brought to their end, by model and state.",
    ("model", "state"),
)
LOST = Meter("kit_generations_lost", "Attempts whose worker was lost.")
RENDER_SECONDS = Meter(
    "kit_render_seconds", "Time that a render process spent on a job.", ("model",), _RENDER
)
COMMIT_SECONDS = Meter(
    "kit_database_commit_seconds", "Time of one commit of the database's writer.", (), _COMMIT
)
COMMIT_SIZE = Meter(
    "kit_database_commit_transactions", "Transactions that shared one commit.", (), _BATCH
)
METERS = (REQUESTS, REQUEST_SECONDS, FINISHED, LOST, RENDER_SECONDS, COMMIT_SECONDS, COMMIT_SIZE)

Labels = tuple[str, ...]


class Measured:
    """How often a measured value fell below each bound, and the sum of all of them."""

    __slots__ = ("counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def buckets(self, bounds: tuple[float, ...]) -> Iterator[tuple[str, int]]:
        """Yield each bound as text with how many values were at most that."""
        below = 0
        for bound, count in zip((*bounds, float("inf")), list(self.counts), strict=True):
            below += count
            yield ("+Inf" if bound == float("inf") else str(bound)), below


class ServiceMetrics:
    """The counts of one running service.

    A meter is only ever counted from one thread, so there is no lock: the commits by the database's
    writer, everything else by the event loop.

    Examples
    --------
    >>> metrics = ServiceMetrics()
    >>> metrics.count(LOST)
    >>> dict(metrics.counted(LOST))
    {(): 1}
    """

    def __init__(self) -> None:
        self._counts: dict[Meter, dict[Labels, int]] = {m: {} for m in METERS if not m.bounds}
        self._measured: dict[Meter, dict[Labels, Measured]] = {m: {} for m in METERS if m.bounds}

    def count(self, meter: Meter, *labels: str, by: int = 1) -> None:
        """Count something that happened."""
        counts = self._counts[meter]
        counts[labels] = counts.get(labels, 0) + by

    def measure(self, meter: Meter, value: float, *labels: str) -> None:
        """Note one measured value."""
        known = self._measured[meter]
        measured = known.get(labels)
        if measured is None:
            measured = known[labels] = Measured(meter.bounds)
        measured.counts[bisect_left(meter.bounds, value)] += 1
        measured.total += value

    def counted(self, meter: Meter) -> list[tuple[Labels, int]]:
        """Return what was counted, by labels."""
        return list(self._counts[meter].items())

    def measured(self, meter: Meter) -> list[tuple[Labels, Measured]]:
        """Return what was measured, by labels."""
        return list(self._measured[meter].items())
