"""Pictures from another machine: what is sent, what is believed, and what never leaves."""

import base64
import io
import math
import re
import threading
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from kit.engines.base import Asset, Job, Order, Progress
from kit.engines.remote.endpoints import images as engines
from kit.errors import ConfigError, EngineError
from tests.engines.remote.conftest import Answer, Jobs, Server, canceled_while_asked, png

SECRET = "sk-not-to-be-seen-123456"
MAKE = ("POST", "/v1/images/generations")
EDIT = ("POST", "/v1/images/edits")


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PICTURES_KEY", SECRET)


def entry(server: Server, **more: Any) -> dict[str, Any]:
    return {
        "id": "far",
        "url": server.url,
        "model": "far-1",
        "price": 0.1,
        "key_env": "PICTURES_KEY",
        "pause": 0.01,
        **more,
    }


def render(data: dict[str, Any], job: Job, progress: Progress | None = None) -> Asset:
    (engine,) = engines(data, Path(), False)
    return engine.render(job, progress or Progress())


def encoded(content: bytes) -> Answer:
    return Answer(body={"data": [{"b64_json": base64.b64encode(content).decode()}]})


def test_a_picture_is_asked_for_and_taken(server: Server, job: Jobs) -> None:
    server.on(*MAKE, encoded(png(20, 10)))
    seen: list[float] = []

    asset = render(
        entry(server, seed=True, sizes=["1024x1024"]),
        job("a red lake", parameters={"size": "1024x1024"}),
        Progress(seen.append),
    )

    assert (asset.width, asset.height, asset.content_type) == (20, 10, "image/png")
    assert asset.path.read_bytes() == png(20, 10)
    assert seen[-1] == 1.0
    (asked,) = server.asked
    assert asked.headers["Authorization"] == f"Bearer {SECRET}"
    assert asked.json() == {
        "model": "far-1",
        "prompt": "a red lake",
        "n": 1,
        "size": "1024x1024",
        "seed": 7,
        "response_format": "b64_json",
    }


@pytest.mark.parametrize(
    "written",
    [
        lambda text: "\n".join(text[at : at + 76] for at in range(0, len(text), 76)),
        lambda text: f"data:image/png;base64,{text}",
        lambda text: text.rstrip("="),
        lambda text: text.replace("+", "-").replace("/", "_"),
    ],
)
def test_base64_may_be_written_in_any_way(
    server: Server, job: Jobs, written: Callable[[str], str]
) -> None:
    content = png(20, 10)
    text = base64.b64encode(content).decode()
    assert text.endswith("=")
    server.on(*MAKE, Answer(body={"data": [{"b64_json": written(text)}]}))

    assert render(entry(server), job()).path.read_bytes() == content


def test_an_endpoint_that_refuses_the_field_for_the_format_is_asked_without_it(
    server: Server, job: Jobs
) -> None:
    sentence = "Unknown parameter: 'response_format'."
    server.on(*MAKE, Answer(400, {"error": {"message": sentence}}), encoded(png()))

    for _ in range(2):
        assert render(entry(server), job()).width == 8
    assert ["response_format" in asked.json() for asked in server.asked] == [True, False, False]


def test_a_picture_may_be_a_data_address_or_a_file_on_the_same_host(
    server: Server, job: Jobs
) -> None:
    data = f"data:image/png;base64,{base64.b64encode(png()).decode()}"
    for url in (data, f"{server.url}/files/1.png", "/files/1.png"):
        server.on(*MAKE, Answer(body={"data": [{"url": url}]}))
        server.on("GET", "/files/1.png", Answer(body=png()))
        assert render(entry(server, response_format="url"), job()).width == 8


def test_a_file_on_another_host_is_not_fetched(
    serve: Callable[[], Server], server: Server, job: Jobs
) -> None:
    other = serve()
    server.on(*MAKE, Answer(body={"data": [{"url": f"{other.url}/1.png"}]}))

    with pytest.raises(EngineError, match="not safe"):
        render(entry(server), job())
    assert other.asked == []


def test_a_redirect_is_not_followed_and_the_key_stays(
    serve: Callable[[], Server], server: Server, job: Jobs
) -> None:
    other = serve()
    other.on(*MAKE, encoded(png()))
    server.on(*MAKE, Answer(307, headers={"Location": f"{other.url}{MAKE[1]}"}))

    with pytest.raises(EngineError, match="redirect") as caught:
        render(entry(server), job())
    assert caught.value.code == "upstream_malformed"
    assert other.asked == []


