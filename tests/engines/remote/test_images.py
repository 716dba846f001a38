"""Pictures of other services: requests, responses, errors, and secrets."""

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
from tests.engines.remote.conftest import Answer, Jobs, Server, cancel_during_request, png

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


def image_answer(content: bytes) -> Answer:
    return Answer(body={"data": [{"b64_json": base64.b64encode(content).decode()}]})


def test_a_picture_is_requested_and_stored(server: Server, job: Jobs) -> None:
    server.on(*MAKE, image_answer(png(20, 10)))
    seen: list[float] = []

    asset = render(
        entry(server, seed=True, sizes=["1024x1024"]),
        job("a red lake", parameters={"size": "1024x1024"}),
        Progress(seen.append),
    )

    assert (asset.width, asset.height, asset.content_type) == (20, 10, "image/png")
    assert asset.path.read_bytes() == png(20, 10)
    assert seen[-1] == 1.0
    (asked,) = server.requests
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
    "write",
    [
        lambda text: "\n".join(text[at : at + 76] for at in range(0, len(text), 76)),
        lambda text: f"data:image/png;base64,{text}",
        lambda text: text.rstrip("="),
        lambda text: text.replace("+", "-").replace("/", "_"),
    ],
)
def test_base64_is_decoded_in_any_variant(
    server: Server, job: Jobs, write: Callable[[str], str]
) -> None:
    content = png(20, 10)
    text = base64.b64encode(content).decode()
    assert text.endswith("=")
    server.on(*MAKE, Answer(body={"data": [{"b64_json": write(text)}]}))

    assert render(entry(server), job()).path.read_bytes() == content


def test_a_refused_response_format_field_is_left_out(server: Server, job: Jobs) -> None:
    sentence = "Unknown parameter: 'response_format'."
    server.on(*MAKE, Answer(400, {"error": {"message": sentence}}), image_answer(png()))

    for _ in range(2):
        assert render(entry(server), job()).width == 8
    assert ["response_format" in asked.json() for asked in server.requests] == [True, False, False]


def test_a_picture_may_be_a_data_url_or_a_file_on_the_same_host(server: Server, job: Jobs) -> None:
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
    assert other.requests == []


def test_a_redirect_of_a_request_is_not_followed(
    serve: Callable[[], Server], server: Server, job: Jobs
) -> None:
    other = serve()
    other.on(*MAKE, image_answer(png()))
    server.on(*MAKE, Answer(307, headers={"Location": f"{other.url}{MAKE[1]}"}))

    with pytest.raises(EngineError, match="redirect") as caught:
        render(entry(server), job())
    assert caught.value.detail.endswith(f"it answers 307 and says: {other.url}{MAKE[1]}")
    assert other.requests == []


def test_pictures_and_a_mask_are_sent_as_form_data(
    server: Server, job: Jobs, tmp_path: Path
) -> None:
    server.on(*EDIT, image_answer(png()))
    picture, mask = tmp_path / "a", tmp_path / "b"
    picture.write_bytes(png(40, 20))
    mask.write_bytes(png(20, 10, gray=255))

    render(
        entry(server, pictures=1, mask=True),
        job(media={"image": [picture], "mask_image": [mask]}, parameters={"sharp": True}),
    )

    (asked,) = server.requests
    assert asked.headers["Content-Type"].startswith("multipart/form-data")
    names = re.findall(rb' name="([^"]+)"', asked.body)
    assert sorted(names) == sorted(
        [b"image", b"mask", b"model", b"n", b"prompt", b"response_format", b"sharp"]
    )
    assert b'name="sharp"\r\n\r\ntrue\r\n' in asked.body
    start = asked.body.index(b"\x89PNG", asked.body.index(b'name="mask"'))
    sent = np.asarray(Image.open(io.BytesIO(asked.body[start:])))
    assert sent.shape == (20, 40, 4)
    assert (sent[..., 3] == 0).all()  # transparent, as OpenAI expects it: it may change
    assert (sent[..., :3] == 255).all()  # and white, as other services expect it


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_service_is_asked_again_after_retry_after(
    server: Server, job: Jobs, status: int
) -> None:
    busy = Answer(status, {"error": {"message": "slow down"}}, {"Retry-After": "0"})
    server.on(*MAKE, busy, busy, image_answer(png()))

    assert render(entry(server), job()).width == 8
    assert len(server.requests) == 3


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
        (image_answer(b"GIF89a and nothing more"), "upstream_malformed"),
        (image_answer(b"no picture at all"), "upstream_malformed"),
        (image_answer(png()[:40]), "upstream_malformed"),
        (Answer(200, b'{"data": [', claims=5000), "upstream_unreachable"),
    ],
)
def test_an_unusable_response_raises_an_error(
    server: Server, job: Jobs, answer: Answer, code: str
) -> None:
    server.on(*MAKE, answer)

    with pytest.raises(EngineError) as caught:
        render(entry(server), job())
    assert caught.value.code == code
    assert len(server.requests) == 1
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
def test_the_reason_of_a_refusal_is_reported(
    server: Server, job: Jobs, answer: Answer, reason: str
) -> None:
    server.on(*MAKE, answer)

    with pytest.raises(EngineError) as caught:
        render(entry(server), job())

    assert str(caught.value) == f"the service behind this model refuses this request{reason}"


