from __future__ import annotations

import copyreg
import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from kit import wire
from kit.client import calls, flows
from kit.client.calls import Flow, Reply, SendRequest, Sleep
from kit.client.flows import Policy
from kit.client.settings import Settings
from kit.client.sync import Client
from kit.client.waiting import SharedWait
from kit.errors import InvalidApiKeyError, KitError, NoAnswerError, NotFoundError
from tests.client.fixtures import Clock, drive, get_pauses, ok, status


def state(word: str = "processing", **headers: str) -> Reply:
    return ok({"id": "g", "status": word}, **headers)


def wait(policy: Policy, *outcomes: Any, **options: Any) -> tuple[list[Any], Any]:
    return drive(SharedWait(policy).wait("g", **options), *outcomes)


@pytest.mark.parametrize("word", sorted(wire.FINISHED))
def test_waiting_ends_at_every_final_status(word: str, policy: Policy) -> None:
    _, result = wait(policy, state(), state(word))

    assert result.state == wire.FINISHED[word]


@pytest.mark.parametrize("word", ["FAIL", "TIMED_OUT", "timeout"])
def test_every_failure_status_means_failed(word: str) -> None:
    assert wire.Generation(id="g", status=word).state == "failed"


def test_an_unknown_status_with_an_output_means_completed(policy: Policy) -> None:
    done = ok({"id": "g", "status": "hooray", "outputUrl": "https://a.test/x"})

    _, result = wait(policy, state("sleeping"), done)

    assert result.state == "completed"


@pytest.mark.parametrize(("asked", "pause"), [("3", 3.0), ("60", 5.0)])
def test_retry_after_sets_the_polling_pause_until_the_timeout(
    policy: Policy, asked: str, pause: float
) -> None:
    steps, _ = wait(policy, state(retry_after=asked), state("completed"), timeout=5.0)

    assert get_pauses(steps) == [pause]


def test_without_retry_after_the_polling_pause_grows(clock: Clock, policy: Policy) -> None:
    seen: list[float] = []

    def poll(_: wire.Generation) -> None:
        seen.append(clock.now)
        clock.now += 10.0

    steps, _ = wait(policy, *[state()] * 5, state("completed"), on_update=poll)

    assert get_pauses(steps) == pytest.approx([0.1, 1.5, 3.0, 4.5, 5.0])


def test_polls_send_the_etag_of_the_last_answer(policy: Policy) -> None:
    updates: list[str] = []
    steps, result = wait(
        policy,
        state(etag='"1"'),
        Reply(304),
        state("completed"),
        on_update=lambda g: updates.append(g.status),
    )

    asked = [step.headers.get("If-None-Match") for step in steps if isinstance(step, SendRequest)]
    assert asked == ['"unseen"', '"1"', '"1"']
    assert updates == ["processing", "processing", "completed"]
    assert result.status == "completed"


def test_a_timeout_names_the_generation(clock: Clock, policy: Policy) -> None:
    def poll(_: wire.Generation) -> None:
        clock.now += 4.0

    _, error = wait(policy, *[state()] * 9, timeout=10.0, on_update=poll)

    assert isinstance(error, NoAnswerError)
    assert error.generation_id == "g"
    assert "not finished after 10 s" in str(error)


@pytest.mark.parametrize("bad", [status(401), status(404), status(501)])
def test_an_error_while_waiting_names_the_generation(bad: Reply, policy: Policy) -> None:
    _, error = wait(policy, state(), bad)

    assert error.generation_id == "g"


def test_one_failed_poll_does_not_end_the_wait(policy: Policy) -> None:
    _, done = wait(policy, state(), status(500), state("completed"))

    assert done.state == "completed"


def test_a_generation_that_other_servers_do_not_know_yet_is_waited_for(policy: Policy) -> None:
    _, done = wait(policy, status(404), status(404), state("completed"), is_new=True)

    assert done.state == "completed"


def test_a_busy_service_is_waited_for_no_longer_than_the_timeout(policy: Policy) -> None:
    steps, error = wait(policy, state(), status(503, retry_after="20"), timeout=5.0)

    assert max(get_pauses(steps)) < 5.0
    assert error.generation_id == "g"
    assert str(error).endswith("the service asks to wait 20 s before the next request")


# ── long polling ──────────────────────────────────────────────────────────────────────────────────


def hold(body: Any = None, etag: str = '"1"') -> Reply:
    headers = {"preference-applied": "wait=20", "etag": etag, "retry-after": "1"}
    return Reply(304, headers) if body is None else Reply(200, headers, json.dumps(body).encode())


