import io
import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

from kit.errors import UnavailableError
from kit.service import logs
from tests.conftest import Service
from tests.ports import free_port
from tests.waiting import GENERATIONS, generate, until, wait_for_end, wait_for_start

PROMPT = "a very private lake"


def _make_picture() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (64, 64)).save(file, "PNG")
    return file.getvalue()


PIXEL = _make_picture()


def upload(http: httpx.Client) -> str:
    body = {
        "fileName": "me.png",
        "contentType": "image/png",
        "fileSizeBytes": len(PIXEL),
        "modelId": "clay",
    }
    ticket = http.post("/v1/creative-studio/media-uploads", json=body).json()
    answer = httpx.put(ticket["uploadUrl"], content=PIXEL, headers=ticket["requiredHeaders"])
    assert answer.status_code == 200, answer.text
    return str(ticket["uploadId"])


def find_events(caplog: pytest.LogCaptureFixture, event: str) -> list[Any]:
    found = [record.args for record in caplog.records if isinstance(record.args, dict)]
    return [it for it in found if it.get("event") == event]


def run_session(service: Service, key: str) -> None:
    """Send valid and invalid requests of all kinds that handle secrets."""
    httpx.get(f"{service.url}/v1/account")
    httpx.get(f"{service.url}/v1/account", headers={"Authorization": f"Bearer {key[:-1]}x"})
    httpx.get(f"{service.url}/v1/{key}?key={key}", headers={"Authorization": f"Bearer {key}"})
    with service.client(service.key(service.account())) as reader:
        assert reader.get(GENERATIONS).status_code == 403
    with service.client(key) as http:
        http.post(GENERATIONS, json={"modelId": "flat", "prompt": PROMPT, "typo": PROMPT})
        http.post(GENERATIONS, content=PROMPT.encode())
        done = wait_for_end(http, generate(http, prompt=PROMPT))
        httpx.get(done["outputUrl"])
        httpx.get(done["outputUrl"] + "0")
        http.get(f"{GENERATIONS}/{done['id']}/events")
        for does in ("fails", "raises"):
            wait_for_end(http, generate(http, prompt=PROMPT, does=does))
        order = {"modelId": "clay", "mediaUploads": {"portrait": upload(http)}}
        http.post(GENERATIONS, json=order)
        http.get("/v1/account%0ainjected")


