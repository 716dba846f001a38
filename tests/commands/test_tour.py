"""The tour: an executed notebook as a page without kernel, network and script."""

import os
import re
import signal
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from kit.client import profiles
from kit.commands.tour import write_page

FILM = """
import kit

studio = kit.connect()
assert studio.history.list() == []
studio.generate("drift", "a lake", duration=1, resolution="360p")
"""


@pytest.mark.slow
def test_a_tour_page_has_the_generated_video_and_requests_no_url(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    profiles.save("http://127.0.0.1:9", "cs_live_theirs")  # it must not be charged
    monkeypatch.setenv("KIT_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("KIT_API_KEY", "cs_live_theirs")
    cells = [new_markdown_cell("# A film\n\nof a lake"), new_code_cell(FILM)]
    nbformat.write(new_notebook(cells=cells), tmp_path / "film.ipynb")
    out = tmp_path / "out"
    out.mkdir()

    assert write_page(tmp_path / "film.ipynb", out) == "A film"

    page = (out / "film.html").read_text(encoding="utf-8")
    [film] = re.findall(r'<video[^>]* src="([^"]+)"', page)
    assert (out / film).read_bytes()[4:8] == b"ftyp"
    assert "of a lake" in page
    assert not re.search(r'<script|(src|href)="https?://|@import', page)


@pytest.mark.skipif(os.name == "nt", reason="Windows ends a process without a word")
def test_a_tour_can_be_interrupted(tmp_path: Path) -> None:
    stop = "import os, signal, time; os.kill(os.getppid(), signal.SIGINT); time.sleep(60)"
    nbformat.write(new_notebook(cells=[new_code_cell(stop)]), tmp_path / "stop.ipynb")

    with pytest.raises(KeyboardInterrupt):
        write_page(tmp_path / "stop.ipynb", tmp_path)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
