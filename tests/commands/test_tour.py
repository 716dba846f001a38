"""The tour: a notebook that was run, as a page that needs no kernel, no network and no script."""

import re
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
def test_a_page_of_the_tour_plays_what_its_run_made_and_asks_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    profiles.save("http://127.0.0.1:9", "cs_live_theirs")  # where nothing may be paid
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
