"""Checks of the repository: broken links, and tests that are skipped without a reason."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *ROOT.glob("binder/*.md"), *ROOT.glob("kit/**/*.md")]
LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_in_a_page_of_the_project_has_a_target(path: Path) -> None:
    links = LINK.findall(path.read_text(encoding="utf-8"))
    # The first page of the manual links to pages that are generated beside it.
    built = r"|[a-z/]+\.html" if path.name == "index.md" else ""
    local = [
        link for link in links if not re.match(rf"https?://|mailto:|#|\.\./\.\./{built}", link)
    ]

    assert [link for link in local if not (path.parent / link.partition("#")[0]).exists()] == []


def test_no_test_is_skipped_without_a_reason() -> None:
    silent = re.compile(r"pytest\.skip\(\)|@pytest\.mark\.(skip|xfail)(\(\))?$", re.MULTILINE)
    tests = [path for path in ROOT.glob("tests/**/*.py") if path != Path(__file__)]

    assert [path for path in tests if silent.search(path.read_text(encoding="utf-8"))] == []
