"""Waiting without sleeping blindly: look again until it is so, or say what was seen last."""

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

import httpx

T = TypeVar("T")
GENERATIONS = "/v1/creative-studio/generations"


def until(look: Callable[[], T], done: Callable[[T], bool] = bool, seconds: float = 20) -> T:
    """Look again and again until what is seen is as wanted."""
    pause, end = threading.Event(), time.monotonic() + seconds
    while not done(seen := look()):
        assert time.monotonic() < end, f"after {seconds} s it is still {seen!r}"
        pause.wait(0.02)
    return seen


def started(http: httpx.Client, **order: Any) -> str:
    """Start a generation of the demo engine `flat` and return its id."""
    does = order.pop("does", "works")
    body = {"modelId": "flat", "prompt": "a lake", "parameters": {"does": does}, **order}
    answer = http.post(GENERATIONS, json=body)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def read(http: httpx.Client, generation_id: str) -> dict[str, Any]:
    """Return a generation as it is now."""
    answer = http.get(f"{GENERATIONS}/{generation_id}")
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def finished(http: httpx.Client, generation_id: str) -> dict[str, Any]:
    """Return a generation once it has ended."""
    return until(lambda: read(http, generation_id), lambda it: it["status"] != "processing")


def running(http: httpx.Client, generation_id: str) -> dict[str, Any]:
    """Return a generation once a worker has begun."""
    return until(lambda: read(http, generation_id), lambda it: it["startedAt"] is not None)


def balance(http: httpx.Client) -> float:
    """Return what the account can spend."""
    return float(http.get("/v1/account").json()["credits"])
