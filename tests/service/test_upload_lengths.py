"""The priced duration is the rendered one, whatever the header of a file claims."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from kit.service.domain import uploads
from kit.service.storage.keys import upload_key
from tests.conftest import Service, lasting_service
from tests.service import forged
from tests.uploading import create_ticket, png, put_file, upload_file, wav
from tests.waiting import GENERATIONS, balance, wait_for_end

service = lasting_service

ESTIMATES = "/v1/creative-studio/estimates"
SOUNDS: dict[str, tuple[str, str, str, Callable[[bytes, int], bytes]]] = {
    "flac": ("audio/flac", "flac", "flac", forged.forge_flac),
    "m4a": ("audio/mp4", "aac", "mp4", forged.forge_mp4),
    "mp3": ("audio/mpeg", "libmp3lame", "mp3", forged.forge_mp3),
    "ogg": ("audio/ogg", "libopus", "ogg", forged.forge_ogg),
}
FILMS: dict[str, tuple[str, str, str, Callable[[bytes, int], bytes]]] = {
    "mp4": ("video/mp4", "libx264", "mp4", forged.forge_mp4),
    "mov": ("video/quicktime", "libx264", "mov", forged.forge_mp4),
    "webm": ("video/webm", "libvpx-vp9", "webm", forged.forge_webm),
}


def speech(http: httpx.Client, content: bytes, kind: str) -> dict[str, Any]:
    """Return the order for a model that is priced by the seconds of a voice."""
    media = {"portrait": upload_file(http, png()), "voice": upload_file(http, content, kind)}
    return {"modelId": "clay", "mediaUploads": media}


def seconds(http: httpx.Client, order: dict[str, Any]) -> float:
    """Return the seconds that an order is priced by."""
    quote = http.post(ESTIMATES, json=order).json()
    return float(next(term["value"] for term in quote["terms"] if term["kind"] == "unit"))


def test_sound_is_priced_by_its_packets_and_not_by_its_header(http: httpx.Client) -> None:
    for name, claimed in (*((name, 1) for name in SOUNDS), ("flac", 600)):
        kind, codec, form, forge = SOUNDS[name]
        honest = forged.sound(codec, form, 60)
        lying = forge(honest, claimed)

        assert lying != honest
        assert seconds(http, speech(http, lying, kind)) == pytest.approx(60, abs=0.1), name


def test_sound_is_priced_by_its_exact_duration(http: httpx.Client) -> None:
    for name, (kind, codec, form, _) in SOUNDS.items():
        padding = 0.03 if name == "m4a" else 0.01
        content = forged.sound(codec, form, 7.3)

        assert seconds(http, speech(http, content, kind)) == pytest.approx(7.3, abs=padding), name


def test_a_video_is_priced_by_its_packets_and_not_by_its_header(http: httpx.Client) -> None:
    for kind, codec, form, forge in FILMS.values():
        honest = forged.video(codec, form, 60)
        lying = forge(honest, 1)
        video = upload_file(http, lying, kind, modelId="video-edit")

        assert lying != honest
        order = {"modelId": "video-edit", "mediaUploads": {"video": video}}
        assert seconds(http, order) == pytest.approx(60, abs=0.1), kind


def test_the_duration_of_sound_without_a_header_is_not_guessed(http: httpx.Client) -> None:
    # One loud second, then silence in a tenth of the bytes.
    content = forged.sound("aac", "adts", 60, loud=1)

    assert seconds(http, speech(http, content, "audio/aac")) == pytest.approx(60, abs=0.1)


def test_a_wav_file_with_sound_after_its_data_chunk_is_refused(http: httpx.Client) -> None:
    content = forged.forge_wav(forged.sound("pcm_s16le", "wav", 60), 1)
    answer = put_file(create_ticket(http, content, "audio/wav"), content)

    assert answer.status_code == 400
    assert "5,664,000 bytes follow" in answer.json()["error"]["message"]


def test_sound_longer_than_its_timestamps_fails_and_is_not_charged(http: httpx.Client) -> None:
    content = forged.hasten_mp4(forged.sound("aac", "mp4", 60), 60)
    order = speech(http, content, "audio/mp4")

    assert seconds(http, order) == pytest.approx(1, abs=0.1)
    done = wait_for_end(http, http.post(GENERATIONS, json=order).json()["id"])
    assert (done["status"], done["errorCode"]) == ("failed", "longer_than_priced")
    assert done["creditsRefunded"] == done["creditsCharged"] > 0
    assert balance(http) == 100


def store(service: Service, http: httpx.Client, model: str, kind: str, content: bytes) -> str:
    """Store an upload with a recorded duration of one second, and return its id."""
    upload = str(create_ticket(http, content, kind, modelId=model)["uploadId"])
    path = service.settings.scratch / upload
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    now = service.context.clock()
    service.write(uploads.mark_filled(upload, sha256="0" * 64, duration_ms=1000, now=now))
    row = service.write(uploads.find([upload]))[upload]
    service.context.storage.outputs.put({upload_key(row): path})
    return upload


def test_every_engine_refuses_media_longer_than_priced(
    service: Service, http: httpx.Client
) -> None:
    voice = store(service, http, "clay", "audio/wav", wav(3))
    video = store(service, http, "video-edit", "video/mp4", forged.video("libx264", "mp4", 3))
    orders = [
        {"modelId": "clay", "mediaUploads": {"portrait": upload_file(http, png()), "voice": voice}},
        {"modelId": "video-edit", "mediaUploads": {"video": video}},
    ]

    for order in orders:
        done = wait_for_end(http, http.post(GENERATIONS, json=order).json()["id"])
        assert (done["status"], done["errorCode"]) == ("failed", "longer_than_priced")
    assert balance(http) == 100