def test_polls_ask_the_service_to_hold_its_answer(clock: Clock, policy: Policy) -> None:
    steps, _ = wait(policy, hold({"id": "g"}), hold({"id": "g", "status": "completed"}))

    asked = [step.headers for step in steps if isinstance(step, SendRequest)]
    assert [headers["Prefer"] for headers in asked] == ["wait=20"] * 2
    assert [headers["If-None-Match"] for headers in asked] == ['"unseen"', '"1"']


def test_the_next_poll_follows_a_held_answer_at_once(policy: Policy) -> None:
    done = hold({"id": "g", "status": "done"})
    steps, _ = wait(policy, hold({"id": "g"}), done)
    unheld, _ = wait(policy, hold({"id": "g"}), hold(), done)

    assert get_pauses(steps) == [0.05]
    assert get_pauses(unheld) == [0.05, 1.0], "a service that only claims to hold decides the pause"


def test_an_answer_is_held_no_longer_than_the_timeout(clock: Clock, policy: Policy) -> None:
    steps, _ = wait(policy, hold({"id": "g"}), hold({"id": "g", "status": "done"}), timeout=2.9)

    assert [step.headers.get("Prefer") for step in steps if isinstance(step, SendRequest)] == [
        "wait=2"
    ] * 2


def test_a_304_to_an_unknown_etag_is_repeated_without_the_etag(policy: Policy) -> None:
    steps, result = wait(policy, Reply(304), state("completed"))

    assert "If-None-Match" not in [s for s in steps if isinstance(s, SendRequest)][1].headers
    assert result.state == "completed"


# ── many at once ──────────────────────────────────────────────────────────────────────────────────

LIST = "/v1/creative-studio/generations"


class Service:
    """Generations that end `each` seconds after one another; it records the requests.

    `shows` is the page size, `links` whether a page links to the next, `hides` whether running
    generations are not listed, `broken` the answer to a request for the list.
    """

    def __init__(
        self,
        clock: Clock,
        count: int,
        *,
        each: float = 0.3,
        shows: int = 10_000,
        links: bool = False,
        hides: bool = False,
        broken: Reply | None = None,
    ) -> None:
        self.clock, self.each, self.shows = clock, each, shows
        self.links, self.hides, self.broken = links, hides, broken
        self.ids = [f"g{number}" for number in range(count)]
        self.asked: list[str] = []
        self.times: list[float] = []
        self.refuses: set[str] = set()

    def __call__(self, step: SendRequest) -> Reply:
        path, _, query = step.call.path.partition("?")
        self.asked.append(path)
        self.times.append(self.clock.now)
        if path == LIST:
            if self.refuses & {"list", *step.call.query}:
                return status(400 if "list" not in self.refuses else 404)
            limit = int(step.call.query.get("limit", 50))
            return self.broken or self.page(limit, int(query.partition("=")[2] or 0))
        known = path.rpartition("/")[2]
        return ok(self.to_json(known)) if known in self.ids else status(404)

    def page(self, limit: int, start: int) -> Reply:
        rows = [self.to_json(known) for known in reversed(self.ids)]
        if self.hides:
            rows = [row for row in rows if row["status"] == "completed"]
        end = start + min(self.shows, limit)
        more = self.links and end < len(rows)
        return ok(rows[start:end], **({"link": f'<{LIST}?from={end}>; rel="next"'} if more else {}))

    def to_json(self, known: str) -> dict[str, str]:
        ended = self.clock.now >= self.each * (1 + self.ids.index(known))
        return {"id": known, "status": "completed" if ended else "processing"}

    @property
    def lists(self) -> int:
        return self.asked.count(LIST)

    def busiest(self, seconds: float) -> int:
        """The most requests within some seconds."""
        return max(sum(t <= each < t + seconds for each in self.times) for t in self.times)


def drive_all(shared: SharedWait, service: Service, clock: Clock, ids: list[str]) -> dict[str, Any]:
    """Drive a wait for each id as in threads of their own; return each result or error."""
    waits = {known: shared.wait(known) for known in ids}
    wakes: dict[str, tuple[float, Any]] = dict.fromkeys(ids, (0.0, None))
    ended: dict[str, Any] = {}
    while wakes:
        known = min(wakes, key=lambda name: wakes[name][0])
        moment, outcome = wakes.pop(known)
        clock.now = max(clock.now, moment)
        try:
            step = waits[known].send(outcome)
            answer = None if isinstance(step, Sleep) else service(step)
            pause = step.seconds if isinstance(step, Sleep) else 0.001
            wakes[known] = (clock.now + pause, answer)
        except StopIteration as stop:
            ended[known] = stop.value
        except KitError as error:
            ended[known] = error
    return ended


