"""Functions that wait for a condition by polling; a timeout reports the last value."""

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

import httpx

T = TypeVar("T")
GENERATIONS = "/v1/creative-studio/generations"


def until(poll: Callable[[], T], done: Callable[[T], bool] = bool, seconds: float = 20) -> T:
    """Poll a value until it meets the condition, and return it."""
    pause, end = threading.Event(), time.monotonic() + seconds
    while not done(value := poll()):
        assert time.monotonic() < end, f"after {seconds} s it is still {value!r}"
        pause.wait(0.02)
    return value


def generate(http: httpx.Client, **request: Any) -> str:
    """Start a generation of the demo engine `flat` and return its id."""
    does = request.pop("does", "works")
    body = {"modelId": "flat", "prompt": "a lake", "parameters": {"does": does}, **request}
    answer = http.post(GENERATIONS, json=body)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def read(http: httpx.Client, generation_id: str) -> dict[str, Any]:
    """Return the current state of a generation."""
    answer = http.get(f"{GENERATIONS}/{generation_id}")
    assert answer.status_code == 200, answer.text
    generation: dict[str, Any] = answer.json()
    return generation


def wait_for_end(http: httpx.Client, generation_id: str) -> dict[str, Any]:
    """Return a generation once it has ended."""
    return until(lambda: read(http, generation_id), lambda it: it["status"] != "processing")


def wait_for_start(http: httpx.Client, generation_id: str) -> dict[str, Any]:
    """Return a generation once a worker has started it."""
    return until(lambda: read(http, generation_id), lambda it: it["startedAt"] is not None)


def balance(http: httpx.Client) -> float:
    """Return the balance of the account."""
    return float(http.get("/v1/account").json()["credits"])