def test_pictures_and_a_mask_are_sent_as_a_form(server: Server, job: Jobs, tmp_path: Path) -> None:
    server.on(*EDIT, encoded(png()))
    picture, mask = tmp_path / "a", tmp_path / "b"
    picture.write_bytes(png(40, 20))
    mask.write_bytes(png(20, 10, gray=255))

    render(
        entry(server, pictures=1, mask=True),
        job(media={"image": [picture], "mask_image": [mask]}, parameters={"sharp": True}),
    )

    (asked,) = server.asked
    assert asked.headers["Content-Type"].startswith("multipart/form-data")
    names = re.findall(rb' name="([^"]+)"', asked.body)
    assert sorted(names) == sorted(
        [b"image", b"mask", b"model", b"n", b"prompt", b"response_format", b"sharp"]
    )
    assert b'name="sharp"\r\n\r\ntrue\r\n' in asked.body
    start = asked.body.index(b"\x89PNG", asked.body.index(b'name="mask"'))
    sent = np.asarray(Image.open(io.BytesIO(asked.body[start:])))
    assert sent.shape == (20, 40, 4)
    assert (sent[..., 3] == 0).all()  # see-through, as OpenAI has it: it may change
    assert (sent[..., :3] == 255).all()  # and white, as everybody else has it


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_service_is_asked_again_when_it_says(server: Server, job: Jobs, status: int) -> None:
    busy = Answer(status, {"error": {"message": "slow down"}}, {"Retry-After": "0"})
    server.on(*MAKE, busy, busy, encoded(png()))

    assert render(entry(server), job()).width == 8
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Answer(400, {"error": {"message": "no lakes, please"}}), "upstream_rejected"),
        (Answer(401, {"error": {"message": f"bad key {SECRET}"}}), "upstream_refused"),
        (Answer(402), "upstream_no_credits"),
        (Answer(422, {"detail": [{"msg": "x"}]}), "upstream_rejected"),
        (Answer(500, b"<html>"), "upstream_failed"),
        (Answer(200, b"<html>"), "upstream_malformed"),
        (Answer(200, {"data": []}), "upstream_malformed"),
        (Answer(200, {"data": [{"b64_json": "###"}]}), "upstream_malformed"),
        (Answer(200, [1]), "upstream_malformed"),
        (Answer(200, {"data": [{"file": [137, 80, 78, 71]}]}), "upstream_malformed"),
        (Answer(200, {"data": [{"url": "http://[bad"}]}), "upstream_malformed"),
        (encoded(b"GIF89a and nothing more"), "upstream_malformed"),
        (encoded(b"no picture at all"), "upstream_malformed"),
        (encoded(png()[:40]), "upstream_malformed"),
        (Answer(200, b'{"data": [', claims=5000), "upstream_unreachable"),
    ],
)
def test_an_answer_of_no_use_is_a_clear_error(
    server: Server, job: Jobs, answer: Answer, code: str
) -> None:
    server.on(*MAKE, answer)

    with pytest.raises(EngineError) as caught:
        render(entry(server), job())
    assert caught.value.code == code
    assert len(server.asked) == 1
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (
            Answer(422, {"detail": [{"loc": ["body", "prompt"], "msg": "is too long"}]}),
            ": prompt: is too long",
        ),
        (Answer(400, b"<html>nginx</html>"), "; other settings or words may help"),
        (
            Answer(400, {"error": {"message": f"key {SECRET}, see https://a.test/x?sig=s1"}}),
            ": key ***, see (address)",
        ),
    ],
)
def test_the_reason_of_a_refusal_is_said(
    server: Server, job: Jobs, answer: Answer, reason: str
) -> None:
    server.on(*MAKE, answer)

    with pytest.raises(EngineError) as caught:
        render(entry(server), job())

    assert str(caught.value) == f"the service behind this model refuses this request{reason}"


@pytest.mark.parametrize("status", [301, 400, 401, 402, 403, 404, 422, 429, 500, 503])
def test_who_orders_reads_nothing_of_where_the_service_is_or_what_it_says(
    server: Server, job: Jobs, status: int
) -> None:
    said = "CUDA out of memory on gpu-7.cluster:8000"
    server.on(*MAKE, Answer(status, {"error": {"message": said}}, {"Retry-After": "3600"}))
    host = server.url.removeprefix("http://")

    with pytest.raises(EngineError, match="the service behind this model") as caught:
        render(entry(server), job())

    for secret in (host, host.partition(":")[2], "CUDA", "gpu-7", str(status)):
        assert secret not in str(caught.value)
    assert caught.value.detail == f"{host}: it answers {status} and says: {said}"


