"""The panel of a studio: every page, at a service with only the required operations."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kit.studio import AsyncStudio, Studio
from kit.studio.panel import PanelAccounts, PanelPages
from tests.client.third_party import Server
from tests.waiting import until
from tests.widgets.writers import text


@pytest.fixture
def accounts(studio: Studio) -> PanelAccounts:
    return PanelAccounts(studio.session)


@pytest.fixture
def pages(accounts: PanelAccounts) -> PanelPages:
    return PanelPages(accounts.connections.own, accounts)


def test_the_heading_shows_the_service_and_the_account(pages: PanelPages, api: Server) -> None:
    assert api.url in pages.heading()
    assert "Ada" in pages.heading()


def test_a_model_in_the_catalog_opens_its_form(accounts: PanelAccounts, pages: PanelPages) -> None:
    panel = accounts.panel()
    catalog = pages.models()
    assert catalog.shown == ["paint", "retouch"]

    catalog.children[1].children[1].children[1].click()

    assert panel.page == "Create"
    assert pages.create().model == "retouch"


def test_the_first_form_is_of_a_model_without_media(pages: PanelPages) -> None:
    assert pages.create().model == "paint"


@pytest.mark.parametrize("name", ["history", "costs", "write"])
def test_pages_are_shown_before_the_first_generation(pages: PanelPages, name: str) -> None:
    page: Any = getattr(pages, name)()

    assert text(page)


def test_a_generation_is_shown_in_history_and_costs(studio: Studio, pages: PanelPages) -> None:
    studio.generate("paint", "a <lake>")

    assert "a &lt;lake&gt;" in text(pages.history())
    shown = text(pages.costs())
    assert "paint" in shown
    assert "0.25" in shown


def test_the_account_page_shows_no_key(pages: PanelPages, studio: Studio) -> None:
    page = pages.account()

    shown = until(lambda: text(page), lambda shown_text: "Ada" in shown_text)
    assert studio.client.settings.api_key not in shown


def test_both_faces_have_the_panel(studio: Studio, astudio: AsyncStudio) -> None:
    async def open_panel() -> str:
        try:
            return repr(await astudio.panel())
        finally:
            await astudio.close()

    line = "<Panel Models · Create · History · Costs · Write · Account>"
    assert repr(studio.panel()) == line
    assert asyncio.run(open_panel()) == line


def test_code_of_a_form_in_the_async_face_has_await(studio: Studio, astudio: AsyncStudio) -> None:
    accounts = PanelAccounts(astudio.session)
    form = PanelPages(accounts.connections.own, accounts).form(studio.models["paint"])
    form.value = {"prompt": "a lake"}

    assert form.code() == 'await studio.generate("paint", "a lake")'
