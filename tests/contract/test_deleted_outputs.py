"""Outputs that their owner deletes: the files go, the generation stays."""

from datetime import datetime
from pathlib import Path

import httpx

from tests.conftest import Service
from tests.uploading import png, upload_file
from tests.waiting import GENERATIONS, balance, generate, read, wait_for_end, wait_for_start


def delete(http: httpx.Client, generation: str) -> httpx.Response:
    return http.delete(f"{GENERATIONS}/{generation}/outputs")


def files(service: Service, generation: str) -> list[Path]:
    return [path for path in service.settings.objects.rglob("*") if generation in path.name]


def large(http: httpx.Client) -> str:
    """Return a finished generation with a file and a thumbnail."""
    body = {"modelId": "clay", "mediaUploads": {"portrait": upload_file(http, png(900))}}
    return str(wait_for_end(http, http.post(GENERATIONS, json=body).json()["id"])["id"])


def test_the_files_go_and_the_generation_stays(http: httpx.Client, service: Service) -> None:
    generation = large(http)
    before = read(http, generation)
    listed = http.get(GENERATIONS).json()
    assert len(files(service, generation)) == 2

    answer = delete(http, generation)
    after = read(http, generation)

    assert (answer.status_code, answer.content) == (204, b"")
    assert files(service, generation) == []
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


def test_an_address_that_was_given_out_before_leads_nowhere(
    anyone: httpx.Client, http: httpx.Client
) -> None:
    generation = large(http)
    told = read(http, generation)
    delete(http, generation)

    for address in (told["outputUrl"], told["output"]["thumbnailUrl"]):
        assert anyone.get(address).status_code == 404


def test_whoever_polls_is_told_that_something_has_changed(http: httpx.Client) -> None:
    generation = generate(http)
    wait_for_end(http, generation)
    path = f"{GENERATIONS}/{generation}"
    tag = http.get(path).headers["ETag"]
    delete(http, generation)

    again = http.get(path, headers={"If-None-Match": tag})
    assert (again.status_code, again.json()["outputUrl"]) == (200, None)
    assert http.get(path, headers={"If-None-Match": again.headers["ETag"]}).status_code == 304


def test_deleting_again_is_fine_and_changes_nothing(http: httpx.Client) -> None:
    generation = generate(http)
    wait_for_end(http, generation)
    delete(http, generation)
    told = read(http, generation)

    assert delete(http, generation).status_code == 204
    assert read(http, generation) == told


def test_one_that_is_processing_is_a_conflict(http: httpx.Client) -> None:
    generation = generate(http, does="hangs")
    wait_for_start(http, generation)
    answer = delete(http, generation)

    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "conflict")
    assert "cancel it" in answer.json()["error"]["message"]
    http.post(f"{GENERATIONS}/{generation}/cancel")
    assert delete(http, generation).status_code == 204
    assert read(http, generation)["outputsDeletedAt"] is None


def test_one_that_failed_has_nothing_to_delete(http: httpx.Client) -> None:
    generation = generate(http, does="fails")
    wait_for_end(http, generation)

    assert delete(http, generation).status_code == 204
    assert read(http, generation)["outputsDeletedAt"] is None
    assert balance(http) == 100


def test_an_unknown_one_and_a_key_without_the_scope_are_refused(
    http: httpx.Client, service: Service, account: str
) -> None:
    generation = generate(http)
    wait_for_end(http, generation)
    with service.client(service.key(account)) as reader:
        assert delete(reader, generation).status_code == 403

    assert delete(http, "gen_0").status_code == 404
    assert read(http, generation)["outputUrl"] is not None


def test_whoever_follows_it_is_told_the_end_without_an_address(http: httpx.Client) -> None:
    generation = generate(http)
    wait_for_end(http, generation)
    delete(http, generation)

    told = http.get(f"{GENERATIONS}/{generation}/events").text
    assert '"outputUrl":null' in told
