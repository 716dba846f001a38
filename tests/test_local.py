"""The embedded service: one for each data folder, shared by all processes."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx
import pytest

import kit
from kit import local
from kit.errors import ConfigError, InvalidApiKeyError, NotFoundError
from kit.service import settings
from tests.rights import is_private


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A data folder whose embedded service is stopped at the end."""
    yield tmp_path / "data"
    local.stop()


#: A notebook's process: it connects, prints the URL, and sends a request when it reads a line.
_NOTEBOOK = """
import json, sys, kit
from kit import local
studio = kit.connect(data=sys.argv[1])
print(studio.client.settings.base_url, flush=True)
sys.stdin.readline()
studio.account
print(json.dumps([studio.client.settings.origin, len(local.hosted)]), flush=True)
sys.stdin.readline()
"""


@contextmanager
def notebook(data: Path) -> Iterator[subprocess.Popen[str]]:
    """Run another process on the same folder; the first one hosts the service."""
    command = [sys.executable, "-c", _NOTEBOOK, str(data)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:  # type: ignore[call-overload]
        try:
            assert process.stdout.readline().startswith("http://127.0.0.1:")
            yield process
        finally:
            process.kill()


def account(url: str, key: str) -> dict[str, object]:
    headers = {"Authorization": f"Bearer {key}"}
    response = httpx.get(f"{url}/v1/account", headers=headers, verify=False)
    assert response.status_code == 200, response.text
    facts: dict[str, object] = response.json()
    return facts


def test_the_first_call_starts_the_service_and_creates_a_key_with_all_scopes(data: Path) -> None:
    url, key = local.start_embedded(data)
    facts = account(url, key)

    assert key.startswith("cs_test_")
    assert (facts["name"], facts["credits"]) == ("Demo", local.DEMO_CREDITS)
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=url, headers=headers, verify=False) as http:
        assert http.get("/v1/creative-studio/generations").status_code == 200
        assert http.post("/v1/scripts/title", json={"topic": "SPACE"}).status_code == 200


def test_the_same_folder_has_one_service_and_one_key(data: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(local.start_embedded, [data, str(data)] * 2))) == 1


def test_notebooks_started_at_once_share_one_account(data: Path) -> None:
    settings.prepare(data)
    here = settings.load(data=data)

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(local.demo_key, [here] * 4))) == 1


def test_two_folders_have_two_services(data: Path, tmp_path: Path) -> None:
    first, second = local.start_embedded(data), local.start_embedded(tmp_path / "other")

    assert first[0] != second[0]
    assert account(*first)["id"] != account(*second)["id"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"key": "cs_test_wrong"}', '{"key": 7}', "7"])
def test_an_invalid_demo_key_and_an_outdated_address_are_replaced(data: Path, text: str) -> None:
    settings.prepare(data)
    (data / "demo.json").write_text(text)
    address = {"url": "http://127.0.0.1:9", "instance": "gone", "pid": os.getpid()}
    (data / "service.json").write_text(json.dumps(address))

    assert account(*local.start_embedded(data))


def test_only_the_owner_can_read_the_data_folder(data: Path) -> None:
    local.start_embedded(data)

    files = (data / name for name in ("demo.json", "service.json", "secret"))
    assert all(map(is_private, (data, *files)))


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    if os.access(tmp_path, os.W_OK):
        pytest.skip("this user may write everywhere, or this system has other permissions")

    with pytest.raises(ConfigError, match="cannot be written; set KIT_DATA"):
        kit.connect(data=tmp_path, profile="embedded")


def test_the_local_service_is_not_proxied(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = local.start_embedded(data)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)

    with kit.connect(data=data) as studio:
        assert (local.find(data), studio.account.name) == (ours[0], "Demo")


def test_the_keys_of_the_demo_account_can_be_managed(data: Path) -> None:
    url, key = local.start_embedded(data)
    keys = local.LocalKeys(data, key)

    key_text = keys.create("laptop", ["creative:generate"], 30)
    first, second = keys.list_all()

    assert account(url, key_text) == account(url, key)
    assert (first.in_use, second.in_use) == (True, False)
    assert (second.name, second.state) == ("laptop", "active")
    assert second.scopes == ("read", "creative:generate")
    assert second.expires_at is not None
    keys.revoke(second.id)
    assert [each.state for each in keys.list_all()] == ["active", "revoked"]
    assert key_text not in repr(keys.list_all())


