"""What the service counts about itself, for Prometheus.

Each application has a registry of its own: several in one process do not count each other's.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics

#: Bounds in seconds: of an answer, of a commit, of a render; and transactions in a commit.
_ANSWER = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_COMMIT = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
_RENDER = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0)
_BATCH = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)

# Else each counter has a second series that tells when it began.
disable_created_metrics()  # type: ignore[no-untyped-call]


class ServiceMetrics:
    """The counts of one running service.

    Examples
    --------
    >>> metrics = ServiceMetrics()
    >>> metrics.finished.labels("poster", "completed").inc()
    >>> metrics.registry.get_sample_value(
    ...     "kit_generations_finished_total", {"model": "poster", "state": "completed"}
    ... )
    1.0
    """

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.requests = Counter(
            "kit_http_requests",
            "Requests answered.",
            ["method", "route", "status"],
            registry=registry,
        )
        self.request_seconds = Histogram(
            "kit_http_request_seconds",
            "Time until an answer had left; for the event stream, until it was closed.",
            ["method", "route"],
            buckets=_ANSWER,
            registry=registry,
        )
        self.finished = Counter(
            "kit_generations_finished",
            "Generations that this process brought to their end, by model and state.",
            ["model", "state"],
            registry=registry,
        )
        self.lost = Counter(
            "kit_generations_lost", "Attempts whose worker was lost.", registry=registry
        )
        self.render_seconds = Histogram(
            "kit_render_seconds",
            "Time that a render process spent on a job.",
            ["model"],
            buckets=_RENDER,
            registry=registry,
        )
        self.commit_seconds = Histogram(
            "kit_database_commit_seconds",
            "Time of one commit of the database's writer.",
            buckets=_COMMIT,
            registry=registry,
        )
        self.commit_size = Histogram(
            "kit_database_commit_transactions",
            "Transactions that shared one commit.",
            buckets=_BATCH,
            registry=registry,
        )
