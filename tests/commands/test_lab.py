"""``kit lab``: JupyterLab with the service beside it, until it is stopped."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from tests.waiting import until

URL = re.compile(r"http://127\.0\.0\.1:[1-9]\d*/\S*token=\w+")
CONFIG = re.compile(r'<script id="jupyter-config-data"[^>]*>(.*?)</script>', re.DOTALL)

SUBSHELLS = "@jupyterlab/apputils-extension:kernels-settings"


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows ends a process without a word")
def test_lab_opens_the_first_tutorial_and_stops_with_its_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    data, log = tmp_path / "data", tmp_path / "log"
    command = [sys.executable, "-m", "kit", "lab", "--no-browser", "--port", "0", "--data", data]
    with log.open("w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out)
    try:
        url, page = until(lambda: open_lab(log), seconds=90)
        assert url.endswith("/lab/tree/notebooks/01_quickstart.ipynb")
        config = CONFIG.search(page)
        assert config
        off = json.loads(config[1])["disabledExtensions"]
        assert "@jupyterlab/apputils-extension:announcements" in off
        token = read_url(log).partition("?")[2]
        with urlopen(f"{url.partition('/lab/')[0]}/lab/api/settings/{SUBSHELLS}?{token}") as it:
            schema = json.load(it)["schema"]
        assert schema["properties"]["commsOverSubshells"]["default"] == "disabled"
        assert (data / "service.json").exists()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)

    assert not (data / "service.json").exists()


def read_url(log: Path) -> str:
    """Return the URL that JupyterLab prints, or an empty string before."""
    found = URL.search(log.read_text())
    return found[0] if found else ""


def open_lab(log: Path) -> tuple[str, str] | None:
    """Return the URL and the page of JupyterLab; None as long as it does not respond."""
    url = read_url(log)
    if not url:
        return None
    try:
        with urlopen(url, timeout=30) as answer:
            return answer.url.partition("?")[0], answer.read().decode()
    except URLError:  # the URL is printed a moment before the server listens
        return None