def test_a_revoked_demo_key_is_replaced_for_the_same_account(data: Path) -> None:
    url, key = local.start_embedded(data)
    before = account(url, key)
    keys = local.LocalKeys(data, key)
    keys.revoke(keys.list_all()[0].id)
    assert [(one.state, one.in_use) for one in keys.list_all()] == [("revoked", True)]

    again = local.start_embedded(data)[1]

    assert again != key
    assert account(url, again) == before


def test_the_service_starts_and_lists_keys_inside_a_running_event_loop(data: Path) -> None:
    async def cell() -> int:
        return len(local.LocalKeys(data, local.start_embedded(data)[1]).list_all())

    assert asyncio.run(cell()) == 1


def test_keys_of_another_account_cannot_be_managed(data: Path) -> None:
    _, key = local.start_embedded(data)

    with pytest.raises(NotFoundError):
        local.LocalKeys(data, key).revoke("key_of_somebody_else")
    with pytest.raises(InvalidApiKeyError):
        local.LocalKeys(data, "cs_test_nonsense").list_all()


def test_a_studio_continues_when_the_process_with_its_service_ends(data: Path) -> None:
    with notebook(data) as host:
        studio = kit.connect(data=data)
        generation = studio.generate("poster", "a lake", size=512, seed=1)
        picture = generation.output.bytes()
        form = studio.form("poster", "a lake", size=512, seed=2)
        owner, there = studio.account.id, studio.client.settings.origin
        astudio = asyncio.run(kit.aconnect(data=data))
        host.kill()
        host.wait()
    generation.output.path().unlink()

    assert studio.account.id == owner
    assert studio.client.settings.origin != there
    assert generation.output.bytes() == picture  # its URL is that of the old host
    assert form.submit().result(60).status == "completed"
    assert asyncio.run(astudio.history.list(5))[1].id == generation.id
    assert len(local.hosted) == 1
    studio.close()
    asyncio.run(astudio.close())


def test_one_of_two_notebooks_that_lose_their_host_becomes_the_host(data: Path) -> None:
    with notebook(data) as host, notebook(data) as first, notebook(data) as second:
        host.kill()
        host.wait()
        for each in (first, second):
            each.stdin.write("go\n")
            each.stdin.flush()
        (place, hosts), (other_place, other_hosts) = (
            json.loads(each.stdout.readline()) for each in (first, second)
        )

    assert place == other_place
    assert hosts + other_hosts == 1


def test_a_call_at_interpreter_exit_causes_no_python_warning(data: Path) -> None:
    code = (
        "import atexit, gc, sys, threading, kit\n"
        "for studio in (kit.connect(data=sys.argv[1]) for _ in range(2)):\n"
        "    studio.account\n"
        "gc.collect()\n"
        "atexit.register(lambda: studio.account)\n"
        "calls = (studio.account for _ in iter(int, 1))\n"
        "thread = threading.Thread(target=list, args=[calls], daemon=True)\n"
        "atexit.register(thread.join, 9)\n"
        "thread.start()\n"
    )
    command = [sys.executable, "-W", "error::ResourceWarning", "-c", code, str(data)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert "the program's main thread has ended" in done.stderr
    assert "ResourceWarning" not in done.stderr
    assert "Exception in thread" not in done.stderr


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("sys.frozen = True", "a frozen program, as of PyInstaller, has no Python to render with"),
        ("sys.modules['gevent.monkey'] = Mock()", "gevent has replaced the threads"),
    ],
)
def test_some_programs_only_use_a_service_that_already_runs(
    data: Path, change: str, sentence: str
) -> None:
    code = f"import sys, kit; from unittest.mock import Mock; {change}"
    command = [sys.executable, "-c", f"{code}; print(kit.connect(data=sys.argv[1]).account.name)"]
    run = partial(subprocess.run, [*command, str(data)], capture_output=True, text=True)

    assert sentence in run().stderr
    local.start_embedded(data)
    assert run().stdout == "Demo\n"


