"""Servers of others, answering as their own code does: each dialect names where that stands."""

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
from tests.engines.remote.conftest import Answer, Jobs, Server, canceled_while_asked, model, png

START, LOOK = ("POST", "/v1/videos"), ("GET", "/v1/videos/clip_1")
FETCH, FORGET = ("GET", "/v1/videos/clip_1/content"), ("DELETE", "/v1/videos/clip_1")
MAKE, EDIT = ("POST", "/v1/images/generations"), ("POST", "/v1/images/edits")


def render(
    server: Server, kind: Any, job: Job, progress: Progress | None = None, **more: Any
) -> Asset:
    engine = model(server, kind, job.folder.parent, **more)
    return engine.render(job, progress or Progress())


def clip(status: str, **more: Any) -> dict[str, Any]:
    return {"id": "clip_1", "object": "video", "status": status, **more}


def drawn(content: bytes, **more: Any) -> Answer:
    item = {"b64_json": base64.b64encode(content).decode(), "url": None, **more}
    return Answer(body={"created": 1, "data": [item]})


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "upl_1"
    path.write_bytes(png(40, 20))
    return path


def names(body: bytes) -> list[str]:
    return [name.decode() for name in re.findall(rb' name="([^"]+)"', body)]


@pytest.mark.parametrize("status", [400, 500, 503])
def test_omni_tells_of_a_failed_clip_under_the_status_of_its_error(
    server: Server, job: Jobs, status: int
) -> None:
    """vllm-project/vllm-omni 0.30.0, entrypoints/openai/api_server.py, retrieve_video."""
    error = {"code": status, "message": "num_frames must be 4 k + 1"}
    server.on(*START, Answer(body=clip("queued", progress=0)))
    server.on(*LOOK, Answer(body=clip("in_progress")), Answer(status, clip("failed", error=error)))

    with pytest.raises(EngineError, match=r"did not make the clip: num_frames must be 4") as caught:
        render(server, videos, job())

    assert caught.value.code == "upstream_failed"
    assert len(server.to(*LOOK)) == 2


def test_litellm_repeats_that_in_an_error_of_its_own(server: Server, job: Jobs) -> None:
    """BerriAI/litellm 1.106 before vLLM-Omni, as it answered when it was tried."""
    failed = json.dumps(clip("failed", error={"code": 500, "message": "too rainy"}))
    said = f"litellm.InternalServerError: OpenAIException - {failed}\n\nLiteLLM: no fallback."
    wrapped = {"error": {"message": said, "type": "internal_server_error", "code": "500"}}
    server.on(*START, Answer(body=clip("queued")))
    server.on(*LOOK, Answer(500, wrapped))

    with pytest.raises(EngineError, match="did not make the clip: too rainy"):
        render(server, videos, job())
    assert len(server.to(*LOOK)) == 1


def test_a_broken_machine_on_the_way_is_no_failed_clip(
    server: Server, job: Jobs, mp4: bytes
) -> None:
    """Proxies answer so for a server that does not answer them; the clip goes on."""
    server.on(*START, Answer(body=clip("queued")))
    passing = Answer(502, {"status": "error", "message": "bad gateway"})
    server.on(*LOOK, passing, Answer(body=clip("completed")))
    server.on(*FETCH, Answer(body=mp4))

    assert render(server, videos, job()).width == 32


def test_omni_takes_a_mask_under_another_name(server: Server, job: Jobs, picture: Path) -> None:
    """vllm-project/vllm-omni 0.30.0, entrypoints/openai/api_server.py, edit_images."""
    server.on(*EDIT, drawn(png()))
    ordered = job(media={"image": [picture], "mask_image": [picture]})

    render(server, images, ordered, pictures=1, mask=True, mask_field="mask_image")

    sent = names(server.asked[0].body)
    assert "mask_image" in sent
    assert "mask" not in sent


def test_a_mask_says_the_same_by_what_is_light_and_by_what_is_seen_through(
    server: Server, job: Jobs, picture: Path, tmp_path: Path
) -> None:
    """OpenAI's edits look at transparency; diffusers' inpainting (`VaeImageProcessor`) at light."""
    mask = tmp_path / "upl_2"
    half = np.zeros((20, 40), np.uint8)
    half[:, 20:] = 255
    Image.fromarray(half).save(mask, "PNG")
    server.on(*EDIT, drawn(png()))
    ordered = job(media={"image": [picture], "mask_image": [mask]})

    render(server, images, ordered, pictures=1, mask=True)

    body = server.asked[0].body
    at = body.index(b"\x89PNG", body.index(b'name="mask"'))
    sent = Image.open(io.BytesIO(body[at:]))
    assert np.array_equal(np.asarray(sent.convert("L")), half)
    assert np.array_equal(np.asarray(sent)[..., 3], 255 - half)


