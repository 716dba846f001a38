"""The priced length is the length rendered, whatever a file's header tells."""

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


def heard(http: httpx.Client, content: bytes, kind: str) -> dict[str, Any]:
    """Return the order for a model that is priced by the seconds of a voice."""
    media = {"portrait": upload_file(http, png()), "voice": upload_file(http, content, kind)}
    return {"modelId": "clay", "mediaUploads": media}


def priced(http: httpx.Client, order: dict[str, Any]) -> float:
    """Return the seconds that an order is priced by."""
    quote = http.post(ESTIMATES, json=order).json()
    return float(next(term["value"] for term in quote["terms"] if term["kind"] == "unit"))


def test_sound_is_priced_by_its_packets_and_not_by_its_header(http: httpx.Client) -> None:
    for name, told in (*((name, 1) for name in SOUNDS), ("flac", 600)):
        kind, codec, form, forge = SOUNDS[name]
        honest = forged.make_sound(codec, form, 60)
        lying = forge(honest, told)

        assert lying != honest
        assert priced(http, heard(http, lying, kind)) == pytest.approx(60, abs=0.1), name


def test_sound_is_priced_as_long_as_it_is(http: httpx.Client) -> None:
    for name, (kind, codec, form, _) in SOUNDS.items():
        padding = 0.03 if name == "m4a" else 0.01
        content = forged.make_sound(codec, form, 7.3)

        assert priced(http, heard(http, content, kind)) == pytest.approx(7.3, abs=padding), name


def test_a_video_is_priced_by_its_packets_and_not_by_its_header(http: httpx.Client) -> None:
    for kind, codec, form, forge in FILMS.values():
        honest = forged.make_film(codec, form, 60)
        lying = forge(honest, 1)
        video = upload_file(http, lying, kind, modelId="video-edit")

        assert lying != honest
        order = {"modelId": "video-edit", "mediaUploads": {"video": video}}
        assert priced(http, order) == pytest.approx(60, abs=0.1), kind


def test_sound_without_a_header_is_not_guessed_from_its_beginning(http: httpx.Client) -> None:
    # One loud second, then silence in a tenth of the bytes.
    content = forged.make_sound("aac", "adts", 60, loud=1)

    assert priced(http, heard(http, content, "audio/aac")) == pytest.approx(60, abs=0.1)


def test_a_wav_file_that_hides_sound_behind_its_end_is_refused(http: httpx.Client) -> None:
    content = forged.forge_wav(forged.make_sound("pcm_s16le", "wav", 60), 1)
    answer = put_file(create_ticket(http, content, "audio/wav"), content)

    assert answer.status_code == 400
    assert "5,664,000 bytes follow" in answer.json()["error"]["message"]


def test_sound_that_outlasts_its_times_is_not_rendered_and_not_charged(http: httpx.Client) -> None:
    content = forged.hasten_mp4(forged.make_sound("aac", "mp4", 60), 60)
    order = heard(http, content, "audio/mp4")

    assert priced(http, order) == pytest.approx(1, abs=0.1)
    done = wait_for_end(http, http.post(GENERATIONS, json=order).json()["id"])
    assert (done["status"], done["errorCode"]) == ("failed", "longer_than_priced")
    assert done["creditsRefunded"] == done["creditsCharged"] > 0
    assert balance(http) == 100


def kept(service: Service, http: httpx.Client, model: str, kind: str, content: bytes) -> str:
    """Return an upload that was taken for one second when it came."""
    upload = str(create_ticket(http, content, kind, modelId=model)["uploadId"])
    path = service.settings.scratch / upload
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    now = service.context.clock()
    service.write(uploads.mark_filled(upload, sha256="0" * 64, duration_ms=1000, now=now))
    row = service.write(uploads.find([upload]))[upload]
    service.context.storage.outputs.put({upload_key(row): path})
    return upload


def test_what_was_priced_for_less_than_it_plays_is_refused_by_every_engine(
    service: Service, http: httpx.Client
) -> None:
    voice = kept(service, http, "clay", "audio/wav", wav(3))
    video = kept(service, http, "video-edit", "video/mp4", forged.make_film("libx264", "mp4", 3))
    orders = [
        {"modelId": "clay", "mediaUploads": {"portrait": upload_file(http, png()), "voice": voice}},
        {"modelId": "video-edit", "mediaUploads": {"video": video}},
    ]

    for order in orders:
        done = wait_for_end(http, http.post(GENERATIONS, json=order).json()["id"])
        assert (done["status"], done["errorCode"]) == ("failed", "longer_than_priced")
    assert balance(http) == 100
