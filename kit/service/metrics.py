"""What the service counts about itself, for Prometheus.

Each application has a registry of its own: several in one process do not count each other's.
"""

from __future__ import annotations

from functools import partial

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)

from kit.version import __version__

__all__ = ["CONTENT_TYPE_LATEST", "ServiceMetrics"]

#: Bounds in seconds: of an answer, of a commit, of a render; and transactions in a commit.
_ANSWER = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_COMMIT = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
_RENDER = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0)
_BATCH = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)

# Else each counter has a second series that tells when it began.
disable_created_metrics()  # type: ignore[no-untyped-call]


class ServiceMetrics:
    """The counts of one running service.

    Requests and jobs are counted where they happen; queue and credits are read from the database
    for each answer, so that they are right whichever process wrote them.
    """

    def __init__(self) -> None:
        #: The last entry of the ledger that was counted.
        self.ledger_read = ""
        self.registry = CollectorRegistry()
        counter = partial(Counter, registry=self.registry)
        gauge = partial(Gauge, registry=self.registry)
        histogram = partial(Histogram, registry=self.registry)
        route = ["method", "route"]
        self.requests = counter("kit_http_requests", "Requests answered.", [*route, "status"])
        text = "Time until an answer had left; for the event stream, until it was closed."
        self.request_seconds = histogram("kit_http_request_seconds", text, route, buckets=_ANSWER)
        text = "Generations that this process brought to their end, by model and state."
        self.finished = counter("kit_generations_finished", text, ["model", "state"])
        self.lost = counter("kit_generations_lost", "Attempts whose worker was lost.")
        text = "Time that a render process spent on a job."
        self.render_seconds = histogram("kit_render_seconds", text, ["model"], buckets=_RENDER)
        text = "Time of one commit of the database's writer."
        self.commit_seconds = histogram("kit_database_commit_seconds", text, buckets=_COMMIT)
        text = "Transactions that shared one commit."
        self.commit_size = histogram("kit_database_commit_transactions", text, buckets=_BATCH)
        self.jobs = gauge("kit_jobs", "Generations of the database by state.", ["state"])
        self.queued = gauge("kit_queue_depth", "Those that wait.")
        self.jobs_here = gauge("kit_jobs_here", "Jobs that this process has rendered.")
        self.workers = gauge("kit_workers", "Jobs this process renders at a time.")
        self.streams = gauge("kit_event_streams", "Open event streams.")
        text = "Credits charged in the database, by kind."
        self.charged = counter("kit_credits_charged", text, ["kind"])
        self.refunded = counter("kit_credits_refunded", "Credits given back in the database.")
        release = gauge("kit_build_info", "The release that runs.", ["version"])
        release.labels(__version__).set(1)

    def measure_commit(self, size: int, seconds: float) -> None:
        """Count a commit of some transactions."""
        self.commit_size.observe(size)
        self.commit_seconds.observe(seconds)

    def text(self) -> bytes:
        """Return all counts in the Prometheus text format."""
        return generate_latest(self.registry)