def test_sglang_names_the_bucket_that_a_clip_is_in(server: Server, job: Jobs, mp4: bytes) -> None:
    """sgl-project/sglang 0.5.23, multimodal_gen/.../openai/video_api.py, download_video_content."""
    said = "Video has been uploaded to cloud storage. Please use the cloud URL: ..."
    server.on(*START, Answer(body=clip("queued")))
    server.on(*LOOK, Answer(body=clip("completed", url=f"{server.url}/bucket/1.mp4")))
    server.on(*FETCH, Answer(400, {"detail": said}))
    server.on("GET", "/bucket/1.mp4", Answer(body=mp4))

    assert render(server, videos, job()).path.read_bytes() == mp4


def test_sglang_repeats_the_prompt_as_the_revised_one(server: Server, job: Jobs) -> None:
    """sgl-project/sglang 0.5.23, multimodal_gen/.../openai/image_api.py."""
    server.on(*MAKE, drawn(png(), revised_prompt="a lake", file_path="/srv/out/1.png"))

    assert "revised_prompt" not in render(server, images, job("a lake")).metadata
    assert "revised_prompt" in render(server, images, job("another")).metadata


def test_localai_reads_seeds_as_signed_numbers_of_32_bits(
    server: Server, job: Jobs, mp4: bytes
) -> None:
    """mudler/LocalAI 82c191afa, core/schema/localai.go, VideoRequest."""
    made = {"created": 1, "id": "x", "data": [{"url": f"{server.url}/generated-videos/1.mp4"}]}
    server.on("POST", "/video", Answer(body=made))
    server.on("GET", "/generated-videos/1.mp4", Answer(body=mp4))

    for number in (0, 2**31 - 1, 2**31, 2**32 - 1):
        ordered = job(seed=number)
        render(server, videos, ordered, path="video", encoding="json", seed=True)

    seeds = [asked.json()["seed"] for asked in server.to("POST", "/video")]
    assert seeds == [0, 2**31 - 1, 0, 2**31 - 1]


def test_localai_takes_pictures_as_a_list_in_json(server: Server, job: Jobs, picture: Path) -> None:
    """mudler/LocalAI 82c191afa, core/http/endpoints/openai/image.go."""
    server.on(*MAKE, drawn(png()))
    ordered = job(media={"image": [picture, picture]})

    render(server, images, ordered, pictures=2, picture_field="ref_images")

    (first, second) = server.asked[0].json()["ref_images"]
    assert base64.b64decode(first).startswith(b"\x89PNG")
    assert first == second


def test_localai_inpaints_elsewhere(server: Server, job: Jobs, picture: Path) -> None:
    """mudler/LocalAI 82c191afa, core/http/endpoints/openai/inpainting.go: only ever an address."""
    address = ("POST", "/v1/images/inpainting")
    server.on(*address, Answer(body={"data": [{"url": f"{server.url}/generated-images/1.png"}]}))
    server.on("GET", "/generated-images/1.png", Answer(body=png(30, 10)))
    ordered = job(media={"image": [picture], "mask_image": [picture]})

    made = render(server, images, ordered, pictures=1, mask=True, edits="/v1/images/inpainting")

    assert made.width == 30
    assert {"image", "mask", "model", "prompt"} <= set(names(server.to(*address)[0].body))


def test_a_model_that_is_being_loaded_is_waited_for(server: Server, job: Jobs) -> None:
    """mudler/LocalAI 82c191afa, core/http/app.go, respondModelLoading; Xinference says 30 s."""
    said = {"error": {"code": "model_loading", "message": "loading", "type": "model_loading"}}
    loading = Answer(503, said, {"Retry-After": "0"})
    server.on(*MAKE, *[loading] * 12, drawn(png()))

    assert render(server, images, job()).width == 8
    assert len(server.asked) == 13


def test_xinference_takes_the_first_frame_as_a_file_of_its_own_name(
    server: Server, job: Jobs, mp4: bytes, picture: Path
) -> None:
    """xorbitsai/inference 4.1, api/restful_api.py, create_videos_from_images."""
    address = ("POST", "/v1/video/generations/image")
    item = {"url": None, "b64_json": base64.b64encode(mp4).decode()}
    server.on(*address, Answer(body={"created": 1, "data": [item]}))
    keys = {"path": address[1], "picture": "required", "picture_field": "image"}
    always = {"kwargs": '{"num_frames": 33}'}

    made = render(server, videos, job(media={"image": [picture]}), always=always, **keys)

    assert made.path.read_bytes() == mp4
    (asked,) = server.asked
    assert b'name="image"; filename="0.png"' in asked.body
    assert b'name="kwargs"\r\n\r\n{"num_frames": 33}\r\n' in asked.body


def test_a_clip_that_is_canceled_while_it_is_started_is_ended_there(
    server: Server, job: Jobs
) -> None:
    """Every server of the kind makes a clip that it has accepted, whoever still waits for it."""
    accepted = threading.Event()
    server.on(*START, Answer(body=clip("queued"), waits=accepted))

    def work(progress: Progress) -> None:
        render(server, videos, job(), progress)

    canceled_while_asked(server, work, accepted, after=0.35, within=10)
    assert len(server.to(*FORGET)) == 1
