"""Requests that wait for a generation: one answer instead of many polls."""

import httpx

from tests.waiting import GENERATIONS, generate, wait_for_end, wait_for_start


def wait(http: httpx.Client, generation: str, **headers: str) -> httpx.Response:
    return http.get(f"{GENERATIONS}/{generation}", headers={"Prefer": "wait=20", **headers})


def test_a_waiting_request_is_answered_when_the_generation_ends(http: httpx.Client) -> None:
    answer = wait(http, generate(http, does="dawdles"))

    assert answer.json()["status"] == "completed"
    assert answer.headers["Preference-Applied"] == "wait=20"
    assert "Retry-After" not in answer.headers


def test_a_finished_generation_is_answered_at_once(http: httpx.Client) -> None:
    generation = generate(http)
    done = wait_for_end(http, generation)

    answer = wait(http, generation)

    assert answer.json()["updatedAt"] == done["updatedAt"]
    assert answer.elapsed.total_seconds() < 5


def test_a_waiting_request_that_times_out_gets_the_current_state(http: httpx.Client) -> None:
    hanging = generate(http, does="hangs")
    answer = wait(http, hanging, Prefer="wait=1")
    http.post(f"{GENERATIONS}/{hanging}/cancel")

    assert (answer.status_code, answer.json()["status"]) == (200, "processing")
    assert int(answer.headers["Retry-After"]) >= 1


def test_waiting_with_an_etag_returns_the_next_state_or_not_modified(http: httpx.Client) -> None:
    hanging = generate(http, does="hangs")
    wait_for_start(http, hanging)
    etag, progress = '"none"', []
    for _ in range(6):
        answer = wait(http, hanging, Prefer="wait=2", **{"If-None-Match": etag})
        etag = answer.headers["ETag"]
        if answer.status_code == 304:
            break
        progress.append(answer.json()["progress"])
    http.post(f"{GENERATIONS}/{hanging}/cancel")

    assert answer.status_code == 304
    assert progress[-1] == 0.5


def test_an_unknown_generation_is_not_waited_for(http: httpx.Client) -> None:
    answer = wait(http, "gen_01JD0000000000000000000000")

    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
