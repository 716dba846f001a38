"""Accessibility checks with axe-core, whose script is in a package."""

import os
from importlib import resources

import pytest
from playwright.sync_api import Locator

_PACKAGE = "axe_playwright_python"
_RUN = """async part => {
    const found = await axe.run(part, { resultTypes: ['violations'] });
    return found.violations.flatMap(({ id, nodes }) => nodes.map(({ html, any, all, none }) =>
        `${id}: ${html.slice(0, 160)} ${[...any, ...all, ...none].map(m => m.message)[0] ?? ''}`));
}"""


def find_violations(part: Locator) -> list[str]:
    """Return the violations of all rules in a part of a page, including contrast.

    Without the package the test is skipped, or fails if a browser is required.
    """
    if os.environ.get("KIT_TEST_BROWSER") != "required":
        pytest.importorskip(_PACKAGE)
    if not part.page.evaluate("() => 'axe' in window"):
        part.page.evaluate(resources.files(_PACKAGE).joinpath("axe.min.js").read_text("utf-8"))
    found: list[str] = part.evaluate(_RUN)
    return found