def test_without_the_variable_nothing_is_sent(
    server: Server, job: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PICTURES_KEY")

    with pytest.raises(EngineError, match="variable PICTURES_KEY of the service, which") as caught:
        render(entry(server), job())
    assert caught.value.code == "not_configured"
    assert server.asked == []


def test_a_cancel_is_heard_while_the_service_thinks(server: Server, job: Jobs) -> None:
    late = threading.Event()
    server.on(*MAKE, Answer(waits=late))

    def work(progress: Progress) -> None:
        render(entry(server), job(), progress)

    canceled_while_asked(server, work, late, after=2, within=1.5)


def test_a_service_that_never_answers_times_out(server: Server, job: Jobs) -> None:
    never = threading.Event()
    server.on(*MAKE, Answer(waits=never))

    with pytest.raises(EngineError, match=r"within 0\.3 s") as caught:
        render(entry(server, timeout=0.3), job())
    never.set()
    assert caught.value.code == "timed_out"


def test_the_definition_says_where_jobs_are_sent() -> None:
    data = {
        "id": "far",
        "url": "https://pictures.example.org/v1",
        "model": "far-1",
        "price": {"base": 0.1, "multipliers": [{"parameter": "quality", "values": {"high": 2}}]},
        "sizes": ["1024x1024", "512x512"],
        "parameters": [{"name": "quality", "enum": ["low", "high"], "default": "low"}],
        "pictures": 3,
        "seed": True,
    }
    (engine,) = engines(data, Path(), False)

    found = engine.definition
    assert "pictures.example.org" in found.description
    assert [p.name for p in found.settings] == ["size", "quality", "seed"]
    assert [(p.name, p.max_items) for p in found.media] == [("image", 3)]
    assert found.category == "Generation"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"url": "ftp://x"}, "http"),
        ({"url": "https://me:secret@x"}, "key_env"),
        ({"key_env": "KIT_API_KEY"}, "its own variable"),
        ({"key_env": "AWS_SECRET_ACCESS_KEY"}, "its own variable"),
        ({"key_env": "not a name"}, "key_env"),
        ({"pirce": 1}, "unknown key 'pirce'; did you mean 'price'"),
        ({"category": "Generations"}, "did you mean 'Generation'"),
        ({"price": {"bases": 1}}, "unknown key 'price.bases'; did you mean 'base'"),
        ({"price": {"units": [{"parameter": "size", "credits": 1}]}}, "'size'"),
        ({"price": -1}, "negative"),
        ({"parameters": [{"name": "a", "typ": "integer"}]}, "did you mean 'type'"),
        ({"id": "Two Words"}, "'id'"),
        ({"url": "https://x:99999"}, "not a valid address"),
        ({"url": "https://[::1"}, "not a valid address"),
        ({"url": "https://x y"}, "without spaces"),
        ({"url": "https://x/v1/images/generations"}, "must end before the paths of the API"),
        ({"price": 1e30}, "must be an amount of credits"),
        ({"always": {"since": date(2026, 1, 2)}}, "'since' cannot be sent as JSON"),
        ({"always": {"cfg": math.nan}}, "'cfg' cannot be sent as JSON"),
    ],
)
def test_an_entry_that_makes_no_sense_is_refused(change: dict[str, Any], sentence: str) -> None:
    data = {"id": "far", "url": "https://x.org", "model": "m", "price": 0.1, **change}

    with pytest.raises(ConfigError, match=sentence):
        engines(data, Path(), False)


def test_a_picture_may_be_the_answer_itself(server: Server, job: Jobs) -> None:
    server.on(*MAKE, Answer(body=png(20, 10), headers={"Content-Type": "image/png"}))

    assert render(entry(server), job()).path.read_bytes() == png(20, 10)


@pytest.mark.parametrize("url", ["/gen/a.png", "../gen/a.png", "//HOST/gen/a.png"])
def test_a_relative_address_is_found_as_a_browser_would(
    server: Server, job: Jobs, url: str
) -> None:
    url = url.replace("HOST", server.url.removeprefix("http://"))
    server.on("POST", "/api/v1/images/generations", Answer(body={"data": [{"url": url}]}))
    server.on("GET", "/gen/a.png", Answer(body=png()))

    asset = render({**entry(server), "url": f"{server.url}/api/v1"}, job())

    assert (asset.width, asset.height) == (8, 6)
    assert server.to("GET", "/gen/a.png")


@pytest.mark.parametrize("status", [404, 405])
def test_a_model_or_path_that_is_not_there_is_said_to_be(
    server: Server, job: Jobs, status: int
) -> None:
    server.on(*MAKE, Answer(status, {"error": {"message": "no model far-1"}}))

    with pytest.raises(EngineError) as caught:
        render(entry(server), job())

    assert str(caught.value) == (
        "the service behind this model does not know the model or the path: "
        "the operator of this service has to correct it"
    )
    assert caught.value.code == "upstream_not_found"
    assert "no model far-1" in caught.value.detail


def test_a_mask_without_a_picture_is_refused_before_it_is_paid_for(server: Server) -> None:
    (engine,) = engines(entry(server, pictures=1, mask=True), Path(), False)

    def objections(**media: int) -> list[str]:
        return [name for name, _ in engine.check(Order(prompt="", parameters={}, media=media))]

    assert objections(mask_image=1) == ["mask_image"]
    assert objections(mask_image=1, image=1) == objections(image=1) == objections() == []
