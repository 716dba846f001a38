"""Metrics of the service for Prometheus.

Each application has its own metrics: several in one process do not mix. They are plain numbers; the
library that formats them is imported when they are first requested.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from kit.version import __version__

if TYPE_CHECKING:
    from prometheus_client.core import Metric

#: Bucket bounds in seconds of responses, commits, renders; and in transactions per commit.
_ANSWER_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_COMMIT_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
_RENDER_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0)
_BATCH_SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)


class Count:
    """A number for each combination of label values; without labels it starts at 0.

    `kind` is the class in the library: ``Counter`` or ``Gauge``. Only one thread may change it.
    """

    def __init__(self, kind: str, name: str, text: str, labels: Sequence[str] = ()) -> None:
        self.kind, self.name, self.text, self.labels = kind, name, text, labels
        self._values: dict[tuple[str, ...], float] = {} if labels else {(): 0}

    def inc(self, *labels: str, by: float = 1) -> None:
        """Add to a number."""
        self._values[labels] = self._values.get(labels, 0) + by

    def set(self, value: float, *labels: str) -> None:
        """Replace a number."""
        self._values[labels] = value

    def clear(self) -> None:
        """Remove all values, because they are unknown now."""
        self._values.clear()

    def samples(self) -> Iterator[tuple[Any, ...]]:
        """Yield the samples for a metric family of the library."""
        yield from list(self._values.items())


class Histogram:
    """The number of values in each bucket, and their sum, for each combination of labels."""

    kind = "Histogram"

    def __init__(
        self, name: str, text: str, bounds: Sequence[float], labels: Sequence[str] = ()
    ) -> None:
        self.name, self.text, self.labels = name, text, labels
        self._bounds = bounds
        self._counts: dict[tuple[str, ...], list[int]] = {}
        self._sums: dict[tuple[str, ...], float] = {}
        if not labels:
            self._begin(())

    def _begin(self, labels: tuple[str, ...]) -> list[int]:
        self._sums[labels] = 0.0
        return self._counts.setdefault(labels, [0] * (len(self._bounds) + 1))

    def observe(self, value: float, *labels: str) -> None:
        """Add a value."""
        counts = self._counts.get(labels) or self._begin(labels)
        counts[bisect_left(self._bounds, value)] += 1
        self._sums[labels] += value

    def samples(self) -> Iterator[tuple[Any, ...]]:
        """Yield the samples for a metric family of the library."""
        names = [*map(str, self._bounds), "+Inf"]
        for labels, counts in list(self._counts.items()):
            yield labels, list(zip(names, accumulate(counts), strict=True)), self._sums[labels]


class ServiceMetrics:
    """The metrics of one running service.

    Requests and jobs are counted as they happen; queue and credits are read from the database for
    each scrape, so that they include the changes of other processes.
    """

    def __init__(self) -> None:
        #: Id of the last ledger entry that was counted.
        self.ledger_read = ""
        counter, gauge = partial(Count, "Counter"), partial(Count, "Gauge")
        route = ["method", "route"]
        self.requests = counter("kit_http_requests", "Requests answered.", [*route, "status"])
        text = "Time until an answer had left; for the event stream, until it was closed."
        self.request_seconds = Histogram("kit_http_request_seconds", text, _ANSWER_SECONDS, route)
        text = "Generations that this process brought to their end, by model and state."
        self.finished = counter("kit_generations_finished", text, ["model", "state"])
        self.lost = counter("kit_generations_lost", "Attempts whose worker was lost.")
        text = "Time that a render process spent on a job."
        self.render_seconds = Histogram("kit_render_seconds", text, _RENDER_SECONDS, ["model"])
        text = "Time of one commit of the database's writer."
        self.commit_seconds = Histogram("kit_database_commit_seconds", text, _COMMIT_SECONDS)
        text = "Transactions that shared one commit."
        self.commit_size = Histogram("kit_database_commit_transactions", text, _BATCH_SIZES)
        self.database = gauge("kit_database_up", "Whether the database answers, 1 or 0.")
        self.jobs = gauge("kit_jobs", "Generations of the database by state.", ["state"])
        self.queued = gauge("kit_queue_depth", "Those that wait.")
        self.jobs_here = gauge("kit_jobs_here", "Jobs that this process renders now.")
        self.workers = gauge("kit_workers", "Jobs that this process can render at a time.")
        self.streams = gauge("kit_event_streams", "Open event streams.")
        text = "Webhook deliveries that this process ended by an attempt, delivered or failed."
        self.deliveries = counter("kit_webhook_deliveries", text, ["state"])
        for state in ("delivered", "failed"):  # from 0, so that the first failure is an increase
            self.deliveries.inc(state, by=0)
        text = "Webhook deliveries that wait, also for another attempt."
        self.deliveries_pending = gauge("kit_webhook_deliveries_pending", text)
        text = "Credits charged in the database, by kind."
        self.charged = counter("kit_credits_charged", text, ["kind"])
        self.refunded = counter("kit_credits_refunded", "Credits given back in the database.")
        self.release = gauge("kit_build_info", "The release that runs.", ["version"])
        self.release.set(1, __version__)

    def measure_commit(self, size: int, seconds: float) -> None:
        """Record a commit of several transactions."""
        self.commit_size.observe(size)
        self.commit_seconds.observe(seconds)

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics as objects of the library."""
        from prometheus_client import core

        for count in vars(self).values():
            if isinstance(count, Count | Histogram):
                family = getattr(core, f"{count.kind}MetricFamily")
                metric = family(count.name, count.text, labels=count.labels)
                for sample in count.samples():
                    metric.add_metric(*sample)
                yield metric

    def text(self) -> tuple[bytes, str]:
        """Return all metrics in the Prometheus text format, and its content type."""
        from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

        registry = CollectorRegistry()
        registry.register(self)
        return generate_latest(registry), CONTENT_TYPE_LATEST
