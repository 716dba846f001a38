"""``/metrics``: what the service counts, for Prometheus.

Requests and jobs are counted by this process. The queue and the credits are read from the database
at each request, so that they are right whichever process wrote them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from kit.pricing import MILLI
from kit.service.domain import credits, queue
from kit.service.http.context import Context, get_context
from kit.version import __version__

router = APIRouter(tags=["health"])


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What the database and the dispatcher say at one moment.

    Parameters
    ----------
    jobs : mapping of str to int
        Generations that wait or are rendered, by state, in the whole database.
    charged, refunded : mapping of str to int, int
        Millicredits since this process began to count, by kind of entry.
    """

    jobs: Mapping[str, int]
    charged: Mapping[str, int]
    refunded: int
    here: int
    slots: int
    watchers: int

    def collect(self) -> Iterator[Metric]:
        """Yield the figures as Prometheus has them."""
        jobs = GaugeMetricFamily(
            "kit_jobs", "Generations of the database by state.", None, ["state"]
        )
        for state, count in sorted(self.jobs.items()):
            jobs.add_metric([state], count)
        charged = CounterMetricFamily(
            "kit_credits_charged", "Credits charged in the database, by kind.", None, ["kind"]
        )
        for kind, amount in sorted(self.charged.items()):
            charged.add_metric([kind], amount / MILLI)
        release = GaugeMetricFamily("kit_build_info", "The release that runs.", None, ["version"])
        release.add_metric([__version__], 1)
        yield from (release, jobs, charged)
        yield GaugeMetricFamily("kit_queue_depth", "Those that wait.", self.jobs["queued"])
        yield GaugeMetricFamily("kit_jobs_here", "Jobs that this process has rendered.", self.here)
        yield GaugeMetricFamily("kit_workers", "Jobs this process renders at a time.", self.slots)
        yield GaugeMetricFamily("kit_event_streams", "Open event streams.", self.watchers)
        refunded = self.refunded / MILLI
        text = "Credits given back in the database."
        yield CounterMetricFamily("kit_credits_refunded", text, refunded)


@router.get("/metrics")
async def read_metrics(request: Request) -> Response:
    """Return the service's counts in the Prometheus text format.

    Like `/healthz` it needs no key: it names routes, models and sums, no account and no secret.
    Keep it from the outside at the proxy where the sums are confidential.
    """
    context = get_context(request)
    figures = CollectorRegistry()
    figures.register(await read(context))
    body = generate_latest(context.metrics.registry) + generate_latest(figures)
    headers = {"Content-Type": CONTENT_TYPE_LATEST, "Cache-Control": "no-store"}
    return Response(body, 200, headers)


async def read(context: Context) -> Reading:
    """Read what is not counted; its cost does not grow with the history."""
    jobs = await context.database.read(queue.count_states())
    turnover = await context.database.read(credits.turnover(context.turnover, context.clock()))
    return Reading(
        jobs=jobs,
        charged=dict(turnover.charged),
        refunded=turnover.refunded,
        here=context.dispatcher.running,
        slots=context.settings.workers,
        watchers=context.dispatcher.watchers.count,
    )
