"""A request that waits for its generation: one answer instead of many polls."""

import httpx

from tests.waiting import GENERATIONS, generate, wait_for_end, wait_for_start


def waited(http: httpx.Client, generation: str, **headers: str) -> httpx.Response:
    return http.get(f"{GENERATIONS}/{generation}", headers={"Prefer": "wait=20", **headers})


def test_it_is_answered_when_the_generation_is_finished(http: httpx.Client) -> None:
    answer = waited(http, generate(http, does="dawdles"))

    assert answer.json()["status"] == "completed"
    assert answer.headers["Preference-Applied"] == "wait=20"
    assert "Retry-After" not in answer.headers


def test_one_that_is_finished_is_answered_at_once(http: httpx.Client) -> None:
    generation = generate(http)
    done = wait_for_end(http, generation)

    answer = waited(http, generation)

    assert answer.json()["updatedAt"] == done["updatedAt"]
    assert answer.elapsed.total_seconds() < 5


def test_when_the_time_is_up_the_answer_is_what_a_poll_gets(http: httpx.Client) -> None:
    hanging = generate(http, does="hangs")
    answer = waited(http, hanging, Prefer="wait=1")
    http.post(f"{GENERATIONS}/{hanging}/cancel")

    assert (answer.status_code, answer.json()["status"]) == (200, "processing")
    assert int(answer.headers["Retry-After"]) >= 1


def test_who_knows_a_version_is_told_of_the_next_or_that_there_is_none(http: httpx.Client) -> None:
    hanging = generate(http, does="hangs")
    wait_for_start(http, hanging)
    known, told = '"none"', []
    for _ in range(6):
        answer = waited(http, hanging, Prefer="wait=2", **{"If-None-Match": known})
        known = answer.headers["ETag"]
        if answer.status_code == 304:
            break
        told.append(answer.json()["progress"])
    http.post(f"{GENERATIONS}/{hanging}/cancel")

    assert answer.status_code == 304
    assert told[-1] == 0.5


def test_a_generation_of_nobody_is_not_waited_for(http: httpx.Client) -> None:
    answer = waited(http, "gen_01JD0000000000000000000000")

    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