def check_all(shared: SharedWait, service: Service, ids: list[str]) -> dict[str, wire.Generation]:
    """Drive one check of some generations, and return those it finds."""
    flow = shared.check_all(dict.fromkeys(ids))
    try:
        step = next(flow)
        while True:
            step = flow.send(service(step))  # type: ignore[arg-type]
    except StopIteration as stop:
        found: dict[str, wire.Generation] = stop.value
        return found


def test_a_hundred_waiters_share_one_request_per_pause(clock: Clock, policy: Policy) -> None:
    service = Service(clock, 100)

    ended = drive_all(SharedWait(policy), service, clock, service.ids)

    assert {item.state for item in ended.values()} == {"completed"}
    assert clock.now == pytest.approx(30.0, abs=6.0)
    assert len(service.asked) <= 32
    assert service.lists >= len(service.asked) - 5


def test_a_generation_missing_from_the_list_is_polled_alone(clock: Clock, policy: Policy) -> None:
    service = Service(clock, 30, shows=10)

    ended = drive_all(SharedWait(policy), service, clock, service.ids)

    assert {item.state for item in ended.values()} == {"completed"}
    assert 0 < service.lists < len(service.asked)


@pytest.mark.parametrize(
    ("pages", "most"),
    [
        ({"shows": 10, "links": True}, 11),
        ({"shows": 10}, 21),
        ({"hides": True}, 21),
        ({"hides": True, "shows": 10, "links": True}, 21),
        ({"broken": Reply(200, {}, b'{"items": []}')}, 21),
        ({"broken": ok([])}, 21),
    ],
)
def test_an_incomplete_list_causes_a_limited_number_of_requests(
    clock: Clock, policy: Policy, pages: dict[str, Any], most: int
) -> None:
    service = Service(clock, 100, each=0.0, **pages)
    began = 120.0
    service.to_json = lambda known: {  # type: ignore[method-assign]
        "id": known,
        "status": "completed"
        if clock.now >= began + service.ids.index(known) / 10
        else "processing",
    }

    ended = drive_all(SharedWait(policy), service, clock, service.ids)

    assert {item.state for item in ended.values()} == {"completed"}
    assert clock.now - began < 45  # they end within ten seconds, and each is polled later
    assert service.busiest(10.0) <= 4 * 10 + most
    late = [moment for moment in service.times if 60 <= moment < 110]
    assert len(late) <= most * 11


def test_pages_are_followed_while_they_hold_several_of_ours(clock: Clock, policy: Policy) -> None:
    service = Service(clock, 1000, each=0.0, shows=10, links=True)

    found = check_all(SharedWait(policy), service, ["g999", "g998", "g3"])

    assert list(found) == ["g999", "g998", "g3"]
    assert service.asked == [LIST, LIST, f"{LIST}/g3"]


def test_a_list_without_awaited_generations_is_read_again_sometimes(
    clock: Clock, policy: Policy
) -> None:
    service = Service(clock, 40, each=3.0, hides=True)

    drive_all(SharedWait(policy), service, clock, service.ids)

    singles = len(service.asked) - service.lists
    assert service.lists > 5
    assert singles > service.lists


def test_a_long_list_with_few_awaited_generations_is_rarely_read(
    clock: Clock, policy: Policy
) -> None:
    service = Service(clock, 1000, each=0.05)  # the last ones end after 50 s
    whole = service.page
    service.page = lambda _limit, _start: whole(1000, 0)  # type: ignore[method-assign]

    ended = drive_all(SharedWait(policy), service, clock, service.ids[-3:])

    assert {item.state for item in ended.values()} == {"completed"}
    assert 0 < service.lists < len(service.asked) / 5


@pytest.mark.parametrize("bad", [status(401), status(429, retry_after="900")])
def test_an_error_that_concerns_every_request_ends_the_wait(
    clock: Clock, policy: Policy, bad: Reply
) -> None:
    service = Service(clock, 5, each=30.0, broken=bad)

    ended = drive_all(SharedWait(policy), service, clock, service.ids)

    assert sum(isinstance(error, KitError) for error in ended.values()) >= 4  # one was alone


@pytest.mark.parametrize("bad", [402, 409, 413, 415, 422, 431])
def test_a_list_that_is_refused_does_not_end_the_wait(
    clock: Clock, policy: Policy, bad: int
) -> None:
    service = Service(clock, 5, broken=status(bad))

    ended = drive_all(SharedWait(policy), service, clock, service.ids)

    assert {item.state for item in ended.values()} == {"completed"}


