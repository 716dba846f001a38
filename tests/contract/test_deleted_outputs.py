"""Deleting outputs: the files are removed and the generation stays."""

from datetime import datetime
from pathlib import Path

import httpx

from tests.conftest import Service
from tests.uploading import png, upload_file
from tests.waiting import GENERATIONS, balance, generate, read, wait_for_end, wait_for_start


def delete(http: httpx.Client, generation: str) -> httpx.Response:
    return http.delete(f"{GENERATIONS}/{generation}/outputs")


def list_files(service: Service, generation: str) -> list[Path]:
    return [path for path in service.settings.objects.rglob("*") if generation in path.name]


def finish_large(http: httpx.Client) -> str:
    """Return a finished generation with a file and a thumbnail."""
    body = {"modelId": "clay", "mediaUploads": {"portrait": upload_file(http, png(900))}}
    return str(wait_for_end(http, http.post(GENERATIONS, json=body).json()["id"])["id"])


def test_deleting_outputs_keeps_the_generation(http: httpx.Client, service: Service) -> None:
    generation = finish_large(http)
    before = read(http, generation)
    listed = http.get(GENERATIONS).json()
    assert len(list_files(service, generation)) == 2

    answer = delete(http, generation)
    after = read(http, generation)

    assert (answer.status_code, answer.content) == (204, b"")
    assert list_files(service, generation) == []
    assert before["outputsDeletedAt"] is None
    assert datetime.fromisoformat(after["outputsDeletedAt"]) >= datetime.fromisoformat(
        before["updatedAt"]
    )
    assert after["outputUrl"] is after["output"]["thumbnailUrl"] is None
    assert after["output"]["expiresAt"] is None
    same = {"id", "status", "prompt", "parameters", "creditsCharged", "createdAt"}
    assert {name: after[name] for name in same} == {name: before[name] for name in same}
    assert after["output"]["sha256"] == before["output"]["sha256"]
    assert [it["outputUrl"] for it in listed] != [None]
    assert [it["outputUrl"] for it in http.get(GENERATIONS).json()] == [None]
    assert http.get(after["mediaUrls"]["portrait"]).status_code == 200


def test_earlier_urls_of_deleted_outputs_are_not_found(
    guest: httpx.Client, http: httpx.Client
) -> None:
    generation = finish_large(http)
    facts = read(http, generation)
    delete(http, generation)

    for url in (facts["outputUrl"], facts["output"]["thumbnailUrl"]):
        assert guest.get(url).status_code == 404


def test_deleting_outputs_changes_the_etag_of_the_generation(http: httpx.Client) -> None:
    generation = generate(http)
    wait_for_end(http, generation)
    path = f"{GENERATIONS}/{generation}"
    tag = http.get(path).headers["ETag"]
    delete(http, generation)

    again = http.get(path, headers={"If-None-Match": tag})
    assert (again.status_code, again.json()["outputUrl"]) == (200, None)
    assert http.get(path, headers={"If-None-Match": again.headers["ETag"]}).status_code == 304


def test_deleting_outputs_again_changes_nothing(http: httpx.Client) -> None:
    generation = generate(http)
    wait_for_end(http, generation)
    delete(http, generation)
    facts = read(http, generation)

    assert delete(http, generation).status_code == 204
    assert read(http, generation) == facts


def test_deleting_outputs_of_a_running_generation_is_a_conflict(http: httpx.Client) -> None:
    generation = generate(http, does="hangs")
    wait_for_start(http, generation)
    answer = delete(http, generation)

    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "conflict")
    assert "cancel it" in answer.json()["error"]["message"]
    http.post(f"{GENERATIONS}/{generation}/cancel")
    assert delete(http, generation).status_code == 204
    assert read(http, generation)["outputsDeletedAt"] is None


def test_deleting_outputs_of_a_failed_generation_does_nothing(http: httpx.Client) -> None:
    generation = generate(http, does="fails")
    wait_for_end(http, generation)

    assert delete(http, generation).status_code == 204
    assert read(http, generation)["outputsDeletedAt"] is None
    assert balance(http) == 100


def test_deleting_outputs_needs_a_known_generation_and_the_scope(
    http: httpx.Client, service: Service, account: str
) -> None:
    generation = generate(http)
    wait_for_end(http, generation)
    with service.client(service.key(account)) as reader:
        assert delete(reader, generation).status_code == 403

    assert delete(http, "gen_0").status_code == 404
    assert read(http, generation)["outputUrl"] is not None


def test_the_end_event_after_a_deletion_has_no_output_url(http: httpx.Client) -> None:
    generation = generate(http)
    wait_for_end(http, generation)
    delete(http, generation)

    events = http.get(f"{GENERATIONS}/{generation}/events").text
    assert '"outputUrl":null' in events
