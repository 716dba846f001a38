"""Servers of other projects: each test sends the responses of their code and names its source."""

import base64
import io
import json
import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from kit.engines.base import Asset, Job, Progress
from kit.engines.remote.endpoints import images, videos
from kit.errors import EngineError
from tests.engines.remote.conftest import Answer, Jobs, Server, build, cancel_during_request, png

START, POLL = ("POST", "/v1/videos"), ("GET", "/v1/videos/clip_1")
FETCH, DELETE = ("GET", "/v1/videos/clip_1/content"), ("DELETE", "/v1/videos/clip_1")
MAKE, EDIT = ("POST", "/v1/images/generations"), ("POST", "/v1/images/edits")


def render(
    server: Server, kind: Any, job: Job, progress: Progress | None = None, **more: Any
) -> Asset:
    engine = build(server, kind, job.folder.parent, **more)
    return engine.render(job, progress or Progress())


def clip(status: str, **more: Any) -> dict[str, Any]:
    return {"id": "clip_1", "object": "video", "status": status, **more}


def image_answer(content: bytes, **more: Any) -> Answer:
    item = {"b64_json": base64.b64encode(content).decode(), "url": None, **more}
    return Answer(body={"created": 1, "data": [item]})


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "upl_1"
    path.write_bytes(png(40, 20))
    return path


def field_names(body: bytes) -> list[str]:
    return [name.decode() for name in re.findall(rb' name="([^"]+)"', body)]


@pytest.mark.parametrize("status", [400, 500, 503])
def test_omni_reports_a_failed_clip_with_the_status_of_its_error(
    server: Server, job: Jobs, status: int
) -> None:
    """vllm-project/vllm-omni 0.30.0, entrypoints/openai/api_server.py, retrieve_video."""
    error = {"code": status, "message": "num_frames must be 4 k + 1"}
    server.on(*START, Answer(body=clip("queued", progress=0)))
    server.on(*POLL, Answer(body=clip("in_progress")), Answer(status, clip("failed", error=error)))

    with pytest.raises(EngineError, match=r"did not make the clip: num_frames must be 4") as caught:
        render(server, videos, job())

    assert caught.value.code == "upstream_failed"
    assert len(server.to(*POLL)) == 2


def test_litellm_wraps_a_failed_clip_in_its_own_error(server: Server, job: Jobs) -> None:
    """BerriAI/litellm 1.106 in front of vLLM-Omni, as observed."""
    failed = json.dumps(clip("failed", error={"code": 500, "message": "too rainy"}))
    message = f"litellm.InternalServerError: OpenAIException - {failed}\n\nLiteLLM: no fallback."
    wrapped = {"error": {"message": message, "type": "internal_server_error", "code": "500"}}
    server.on(*START, Answer(body=clip("queued")))
    server.on(*POLL, Answer(500, wrapped))

    with pytest.raises(EngineError, match="did not make the clip: too rainy"):
        render(server, videos, job())
    assert len(server.to(*POLL)) == 1


def test_an_error_of_a_proxy_is_not_a_failed_clip(server: Server, job: Jobs, mp4: bytes) -> None:
    """Proxies respond like this for a server that does not respond; the clip is still made."""
    server.on(*START, Answer(body=clip("queued")))
    passing = Answer(502, {"status": "error", "message": "bad gateway"})
    server.on(*POLL, passing, Answer(body=clip("completed")))
    server.on(*FETCH, Answer(body=mp4))

    assert render(server, videos, job()).width == 32


def test_omni_accepts_a_mask_in_another_field(server: Server, job: Jobs, picture: Path) -> None:
    """vllm-project/vllm-omni 0.30.0, entrypoints/openai/api_server.py, edit_images."""
    server.on(*EDIT, image_answer(png()))
    order = job(media={"image": [picture], "mask_image": [picture]})

    render(server, images, order, pictures=1, mask=True, mask_field="mask_image")

    sent = field_names(server.requests[0].body)
    assert "mask_image" in sent
    assert "mask" not in sent


def test_a_mask_is_sent_as_lightness_and_as_transparency(
    server: Server, job: Jobs, picture: Path, tmp_path: Path
) -> None:
    """OpenAI's edits look at transparency; diffusers' inpainting (`VaeImageProcessor`) at light."""
    mask = tmp_path / "upl_2"
    half = np.zeros((20, 40), np.uint8)
    half[:, 20:] = 255
    Image.fromarray(half).save(mask, "PNG")
    server.on(*EDIT, image_answer(png()))
    order = job(media={"image": [picture], "mask_image": [mask]})

    render(server, images, order, pictures=1, mask=True)

    body = server.requests[0].body
    at = body.index(b"\x89PNG", body.index(b'name="mask"'))
    sent = Image.open(io.BytesIO(body[at:]))
    assert np.array_equal(np.asarray(sent.convert("L")), half)
    assert np.array_equal(np.asarray(sent)[..., 3], 255 - half)


