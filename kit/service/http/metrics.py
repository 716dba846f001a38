"""``/metrics``: what the service counts, for Prometheus.

Requests and jobs are counted by this process. The queue and the credits are read from the database
when somebody asks, so that they are right whoever wrote them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from fastapi import APIRouter, Request, Response

from kit.pricing import MILLI
from kit.service.domain import credits, queue
from kit.service.http.context import Context, context_of
from kit.service.metrics import METERS, Meter, ServiceMetrics
from kit.version import __version__

if TYPE_CHECKING:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

F = TypeVar("F", "CounterMetricFamily", "GaugeMetricFamily")

router = APIRouter(tags=["health"])


@dataclass(frozen=True, slots=True)
class Reading:
    """What the database and the dispatcher say at one moment.

    Parameters
    ----------
    jobs : mapping of str to int
        Generations that wait or are rendered, by state, in the whole database.
    charged, refunded : mapping of str to int
        Millicredits since this process began to count, by kind of entry.
    """

    jobs: dict[str, int]
    charged: dict[str, int]
    refunded: int
    here: int
    slots: int
    watchers: int


@router.get("/metrics")
async def read_metrics(request: Request) -> Response:
    """Return the service's counts in the Prometheus text format.

    Like `/healthz` it needs no key: it names routes, models and sums, no account and no secret.
    Keep it from the outside at the proxy if sums are nobody's business.
    """
    context = context_of(request)
    reading = await read(context)
    # In a thread, because the first time it loads the library, which takes longer than a request.
    body, kind = await asyncio.to_thread(exposition, context.metrics, reading)
    return Response(body, 200, {"Content-Type": kind, "Cache-Control": "no-store"})


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


def exposition(metrics: ServiceMetrics, reading: Reading) -> tuple[bytes, str]:
    """Return the text that Prometheus reads and its content type.

    The registry is made anew and belongs to this answer: several applications in one process do
    not clash, and the library is loaded only where somebody asks.
    """
    from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(metrics, reading))
    return generate_latest(registry), CONTENT_TYPE_LATEST


class _Collector:
    """Writes counts as the library's families."""

    def __init__(self, metrics: ServiceMetrics, reading: Reading) -> None:
        self._metrics = metrics
        self._reading = reading

    def collect(self) -> Iterator[Metric]:
        """Yield every family."""
        for meter in METERS:
            yield self._measured(meter) if meter.bounds else self._counted(meter)
        yield from _read_families(self._reading)

    def _counted(self, meter: Meter) -> Metric:
        counts = self._metrics.counted(meter) or ([] if meter.labels else [((), 0)])
        return _counter(meter.name, meter.help, meter.labels, counts)

    def _measured(self, meter: Meter) -> Metric:
        from prometheus_client.core import HistogramMetricFamily

        family = HistogramMetricFamily(meter.name, meter.help, labels=meter.labels)
        for labels, measured in self._metrics.measured(meter):
            buckets = list(measured.buckets(meter.bounds))
            family.add_metric(labels, buckets, measured.total)
        return family


def _read_families(reading: Reading) -> Iterator[Metric]:
    jobs = [((state,), count) for state, count in sorted(reading.jobs.items())]
    charged = [((kind,), amount / MILLI) for kind, amount in sorted(reading.charged.items())]
    yield _gauge("kit_build_info", "The release that runs.", ("version",), [((__version__,), 1)])
    yield _gauge("kit_jobs", "Generations of the database by state.", ("state",), jobs)
    yield _gauge("kit_queue_depth", "Those that wait.", (), [((), reading.jobs["queued"])])
    yield _gauge("kit_jobs_here", "Jobs that this process has rendered.", (), [((), reading.here)])
    yield _gauge("kit_workers", "Jobs this process renders at a time.", (), [((), reading.slots)])
    yield _gauge("kit_event_streams", "Open event streams.", (), [((), reading.watchers)])
    yield _counter(
        "kit_credits_charged", "Credits charged in the database, by kind.", ("kind",), charged
    )
    yield _counter(
        "kit_credits_refunded",
        "Credits given back in the database.",
        (),
        [((), reading.refunded / MILLI)],
    )


_Samples = Iterable[tuple[tuple[str, ...], float]]


def _counter(name: str, text: str, labels: tuple[str, ...], samples: _Samples) -> Metric:
    from prometheus_client.core import CounterMetricFamily

    return _filled(CounterMetricFamily(name, text, labels=labels), samples)


def _gauge(name: str, text: str, labels: tuple[str, ...], samples: _Samples) -> Metric:
    from prometheus_client.core import GaugeMetricFamily

    return _filled(GaugeMetricFamily(name, text, labels=labels), samples)


def _filled(family: F, samples: _Samples) -> F:
    for labels, value in samples:
        family.add_metric(labels, value)
    return family
