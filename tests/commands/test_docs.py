"""The reference: complete, with working links; the examples in the manual run."""

import os
import re
import shlex
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kit.commands import command_line, docs
from kit.errors import ApiError, KitError
from kit.service import settings

MANUAL = Path(docs.__file__).parents[1] / "manual"


class Links(HTMLParser):
    """Collects the link targets of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        target = dict(attrs).get("href") or ""
        if tag == "a" and not target.startswith(("http", "#")):
            self.targets.add(target.partition("#")[0])


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    done = CliRunner().invoke(command_line(["docs"]), ["docs", str(folder)])
    assert done.exit_code == 0, done.output
    assert done.output.strip() == str(folder / "index.html")
    return folder


def test_each_page_links_only_to_pages_that_exist(pages: Path) -> None:
    found = sorted(pages.rglob("*.html"))
    assert len(found) >= 18
    for page in found:
        for target in Links(page.read_text("utf-8")).targets:
            assert (page.parent / target).is_file(), (page, target)


def test_the_public_names_are_on_the_reference_pages(pages: Path) -> None:
    face = (pages / "kit/studio/sync.html").read_text("utf-8")

    for name in ("generate", "estimate", "recreate", "sweep", "form"):
        assert f'id="Studio.{name}"' in face
    assert 'id="connect"' in (pages / "kit.html").read_text("utf-8")
    assert face.count('class="headerlink" aria-label') == face.count('class="headerlink"') > 0


def test_each_error_has_a_meaning_and_a_remedy() -> None:
    rows = docs.list_errors()[1:]

    assert {row[0].strip("`") for row in rows} == set(ApiError.by_code)
    assert all(meaning and remedy.endswith(".") for _, _, meaning, remedy, _ in rows)
    assert issubclass(ApiError, KitError)


def test_each_setting_has_a_meaning() -> None:
    rows = docs.list_settings()[1:]
    shown = [*settings.describe_settings(settings.load({}, data=Path("x")))]

    assert [row[0].strip("`") for row in rows] == [line.partition("=")[0] for line in shown]
    assert all(meaning for _, _, meaning in rows)


def test_each_operation_of_the_service_is_listed_with_its_scope() -> None:
    rows = {name.strip("`"): scope for name, scope, _ in docs.list_operations()[1:]}

    assert rows["POST /v1/creative-studio/generations"] == "`creative:generate`"
    assert rows["GET /v1/account"] == "`read`"
    assert rows["GET /healthz"] == "none"


def test_the_examples_of_the_manual_run(tmp_path: Path) -> None:
    """Servers are left out: they do not end."""
    text = (MANUAL / "operation.md").read_text("utf-8")
    lines = [
        line for block in re.findall(r"```sh\n(.*?)```", text, re.S) for line in block.splitlines()
    ]
    ran = [line for line in lines if not line.startswith("kit serve")]
    names = {}
    for line in ran:
        words = [names.get(word, word) for word in shlex.split(line)]
        assert words[0] == "kit"
        done = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=tmp_path,
            env={**os.environ, "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (line, done.stderr)
        if found := re.search(r"acc_\w+", done.stdout):
            names["acc_..."] = found[0]
    assert len(ran) == 7