def test_a_service_that_was_stopped_explicitly_is_not_restarted(data: Path) -> None:
    url, key = local.start_embedded(data)
    before = account(url, key)
    follow = local.make_follower(data, key)
    local.stop()

    with pytest.raises(ConfigError, match="it was stopped here"):
        follow(url)
    again = local.start_embedded(data)
    assert follow(url) == again[0]
    assert account(*again) == before


def test_a_service_whose_thread_has_ended_is_restarted(data: Path) -> None:
    url, key = local.start_embedded(data)
    follow = local.make_follower(data, key)
    local.hosted[data].stop()

    assert account(follow(url), key)


def test_a_studio_of_another_account_does_not_follow_the_service(data: Path) -> None:
    url, _ = local.start_embedded(data)

    with pytest.raises(ConfigError, match="another demo key"):
        local.make_follower(data, "cs_test_of_somebody_else")(url)


def test_log_messages_of_the_service_are_written_to_a_file_only(data: Path) -> None:
    script = """
import logging, sys, kit
from kit.errors import GenerationFailedError
studio = kit.connect(data=sys.argv[1])
try:
    studio.generate("flat", "a lake", does="raises")
except GenerationFailedError as error:
    print(error)
    logging.getLogger("kit.worker").warning("2 claims expired")
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(data)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "KIT_PROGRESS": "0"},
    )
    log = data / "service.log"

    assert f"the engine failed (RuntimeError); more in {log}; " in done.stdout
    assert done.stderr.startswith("kit.connect:1: UserWarning: the engine 'broken' of ")
    assert len(done.stderr.splitlines()) == 1
    for text in ("is left out", "almost there", "RuntimeError: ", "2 claims expired"):
        assert text in log.read_text()
    assert is_private(log)


@pytest.mark.parametrize("use", ["estimate", "generate"])
def test_a_changed_engine_is_read_again_when_the_service_starts(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, use: str
) -> None:
    (info := tmp_path / "more-1.0.dist-info").mkdir()
    (info / "entry_points.txt").write_text("[kit.engines]\nmore = more:More")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: more\nVersion: 1.0")
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "__init__.py").write_text("from more.engine import More")
    studios = []
    for price in (1, 12):
        (tmp_path / "more" / "engine.py").write_text(f"""
from dataclasses import replace
from demo_engines import *
class More(Flat):
    definition = replace(Flat.definition, id="more", pricing=Rule(base=Decimal({price})))
""")
        studios.append(kit.connect(data=data))
        for studio in studios:
            getattr(studio, use)("more", f"a lake, {len(studios)}")
            assert studio.models["more"].credits_from == price
            assert studio.estimate("more", "a lake").total == price
        local.stop()
    for studio in studios:
        studio.close()


def test_a_program_with_a_server_of_its_own_keeps_its_log(data: Path) -> None:
    script = """
import asyncio, logging, sys, httpx, kit, uvicorn
studio = kit.connect(data=sys.argv[1])
async def app(scope, receive, send):
    assert scope["type"] == "http"
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})
async def main():
    server = uvicorn.Server(uvicorn.Config(app, port=0, lifespan="off"))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    other = await kit.aconnect(data=sys.argv[2])
    await other.generate("flat", "a lake")
    async with httpx.AsyncClient() as http:
        await http.get(f"http://127.0.0.1:{port}/mine")
    server.should_exit = True
    await serving
asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(data), str(data.with_name("other"))],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "KIT_PROGRESS": "0"},
    )
    lines = (done.stdout + done.stderr).splitlines()

    assert sum("GET /mine" in line for line in lines) == 1
    assert sum("Finished server process" in line for line in lines) == 1
    assert sum("127.0.0.1" in line for line in lines) == 2, "its address and its request"
    assert "Finished" not in (data / "service.log").read_text()


@pytest.mark.parametrize(("variable", "limit"), [("", 60_000), ("700", 700)])
def test_the_embedded_service_does_not_slow_a_batch_unless_it_is_configured(
    data: Path, monkeypatch: pytest.MonkeyPatch, variable: str, limit: int
) -> None:
    monkeypatch.setenv("KIT_REQUESTS_PER_MINUTE", variable)
    url, key = local.start_embedded(data)

    response = httpx.get(f"{url}/v1/account", headers={"Authorization": f"Bearer {key}"})

    assert f"q={limit};" in response.headers["ratelimit-policy"]
