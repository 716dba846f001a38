"""Engines with large weights: their jobs share one process; other jobs do not wait for it."""

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from kit import file_metadata
from kit.file_metadata import COMPOSITE, TRAINED
from kit.service.domain import credits
from kit.service.worker.environment import pick_variables
from kit.service.worker.pool import LostError, Pool
from tests.clusters import any_pool
from tests.conftest import ALL_SCOPES, Service
from tests.service.worker.conftest import use_pool
from tests.service.worker.test_pool import ignore, task
from tests.waiting import balance, generate, read, wait_for_end, wait_for_start

PLUGINS = Path(__file__).parent / "plugins"


@pytest.fixture(autouse=True)
def heavy_engines(monkeypatch: pytest.MonkeyPatch, plugins: None, tmp_path: Path) -> None:
    """Let the service and its render processes find the engines."""
    monkeypatch.syspath_prepend(str(PLUGINS))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(PLUGINS), os.environ["PYTHONPATH"])))
    monkeypatch.setenv("HEAVY_MARKER", str(tmp_path / "marker"))
    monkeypatch.setenv("HEAVY_SPENT", str(tmp_path / "spent"))


@pytest.fixture
def http(start_service: Callable[..., Service]) -> Iterator[httpx.Client]:
    """A client of a service with two render processes."""
    service = start_service(workers=2)
    with service.client(service.key(service.account(), *ALL_SCOPES)) as caller:
        yield caller
    assert service.write(credits.verify()) == []


def heavy(folder: Path, model: str = "heavy", prompt: str = "is slow") -> dict[str, Any]:
    asked = {"model_id": model, "prompt": prompt, "parameters": {}}
    return {**task(folder), **asked, "environment": pick_variables(("HEAVY_MARKER", "HEAVY_SPENT"))}


def order(http: httpx.Client, model: str, prompt: str) -> str:
    return generate(http, modelId=model, prompt=prompt, parameters={})


def test_resident_jobs_share_a_process_without_memory_limits(tmp_path: Path) -> None:
    async def work(pool: Pool) -> list[Any]:
        both = [
            pool.run(name, heavy(tmp_path, name), ignore, resident=True)
            for name in ("heavy", "heavier")
        ]
        results = [*await asyncio.gather(*both)]
        results.append(await pool.run("b", heavy(tmp_path), ignore))
        results.append(await pool.run("c", heavy(tmp_path), ignore, resident=True))
        return [one["metadata"] for one in results]

    first, second, light, last = use_pool(work, tmp_path / "scratch", slots=2)

    assert first["process"] == second["process"] == last["process"] != light["process"]
    for name, most in light["limits"].items():
        assert most != first["limits"][name], f"{name} stays as it is"
        assert 0 < most < 2**40


def test_file_metadata_names_trained_weights_as_the_source(tmp_path: Path) -> None:
    picture = tmp_path / "in.png"
    picture.touch()

    async def work(pool: Pool) -> list[str | None]:
        kinds = []
        for name, media in (("made", {}), ("changed", {"image": [str(picture)]})):
            asked = {**heavy(tmp_path), "media": media, "file_metadata": True}
            await pool.run(name, {**asked, "outputs": str(tmp_path / name)}, ignore)
            [file] = (tmp_path / name).rglob("*.png")
            found = file_metadata.read(file)
            kinds.append(found and found.source_type)
        return kinds

    assert use_pool(work, tmp_path / "scratch", slots=2) == [TRAINED, COMPOSITE]


def test_a_process_that_raises_spent_error_is_replaced(tmp_path: Path) -> None:
    async def work(pool: Pool) -> Any:
        before = await pool.run("a", heavy(tmp_path), ignore, resident=True)
        with pytest.raises(LostError):
            await pool.run("b", heavy(tmp_path, prompt="is spent once"), ignore, resident=True)
        after = await pool.run("b", heavy(tmp_path, prompt="is spent once"), ignore, resident=True)
        return before["metadata"]["process"], after["metadata"]["process"]

    before, after = use_pool(work, tmp_path / "scratch", slots=2)

    assert before != after


@any_pool(2)
def test_a_job_completes_although_its_process_was_replaced(http: httpx.Client) -> None:
    done = wait_for_end(http, order(http, "heavy", "is spent once"))

    assert done["status"] == "completed"
    assert balance(http) == 99.5


@any_pool(2)
def test_heavy_jobs_are_rendered_by_the_same_process(http: httpx.Client) -> None:
    done = [
        wait_for_end(http, order(http, name, "is slow")) for name in ("heavy", "heavier", "heavy")
    ]

    assert len({one["output"]["metadata"]["process"] for one in done}) == 1


@any_pool(2)
def test_light_jobs_overtake_waiting_heavy_jobs(http: httpx.Client) -> None:
    first = order(http, "heavy", "waits")
    wait_for_start(http, first)
    others = [order(http, name, "is slow") for name in ("heavier", "heavy", "heavier")]
    light = [generate(http) for _ in range(3)]

    for one in light:
        assert wait_for_end(http, one)["status"] == "completed"
    assert [read(http, one)["startedAt"] for one in others] == [None] * 3
    http.post(f"/v1/creative-studio/generations/{first}/cancel")
    done = [wait_for_end(http, one) for one in others]
    assert [one["status"] for one in done] == ["completed"] * 3
    assert [one["startedAt"] for one in done] == sorted(one["startedAt"] for one in done)


@any_pool(2)
def test_a_waiting_heavy_job_can_be_canceled(http: httpx.Client) -> None:
    first, second = order(http, "heavy", "waits"), order(http, "heavier", "is slow")
    wait_for_start(http, first)
    for one in (second, first):
        http.post(f"/v1/creative-studio/generations/{one}/cancel")

    assert [wait_for_end(http, one)["status"] for one in (first, second)] == ["canceled"] * 2
    assert balance(http) == 99.5, "the first one was running"
