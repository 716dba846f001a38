"""Requests and chains of them generated from the OpenAPI document: each answer matches it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kit.service import server
from kit.service.settings import load
from tests.conftest import ALL_SCOPES, Service

CONFIG = Path(__file__).with_name("schemathesis.toml")
#: Seconds of generating requests.
LENGTH = 12


@pytest.mark.slow
def test_every_answer_matches_the_openapi_document(tmp_path: Path) -> None:
    rate = 10**8
    config = load({}, data=tmp_path / "data", requests_per_minute=rate, starts_per_minute=rate)
    one = server.start(config)
    service = Service(one.url, one.app.state.context, config, one.stop)
    try:
        key = service.key(service.account(credits=10**9), *ALL_SCOPES)
        command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(CONFIG), "run"]
        options = ["--checks", "all", "--max-time", str(LENGTH), "--no-color", "--no-shrink"]
        quiet = ["--suppress-health-check", "all", "--generation-database", "none"]
        account = ["-H", f"Authorization: Bearer {key}"]
        done = subprocess.run(
            [*command, *options, *quiet, *account, f"{one.url}/openapi.json"],
            cwd=tmp_path,
            capture_output=True,
            encoding="utf-8",
            env=os.environ | {"PYTHONUTF8": "1"},
            timeout=280,
        )
    finally:
        one.stop()

    assert done.returncode == 0, done.stdout[-20_000:]
    assert " passed" in done.stdout
