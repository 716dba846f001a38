import asyncio
import time
from collections.abc import Callable
from dataclasses import replace

import httpx
from prometheus_client.parser import text_string_to_metric_families

from kit.service.databases import open_database
from kit.service.domain.upkeep import Readiness
from kit.service.http.health import update_metrics
from kit.service.metrics import ServiceMetrics
from tests.conftest import Service, both_databases
from tests.moments import moment_of
from tests.waiting import GENERATIONS, generate, until, wait_for_end, wait_for_start

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def parse_samples(text: str) -> Samples:
    """Return every sample by its name and labels."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def scrape(service: Service) -> Samples:
    answer = httpx.get(f"{service.url}/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    return parse_samples(answer.text)


def test_requests_are_counted_by_route_template(service: Service, http: httpx.Client) -> None:
    for unknown in ("gen_a", "gen_b"):
        http.get(f"{GENERATIONS}/{unknown}")
    http.get("/v1/account")
    httpx.get(f"{service.url}/nothing/here")
    http.request("PROPFIND", "/v1/account")

    samples = scrape(service)

    def requests(method: str, route: str, status: str) -> float:
        labels = (("method", method), ("route", route), ("status", status))
        return samples["kit_http_requests_total", labels]

    assert requests("GET", GENERATIONS + "/{generation_id}", "404") == 2
    assert requests("GET", "/v1/account", "200") == 1
    assert requests("GET", "none", "404") == 1
    assert requests("other", "none", "405") == 1
    labels = (("method", "GET"), ("route", "/v1/account"))
    assert samples["kit_http_request_seconds_count", labels] == 1
    assert 0 < samples["kit_http_request_seconds_sum", labels] < 5


@both_databases
def test_jobs_are_counted_by_model_and_state(service: Service, http: httpx.Client) -> None:
    wait_for_end(http, generate(http))
    wait_for_end(http, generate(http, does="fails"))
    hanging = generate(http, does="hangs")
    wait_for_start(http, hanging)
    waiting = generate(http)

    during = scrape(service)
    http.post(f"{GENERATIONS}/{waiting}/cancel")
    http.post(f"{GENERATIONS}/{waiting}/cancel")
    http.post(f"{GENERATIONS}/{hanging}/cancel")
    until(lambda: scrape(service)["kit_jobs_here", ()], lambda it: it == 0)
    after = scrape(service)

    assert during["kit_jobs", (("state", "running"),)] == 1
    assert during["kit_jobs", (("state", "queued"),)] == during["kit_queue_depth", ()] == 1
    assert during["kit_jobs_here", ()] == during["kit_workers", ()] == 1
    for state, number in {"completed": 1, "failed": 1, "canceled": 2}.items():
        labels = (("model", "flat"), ("state", state))
        assert after["kit_generations_finished_total", labels] == number
    assert after["kit_render_seconds_count", (("model", "flat"),)] == 1
    assert after["kit_database_commit_seconds_count", ()] >= 8
    assert after["kit_queue_depth", ()] == after["kit_generations_lost_total", ()] == 0


@both_databases
def test_credit_metrics_equal_the_ledger(service: Service, http: httpx.Client) -> None:
    wait_for_end(http, generate(http))
    wait_for_end(http, generate(http, does="fails"))
    http.post("/v1/scripts/title", json={"topic": "SPACE"})

    newest = http.get("/v1/usage").json()[0]["id"]
    # The time of an id, not of the clock: ids only grow, even if a clock was set back.
    created = moment_of(newest)

    metrics = ServiceMetrics()

    async def read(later: int) -> Samples:
        database = open_database(service.settings)
        try:
            clock = lambda: created + later  # noqa: E731
            readiness = Readiness(database, service.context.storage, clock, time.monotonic)
            now = {"clock": clock, "readiness": readiness, "metrics": metrics}
            await update_metrics(replace(service.context, **now))
        finally:
            await database.close()
        samples = parse_samples(metrics.text()[0].decode())
        return {name: value for name, value in samples.items() if name[0].startswith("kit_credits")}

    generation, title = ((("kind", kind),) for kind in ("generation", "title"))
    charged, refunded = "kit_credits_charged_total", ("kit_credits_refunded_total", ())
    assert asyncio.run(read(0)) == {refunded: 0}, "recent entries are not counted yet"
    for _ in range(2):
        known = {(charged, generation): 1.2, (charged, title): 0.05, refunded: 0.6}
        assert asyncio.run(read(20_000)) == known


def test_a_measured_value_is_in_the_first_bucket_that_is_large_enough() -> None:
    metrics = ServiceMetrics()
    for size in (1, 2, 3, 1000):
        metrics.measure_commit(size, 0.0)

    samples = parse_samples(metrics.text()[0].decode())
    name = "kit_database_commit_transactions"

    def within(bound: str) -> float:
        return samples[f"{name}_bucket", (("le", bound),)]

    assert [within(bound) for bound in ("1.0", "2.0", "4.0", "256.0", "+Inf")] == [1, 2, 3, 3, 4]
    assert (samples[f"{name}_count", ()], samples[f"{name}_sum", ()]) == (4, 1006)


def test_two_services_in_one_process_have_separate_metrics(
    start_service: Callable[..., Service], service: Service
) -> None:
    other = start_service(workers=0)
    httpx.get(f"{other.url}/healthz")

    labels = (("method", "GET"), ("route", "/healthz"), ("status", "200"))
    assert scrape(other)["kit_http_requests_total", labels] == 1
    assert ("kit_http_requests_total", labels) not in scrape(service)


def test_nothing_secret_is_published(service: Service, key: str) -> None:
    with service.client(key) as http:
        wait_for_end(http, generate(http, prompt="a very private lake"))
        http.get(f"/v1/{key}")
    text = httpx.get(f"{service.url}/metrics").text

    for secret in (key, key[:12], "private", "acc_", "gen_", "signature"):
        assert secret not in text


def test_a_client_may_choose_its_request_ids(service: Service) -> None:
    def request_id_for(request_id: str) -> str:
        answer = httpx.get(f"{service.url}/healthz", headers={"X-Request-Id": request_id})
        return answer.headers["X-Request-Id"]

    assert request_id_for("trace-42.A_b") == "trace-42.A_b"
    assert request_id_for("x" * 64) == "x" * 64
    for refused in ("", "x" * 65, "a b", "a;b", 'a"b'):
        assert request_id_for(refused).startswith("req_")
