"""The documentation page of the service in a browser: nothing on it violates a rule."""

import pytest
from playwright.sync_api import Browser

from tests.browser.axe import find_violations
from tests.conftest import Service, lasting_service

pytestmark = pytest.mark.browser

service = lasting_service


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_documentation_page_is_accessible(
    service: Service, browser: Browser, theme: str
) -> None:
    context = browser.new_context(color_scheme=theme, bypass_csp=True)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"{service.url}/docs")

    assert find_violations(page.locator("body")) == []
    context.close()