@pytest.mark.parametrize("refused", ["limit", "list"])
def test_waiting_works_where_the_list_or_its_limit_is_refused(
    clock: Clock, policy: Policy, refused: str
) -> None:
    service = Service(clock, 60)
    service.refuses.add(refused)

    ended = drive_all(SharedWait(policy), service, clock, service.ids)

    assert {item.state for item in ended.values()} == {"completed"}
    assert service.lists == 1 if refused == "list" else service.lists > 3


def test_an_unknown_id_does_not_disturb_the_other_waits(clock: Clock, policy: Policy) -> None:
    service = Service(clock, 5)

    ended = drive_all(SharedWait(policy), service, clock, [*service.ids, "nobody"])

    error = ended.pop("nobody")
    assert isinstance(error, NotFoundError)
    assert error.generation_id == "nobody"
    assert {item.state for item in ended.values()} == {"completed"}


def test_a_shared_failure_names_each_waiters_own_generation(
    clock: Clock, policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    # as with a loaded Dask library, which makes `copy` share the attributes of errors
    monkeypatch.setitem(copyreg.dispatch_table, InvalidApiKeyError, lambda e: (lambda: e, ()))
    service = Service(clock, 8)
    answer = service.__call__
    service.to_json = lambda known: {"id": known, "status": "processing"}  # type: ignore[method-assign]

    def answer_until_revoked(step: SendRequest) -> Reply:
        return status(401) if clock.now > 3 else answer(step)

    ended = drive_all(SharedWait(policy), answer_until_revoked, clock, service.ids)  # type: ignore[arg-type]

    assert {type(error) for error in ended.values()} == {InvalidApiKeyError}
    assert {known: error.generation_id for known, error in ended.items()} == {
        known: known for known in service.ids
    }


def test_a_waiter_that_polls_for_others_is_replaced(clock: Clock, policy: Policy) -> None:
    shared, service = SharedWait(policy), Service(clock, 2, each=0.0)
    first, second, third = (shared.wait(known) for known in ("g0", "g1", "g0"))
    next(first)
    step = next(second)
    assert step.call.path == LIST
    second.close()  # canceled during its request

    ended = drive_all(shared, service, clock, ["g1"])
    first.close()
    third.close()

    assert ended["g1"].state == "completed"


def test_checking_many_generations_takes_one_list_request(clock: Clock, policy: Policy) -> None:
    service = Service(clock, 40)

    found = check_all(SharedWait(policy), service, [*service.ids[:30], "nobody"])

    assert list(found) == service.ids[:30]
    assert len(service.asked) == 2


@pytest.mark.parametrize(
    ("pages", "most"),
    [({"shows": 10, "links": True}, 4), ({"shows": 10}, 21), ({"hides": True}, 31)],
)
def test_checking_many_requests_each_generation_at_most_once(
    clock: Clock, policy: Policy, pages: dict[str, Any], most: int
) -> None:
    service = Service(clock, 30, each=100.0, **pages)

    assert list(check_all(SharedWait(policy), service, service.ids)) == service.ids
    assert len(service.asked) <= most


def test_our_service_holds_its_answers(service: Any, key: str, tmp_path: Path) -> None:
    replies: list[Reply] = []

    def record_replies(flow: Flow[Any]) -> Flow[Any]:
        step = next(flow)
        try:
            while True:
                outcome = yield step
                replies.extend([outcome] if isinstance(outcome, Reply) else [])
                step = flow.send(outcome)
        except StopIteration as stop:
            return stop.value

    order = wire.StartGeneration(model_id="flat", prompt="a lake", parameters={"does": "works"})
    with closing(Client(Settings(service.url, key, tmp_path))) as client:
        receipt = client.run(flows.ask(calls.start_generation(order)))

        done = client.run(record_replies(SharedWait().wait(receipt.id, timeout=30)))

    assert done.state == "completed"
    assert any("preference-applied" in reply.headers for reply in replies)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_polls_for_itself() -> None:
    code = """
import os
from kit.client.waiting import SharedWait

shared = SharedWait()
others = [shared.wait(f"gen_{number}") for number in range(3)]
steps = [next(one) for one in others]
child = os.fork()
if child:
    os.waitpid(child, 0)
print(type(next(shared.wait("gen_3"))).__name__, flush=True)
if not child:
    os._exit(0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)

    assert done.stdout.split() == ["SendRequest", "Sleep"], done.stderr