def test_logs_of_a_session_contain_no_secret(
    service: Service, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    run_session(service, key)
    until(lambda: find_events(caplog, "request"), lambda it: len(it) > 20)
    shown = [
        style().format(record)
        for record in caplog.records
        if record.name.startswith(("kit", "uvicorn"))
        for style in logs.STYLES.values()
    ]
    text = "\n".join(shown)

    assert len(find_events(caplog, "request")) > 20
    assert PROMPT not in text
    assert "signature" not in text
    assert "secret path" not in text, "the message of an engine's exception"
    assert not re.search(r"cs_(?:test|live)_\w{8}", text)
    assert not any("\n" in line for line in shown)


def test_a_request_event_has_its_path_status_key_and_account(
    service: Service, account: str, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with service.client(key, **{"X-Request-Id": "mine"}) as http:
        http.get("/v1/usage?limit=5")
    httpx.get(f"{service.url}/v1/account")
    known, unknown = until(lambda: find_events(caplog, "request"), lambda it: len(it) == 2)

    assert 0 < known.pop("ms") < 5000
    assert known == {
        "event": "request",
        "request": "mine",
        "method": "GET",
        "path": "/v1/usage",
        "status": 200,
        "key": key[:12],
        "account": account,
    }
    assert (unknown["status"], unknown["key"], unknown["account"]) == (401, "-", "-")


def test_job_events_name_each_step_and_attempt(
    service: Service, http: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    done, failed = generate(http), generate(http, does="fails")
    wait_for_end(http, done)
    wait_for_end(http, failed)
    canceled = generate(http, does="hangs")
    wait_for_start(http, canceled)
    http.post(f"{GENERATIONS}/{canceled}/cancel")
    lost = generate(http, does="crashes")
    wait_for_end(http, lost)

    def events_of(generation_id: str) -> list[tuple[str, int]]:
        found = [r.args for r in caplog.records if isinstance(r.args, dict)]
        return [
            (it["event"], it["attempt"]) for it in found if it.get("generation") == generation_id
        ]

    assert events_of(done) == [("job_claimed", 1), ("job_completed", 1)]
    assert events_of(failed) == [("job_claimed", 1), ("job_failed", 1)]
    assert f"{failed} attempt 1 of flat: failed (dry) after " in caplog.text
    assert f"{lost} attempt 1 of flat: lost (it ended during its job, with exit " in caplog.text
    assert until(lambda: events_of(canceled), lambda it: len(it) == 2)[1] == ("job_canceled", 1)
    assert until(lambda: events_of(lost), lambda it: len(it) == 6)[1::2] == [
        ("job_lost", 1),
        ("job_lost", 2),
        ("job_lost", 3),
    ]


@pytest.fixture
def logger() -> Iterator[logging.Logger]:
    """A logger; everything that `configure` changes is restored at the end."""
    root, ours = logging.getLogger(), logging.getLogger("kit")
    known, levels = [*root.handlers], (root.level, ours.level)
    yield logging.getLogger("kit.test")
    root.handlers[:] = known
    root.setLevel(levels[0])
    ours.setLevel(levels[1])


def test_json_lines_contain_the_fields_of_an_event(logger: logging.Logger) -> None:
    out = io.StringIO()
    logs.configure("json", verbose=True, to=out)
    logger.info("%(what)s", {"event": "baked", "what": "bread", "crumbs": 3})
    logger.warning("plain %s", "words")
    baked, plain = map(json.loads, out.getvalue().splitlines())

    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", baked.pop("time"))
    assert baked == {
        "level": "info",
        "logger": "kit.test",
        "event": "baked",
        "what": "bread",
        "crumbs": 3,
    }
    assert (plain["level"], plain["message"]) == ("warning", "plain words")


@pytest.mark.parametrize("style", logs.STYLES)
def test_the_message_of_an_exception_is_not_logged(logger: logging.Logger, style: str) -> None:
    out = io.StringIO()
    logs.configure(style, to=out)
    try:
        int(PROMPT)
    except ValueError:
        logger.exception("%s failed", "req_1")
    text = out.getvalue()

    assert "req_1 failed" in text
    assert "ValueError" in text
    assert "test_logs.py" in text
    assert PROMPT not in text


def test_without_verbose_only_warnings_are_logged_and_outages_without_a_stack(
    logger: logging.Logger,
) -> None:
    out = io.StringIO()
    logs.configure("text", to=out)
    logger.info("a request")
    logging.getLogger("another.library").info("chatter")
    try:
        raise UnavailableError("the database cannot be used now")
    except UnavailableError:
        logger.exception("trouble")

    assert re.fullmatch(r"\S+Z ERROR kit\.test trouble\n  UnavailableError\n", out.getvalue())


@pytest.mark.skipif(os.name == "nt", reason="Windows ends a process without a signal")
def test_serve_logs_events_with_the_given_options(tmp_path: Path) -> None:
    options = ("--port", "0", "--data", str(tmp_path), "--verbose", "--log-format", "json")
    command = [sys.executable, "-m", "kit", "serve", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout
    url = process.stdout.readline().split()[3]
    httpx.get(f"{url}/healthz?key=x")
    process.terminate()
    _, err = process.communicate(timeout=30)
    # A plug-in that cannot be loaded is reported, too.
    events = [it for it in map(json.loads, err.splitlines()) if "event" in it]

    assert [it["event"] for it in events] == ["started", "request", "stopping"]
    assert (events[1]["path"], events[1]["status"]) == ("/healthz", 200)


@pytest.mark.skipif(os.name == "nt", reason="Windows ends a process without a signal")
def test_a_worker_logs_json_lines_too(tmp_path: Path) -> None:
    options = ("--cluster", f"tcp://127.0.0.1:{free_port()}", "--data", str(tmp_path / "worker"))
    options += ("--storage", f"file://{tmp_path / 'objects'}", "--host", "127.0.0.1")
    command = [sys.executable, "-m", "kit", "worker", *options]
    environment = os.environ | {"KIT_LOG_FORMAT": "json"}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stderr
    line = json.loads(process.stderr.readline())
    process.kill()
    process.communicate(timeout=30)

    assert {"time", "level", "logger", "message"} <= line.keys()


@pytest.mark.parametrize("part", ["engines", "http", "service", "store", "worker"])
def test_messages_are_logged_to_their_files_until_those_are_closed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, part: str
) -> None:
    one, two = tmp_path / "one.log", tmp_path / "two.log"
    warn = logging.getLogger(f"kit.{part}").warning

    first, second = logs.log_to_file(one), logs.log_to_file(two)
    warn("to both")
    first()
    warn("to the second")
    second()
    warn("to whom it may concern")

    assert "to both" in one.read_text()
    assert "to the second" not in one.read_text()
    assert "to both" in two.read_text()
    assert "to the second" in two.read_text()
    assert "to whom" not in two.read_text()
    assert caplog.messages == ["to whom it may concern"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_log_on_a_full_disk_is_not_in_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    close = logs.log_to_file(Path("/dev/full"))
    logging.getLogger("kit.service").warning("lost")
    close()

    assert capsys.readouterr().err == ""


def test_a_long_log_file_is_rotated_once(tmp_path: Path) -> None:
    file = tmp_path / "service.log"
    file.write_bytes(b"x" * 1_000_001)

    logs.log_to_file(file)()

    assert file.read_bytes() == b""
    assert (tmp_path / "service.log.1").stat().st_size == 1_000_001