@pytest.mark.parametrize("status", [301, 400, 401, 402, 403, 404, 422, 429, 500, 503])
def test_an_error_contains_neither_the_host_nor_the_message_of_the_service(
    server: Server, job: Jobs, status: int
) -> None:
    message = "CUDA out of memory on gpu-7.cluster:8000"
    server.on(*MAKE, Answer(status, {"error": {"message": message}}, {"Retry-After": "3600"}))
    host = server.url.removeprefix("http://")

    with pytest.raises(EngineError, match="the service behind this model") as caught:
        render(entry(server), job())

    for secret in (host, host.partition(":")[2], "CUDA", "gpu-7", str(status)):
        assert secret not in str(caught.value)
    assert caught.value.detail == f"{host}: it answers {status} and says: {message}"


def test_nothing_is_sent_without_the_key_variable(
    server: Server, job: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PICTURES_KEY")

    with pytest.raises(EngineError, match="variable PICTURES_KEY of the service, which") as caught:
        render(entry(server), job())
    assert caught.value.code == "not_configured"
    assert server.requests == []


def test_a_cancel_ends_a_job_during_its_request(server: Server, job: Jobs) -> None:
    late = threading.Event()
    server.on(*MAKE, Answer(waits=late))

    def work(progress: Progress) -> None:
        render(entry(server), job(), progress)

    cancel_during_request(server, work, late, after=2, within=1.5)


def test_a_service_that_never_responds_times_out(server: Server, job: Jobs) -> None:
    never = threading.Event()
    server.on(*MAKE, Answer(waits=never))

    with pytest.raises(EngineError, match=r"within 0\.3 s") as caught:
        render(entry(server, timeout=0.3), job())
    never.set()
    assert caught.value.code == "timed_out"


def test_the_definition_names_the_host_and_the_parameters() -> None:
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
def test_an_invalid_entry_is_refused(change: dict[str, Any], sentence: str) -> None:
    data = {"id": "far", "url": "https://x.org", "model": "m", "price": 0.1, **change}

    with pytest.raises(ConfigError, match=sentence):
        engines(data, Path(), False)


def test_a_picture_may_be_the_body_of_the_response(server: Server, job: Jobs) -> None:
    server.on(*MAKE, Answer(body=png(20, 10), headers={"Content-Type": "image/png"}))

    assert render(entry(server), job()).path.read_bytes() == png(20, 10)


@pytest.mark.parametrize("url", ["/gen/a.png", "../gen/a.png", "//HOST/gen/a.png"])
def test_a_relative_url_is_resolved_as_in_a_browser(server: Server, job: Jobs, url: str) -> None:
    url = url.replace("HOST", server.url.removeprefix("http://"))
    server.on("POST", "/api/v1/images/generations", Answer(body={"data": [{"url": url}]}))
    server.on("GET", "/gen/a.png", Answer(body=png()))

    asset = render({**entry(server), "url": f"{server.url}/api/v1"}, job())

    assert (asset.width, asset.height) == (8, 6)
    assert server.to("GET", "/gen/a.png")


@pytest.mark.parametrize("status", [404, 405])
def test_a_missing_model_or_path_is_reported(server: Server, job: Jobs, status: int) -> None:
    server.on(*MAKE, Answer(status, {"error": {"message": "no model far-1"}}))

    with pytest.raises(EngineError) as caught:
        render(entry(server), job())

    assert str(caught.value) == (
        "the service behind this model does not know the model or the path: "
        "the operator of this service has to correct it"
    )
    assert caught.value.code == "upstream_not_found"
    assert "no model far-1" in caught.value.detail


def test_a_mask_without_a_picture_is_refused_before_it_is_charged(server: Server) -> None:
    (engine,) = engines(entry(server, pictures=1, mask=True), Path(), False)

    def find_problems(**media: int) -> list[str]:
        return [name for name, _ in engine.check(Order(prompt="", parameters={}, media=media))]

    assert find_problems(mask_image=1) == ["mask_image"]
    assert find_problems(mask_image=1, image=1) == find_problems(image=1) == find_problems() == []
