"""Another service with this API: its models are listed here, jobs are forwarded and paid once."""

import threading
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest

from kit import file_metadata, pricing
from kit.engines.base import Asset, CanceledError, Engine, Progress
from kit.engines.remote.services import services as engines
from kit.errors import ConfigError, EngineError
from tests.conftest import Service, lasting_service
from tests.engines.remote.conftest import Answer, Jobs, Server, cancel_during_request, png

service = lasting_service

MODELS = ("GET", "/v1/creative-studio/models")
START = ("POST", "/v1/creative-studio/generations")
POLL = ("GET", "/v1/creative-studio/generations/gen_1")
SECRET = "cs_test_not-to-be-seen"


@pytest.fixture
def upstream(service: Service, key: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """An entry for a real service."""
    monkeypatch.setenv("THERE_KEY", key)
    return {"prefix": "there", "url": service.url, "key_env": "THERE_KEY", "pause": 0.02}


@pytest.fixture
def fake_entry(server: Server, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """An entry for a server that sends the responses of a test."""
    monkeypatch.setenv("THERE_KEY", SECRET)
    server.on(*MODELS, Answer(body={"image": [{"id": "m", "creditsAtDefaults": 0.3}]}))
    return {"prefix": "there", "url": server.url, "key_env": "THERE_KEY", "pause": 0.01}


@pytest.fixture
def engine(fake_entry: dict[str, Any], tmp_path: Path) -> Engine:
    """The model of that service."""
    return list_models(fake_entry, tmp_path)["there-m"]


def list_models(entry: dict[str, Any], copies: Path, *, refresh: bool = True) -> dict[str, Engine]:
    return {e.definition.id: e for e in engines(entry, copies, refresh)}


def flat(**more: Any) -> dict[str, Any]:
    return {"count": 1, "strength": 0.5, "size": "small", "smooth": False, "does": "works"} | more


def test_models_of_another_service_have_a_prefix(upstream: dict[str, Any], tmp_path: Path) -> None:
    found = list_models({**upstream, "factor": 2, "title": "Partner"}, tmp_path)

    assert {"there-flat", "there-clay", "there-poster"} <= found.keys()
    definition = found["there-flat"].definition
    assert definition.title == "Flat (Partner)"
    assert "Rendered by a service on another machine" in definition.description
    assert "127.0.0.1" not in definition.description
    quote = pricing.price(definition.pricing, {"count": 3, "size": "big"})
    assert quote.total == 2 * Decimal("1.6")


def test_a_job_is_forwarded_and_its_output_is_fetched(
    upstream: dict[str, Any], tmp_path: Path, job: Jobs, http: httpx.Client
) -> None:
    seen: list[float] = []
    engine = list_models(upstream, tmp_path)["there-flat"]

    asset = engine.render(job("a lake", parameters=flat(count=2)), Progress(seen.append))

    assert (asset.width, asset.height, asset.content_type) == (1, 1, "image/png")
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    there = http.get(f"{START[1]}/{asset.metadata['generation']}").json()
    assert there["prompt"] == "a lake"
    assert there["parameters"] == flat(count=2, seed=7)
    assert there["creditsCharged"] == asset.metadata["credits_charged"] == 0.7
    assert asset.metadata["seed"] == there["output"]["metadata"]["seed"] == 7, "in its metadata"


def test_a_repeated_job_finds_its_first_generation(
    upstream: dict[str, Any], tmp_path: Path, job: Jobs, http: httpx.Client
) -> None:
    engine = list_models(upstream, tmp_path)["there-flat"]

    first, again, other = (
        engine.render(job(parameters=flat(), seed=seed), Progress()) for seed in (1, 1, 2)
    )

    assert first.metadata["generation"] == again.metadata["generation"]
    assert first.metadata["generation"] != other.metadata["generation"]
    assert len(http.get(START[1]).json()) == 2


def test_a_generation_that_failed_before_is_started_again(
    upstream: dict[str, Any], tmp_path: Path, job: Jobs, http: httpx.Client
) -> None:
    engine = list_models(upstream, tmp_path)["there-flat"]

    for count in (1, 2):
        with pytest.raises(EngineError, match="too dry") as caught:
            engine.render(job(parameters=flat(does="fails")), Progress())
        assert caught.value.code == "upstream_failed"
        assert len(http.get(START[1]).json()) == count


def test_files_are_sent_once_for_the_same_content(
    upstream: dict[str, Any], job: Jobs, tmp_path: Path
) -> None:
    clay = list_models(upstream, tmp_path)["there-clay"]
    picture = tmp_path / "upl_without_an_ending"
    picture.write_bytes(png(30, 20))

    def render() -> Asset:
        return clay.render(job("", media={"portrait": [picture]}), Progress())

    first, again = render(), render()

    file_metadata.remove(first.path)  # that of the other service
    assert first.path.read_bytes() == png(30, 20)
    assert first.metadata["generation"] == again.metadata["generation"]


def test_a_cancel_is_passed_on(
    upstream: dict[str, Any], tmp_path: Path, job: Jobs, http: httpx.Client
) -> None:
    engine = list_models(upstream, tmp_path)["there-flat"]
    progress = Progress(lambda fraction: progress.cancel() if fraction > 0.3 else None)

    with pytest.raises(CanceledError):
        engine.render(job(parameters=flat(does="hangs")), progress)
    (there,) = http.get(START[1]).json()
    assert there["status"] == "canceled"


def test_a_generation_that_is_canceled_during_its_start_is_canceled_there(
    server: Server, engine: Engine, job: Jobs
) -> None:
    placed = threading.Event()
    server.on(*START, Answer(202, {"id": "gen_1", "status": "processing"}, waits=placed))

    def work(progress: Progress) -> None:
        engine.render(job(), progress)

    cancel_during_request(server, work, placed, after=0.35, within=10)
    assert len(server.to("POST", f"{POLL[1]}/cancel")) == 1


def test_an_account_without_credits_there_raises_an_error(
    service: Service,
    upstream: dict[str, Any],
    tmp_path: Path,
    job: Jobs,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = list_models(upstream, tmp_path)["there-flat"]
    poor = service.key(service.account(0, "Bo"), "creative:generate")
    monkeypatch.setenv("THERE_KEY", poor)

    with pytest.raises(EngineError, match="out of credits") as caught:
        engine.render(job(parameters=flat()), Progress())
    assert caught.value.code == "upstream_no_credits"


def test_a_refused_key_raises_an_error(
    upstream: dict[str, Any], tmp_path: Path, job: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = list_models(upstream, tmp_path)["there-flat"]
    monkeypatch.setenv("THERE_KEY", SECRET)

    with pytest.raises(EngineError, match="refuses its key") as caught:
        engine.render(job(parameters=flat()), Progress())
    assert caught.value.code == "upstream_refused"
    assert SECRET not in str(caught.value)


def test_models_are_listed_from_the_cache_while_the_service_is_down(
    server: Server, fake_entry: dict[str, Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ConfigError, match="is unknown"):
        list_models({**fake_entry, "url": "http://127.0.0.1:9"}, tmp_path)
    assert list_models(fake_entry, tmp_path).keys() == {"there-m"}

    server.on(*MODELS, Answer(500))
    assert list_models(fake_entry, tmp_path).keys() == {"there-m"}
    assert "from the cache" in caplog.text

    asked = len(server.requests)
    assert list_models(fake_entry, tmp_path, refresh=False).keys() == {"there-m"}
    assert len(server.requests) == asked


@pytest.mark.parametrize(
    ("fields", "price"),
    [
        ({"creditsAtDefaults": 0.3, "creditsFrom": 0.1}, "0.6"),
        ({"estimatedCredits": 0.25}, "0.5"),
        ({"creditsFrom": 0.1}, "0.2"),
        ({"pricing": {"base": 1.5}, "creditsAtDefaults": 9}, "3.0"),
    ],
)
def test_a_price_is_the_rule_of_the_other_service_or_its_estimate(
    server: Server, fake_entry: dict[str, Any], tmp_path: Path, fields: dict[str, Any], price: str
) -> None:
    server.on(*MODELS, Answer(body={"image": [{"id": "m", **fields}]}))

    (engine,) = list_models({**fake_entry, "factor": 2}, tmp_path).values()
    assert pricing.price(engine.definition.pricing, {}).total == Decimal(price)


def test_unusable_models_are_left_out(
    server: Server, fake_entry: dict[str, Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    models = [
        {"id": "free"},
        {"id": "up/../there", "creditsFrom": 1},
        {"id": "loud", "assetType": "audio", "creditsFrom": 1},
        {"id": "fine", "category": "Unheard of", "creditsFrom": 1},
    ]
    server.on(*MODELS, Answer(body={"image": models, "video": None}))

    found = list_models(fake_entry, tmp_path)
    assert found.keys() == {"there-fine"}
    assert found["there-fine"].definition.category == "Generation"
    assert "'there-free' is left out: the service reports no price" in caplog.text
    assert "'there-loud' is left out" in caplog.text


def start_answer(**more: Any) -> Answer:
    return Answer(202, {"id": "gen_1", "status": "processing", **more})


def test_a_status_url_on_another_host_is_not_used(
    serve: Callable[[], Server], server: Server, engine: Engine, job: Jobs
) -> None:
    other = serve()
    server.on(*START, start_answer(statusUrl=f"{other.url}/v1/steal"))
    done = {"id": "gen_1", "status": "succeeded", "outputUrl": f"{server.url}/out.png"}
    server.on(*POLL, Answer(body={**done}))
    server.on("GET", "/out.png", Answer(body=png()))

    assert engine.render(job(), Progress()).width == 8
    assert other.requests == []


def test_an_output_on_an_unsafe_host_is_not_fetched(
    serve: Callable[[], Server], server: Server, engine: Engine, job: Jobs
) -> None:
    other = serve()
    server.on(*START, start_answer())
    done = {"id": "gen_1", "status": "done", "outputUrl": f"{other.url}/out.png"}
    server.on(*POLL, Answer(body=done))

    with pytest.raises(EngineError, match="not safe"):
        engine.render(job(), Progress())
    assert other.requests == []


def test_a_start_is_repeated_with_the_same_key(server: Server, engine: Engine, job: Jobs) -> None:
    running = Answer(409, {"error": {"message": "running"}}, {"Retry-After": "0"})
    server.on(*START, Answer(502), Answer(body=b"{", claims=99), running, start_answer())
    server.on(*POLL, Answer(body={"id": "gen_1", "status": "done", "outputUrl": "/out.png"}))
    server.on("GET", "/out.png", Answer(body=png()))

    assert engine.render(job(), Progress()).width == 8
    keys = {asked.headers["Idempotency-Key"] for asked in server.to(*START)}
    assert len(server.to(*START)) == 4
    assert len(keys) == 1


def test_a_paid_generation_survives_an_outage(
    server: Server, fake_entry: dict[str, Any], tmp_path: Path, job: Jobs
) -> None:
    engine = list_models({**fake_entry, "pause": 0.001}, tmp_path)["there-m"]
    server.on(*START, start_answer())
    done = {"id": "gen_1", "status": "done", "outputUrl": "/out.png"}
    server.on(*POLL, *[Answer(502)] * 12, Answer(body=done))
    server.on("GET", "/out.png", *[Answer(504)] * 12, Answer(body=png()))

    assert engine.render(job(), Progress()).width == 8
    assert len(server.to(*START)) == 1


DONE = {"id": "gen_1", "status": "completed"}


@pytest.mark.parametrize(
    ("look", "code"),
    [
        (Answer(body=DONE), "upstream_malformed"),
        (Answer(body=[]), "upstream_malformed"),
        (Answer(404), "upstream_rejected"),
        (Answer(body=DONE | {"outputUrl": "/x", "output": {"sha256": "0"}}), "upstream_malformed"),
        (Answer(body={**DONE, "status": "failed", "error": SECRET}), "upstream_failed"),
    ],
)
def test_an_unusable_response_raises_an_error(
    server: Server, engine: Engine, job: Jobs, look: Answer, code: str
) -> None:
    server.on(*START, start_answer())
    server.on(*POLL, look)
    server.on("GET", "/x", Answer(body=png()))

    with pytest.raises(EngineError) as caught:
        engine.render(job(), Progress())
    assert caught.value.code == code
    assert SECRET not in str(caught.value)


def test_the_seed_is_limited_to_the_range_of_the_other_service(
    server: Server, fake_entry: dict[str, Any], tmp_path: Path, job: Jobs
) -> None:
    seed = {"name": "seed", "type": "integer", "minimum": 1, "maximum": 10}
    model = {"id": "m", "creditsFrom": 1, "settingParameters": [seed]}
    server.on(*MODELS, Answer(body={"image": [model]}))
    engine = list_models(fake_entry, tmp_path)["there-m"]
    server.on(*START, Answer(400))

    with pytest.raises(EngineError):
        engine.render(job(seed=4_000_000_009), Progress())
    assert server.to(*START)[0].json()["parameters"] == {"seed": 10}