def test_sglang_gives_the_url_of_a_clip_in_a_bucket(server: Server, job: Jobs, mp4: bytes) -> None:
    """sgl-project/sglang 0.5.23, multimodal_gen/.../openai/video_api.py, download_video_content."""
    message = "Video has been uploaded to cloud storage. Please use the cloud URL: ..."
    server.on(*START, Answer(body=clip("queued")))
    server.on(*POLL, Answer(body=clip("completed", url=f"{server.url}/bucket/1.mp4")))
    server.on(*FETCH, Answer(400, {"detail": message}))
    server.on("GET", "/bucket/1.mp4", Answer(body=mp4))

    assert render(server, videos, job()).path.read_bytes() == mp4


def test_sglang_repeats_the_prompt_as_the_revised_one(server: Server, job: Jobs) -> None:
    """sgl-project/sglang 0.5.23, multimodal_gen/.../openai/image_api.py."""
    server.on(*MAKE, image_answer(png(), revised_prompt="a lake", file_path="/srv/out/1.png"))

    assert "revised_prompt" not in render(server, images, job("a lake")).metadata
    assert "revised_prompt" in render(server, images, job("another")).metadata


def test_seeds_for_localai_are_signed_32_bit_numbers(server: Server, job: Jobs, mp4: bytes) -> None:
    """mudler/LocalAI 82c191afa, core/schema/localai.go, VideoRequest."""
    asset = {"created": 1, "id": "x", "data": [{"url": f"{server.url}/generated-videos/1.mp4"}]}
    server.on("POST", "/video", Answer(body=asset))
    server.on("GET", "/generated-videos/1.mp4", Answer(body=mp4))

    for number in (0, 2**31 - 1, 2**31, 2**32 - 1):
        order = job(seed=number)
        render(server, videos, order, path="video", encoding="json", seed=True)

    seeds = [asked.json()["seed"] for asked in server.to("POST", "/video")]
    assert seeds == [0, 2**31 - 1, 0, 2**31 - 1]


def test_localai_accepts_pictures_as_a_json_list(server: Server, job: Jobs, picture: Path) -> None:
    """mudler/LocalAI 82c191afa, core/http/endpoints/openai/image.go."""
    server.on(*MAKE, image_answer(png()))
    order = job(media={"image": [picture, picture]})

    render(server, images, order, pictures=2, picture_field="ref_images")

    (first, second) = server.requests[0].json()["ref_images"]
    assert base64.b64decode(first).startswith(b"\x89PNG")
    assert first == second


def test_localai_inpaints_at_another_path(server: Server, job: Jobs, picture: Path) -> None:
    """mudler/LocalAI 82c191afa, core/http/endpoints/openai/inpainting.go: only ever an address."""
    address = ("POST", "/v1/images/inpainting")
    server.on(*address, Answer(body={"data": [{"url": f"{server.url}/generated-images/1.png"}]}))
    server.on("GET", "/generated-images/1.png", Answer(body=png(30, 10)))
    order = job(media={"image": [picture], "mask_image": [picture]})

    asset = render(server, images, order, pictures=1, mask=True, edits="/v1/images/inpainting")

    assert asset.width == 30
    assert {"image", "mask", "model", "prompt"} <= set(field_names(server.to(*address)[0].body))


def test_a_request_is_repeated_while_the_model_is_loading(server: Server, job: Jobs) -> None:
    """mudler/LocalAI 82c191afa, core/http/app.go, respondModelLoading; Xinference says 30 s."""
    message = {"error": {"code": "model_loading", "message": "loading", "type": "model_loading"}}
    loading = Answer(503, message, {"Retry-After": "0"})
    server.on(*MAKE, *[loading] * 12, image_answer(png()))

    assert render(server, images, job()).width == 8
    assert len(server.requests) == 13


def test_xinference_accepts_the_first_frame_in_its_own_field(
    server: Server, job: Jobs, mp4: bytes, picture: Path
) -> None:
    """xorbitsai/inference 4.1, api/restful_api.py, create_videos_from_images."""
    address = ("POST", "/v1/video/generations/image")
    item = {"url": None, "b64_json": base64.b64encode(mp4).decode()}
    server.on(*address, Answer(body={"created": 1, "data": [item]}))
    keys = {"path": address[1], "picture": "required", "picture_field": "image"}
    always = {"kwargs": '{"num_frames": 33}'}

    asset = render(server, videos, job(media={"image": [picture]}), always=always, **keys)

    assert asset.path.read_bytes() == mp4
    (asked,) = server.requests
    assert b'name="image"; filename="0.png"' in asked.body
    assert b'name="kwargs"\r\n\r\n{"num_frames": 33}\r\n' in asked.body


def test_a_clip_that_is_canceled_during_its_start_is_deleted(server: Server, job: Jobs) -> None:
    """Every such server makes a clip that it has accepted, whether somebody waits for it or not."""
    accepted = threading.Event()
    server.on(*START, Answer(body=clip("queued"), waits=accepted))

    def work(progress: Progress) -> None:
        render(server, videos, job(), progress)

    cancel_during_request(server, work, accepted, after=0.35, within=10)
    assert len(server.to(*DELETE)) == 1
