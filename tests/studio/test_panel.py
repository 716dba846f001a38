"""The panel of a studio: every page against a service that offers only what it must."""

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
def opened_in(studio: Studio) -> PanelAccounts:
    return PanelAccounts(studio.session)


@pytest.fixture
def pages(opened_in: PanelAccounts) -> PanelPages:
    return PanelPages(opened_in.connections.own, opened_in)


def test_the_line_above_says_where_and_who(pages: PanelPages, api: Server) -> None:
    assert api.url in pages.heading()
    assert "Ada" in pages.heading()


def test_models_lead_to_their_form(opened_in: PanelAccounts, pages: PanelPages) -> None:
    panel = opened_in.panel()
    catalog = pages.models()
    assert catalog.shown == ["paint", "retouch"]

    catalog.children[1].children[1].children[1].click()

    assert panel.page == "Create"
    assert pages.create().model == "retouch"


def test_the_first_form_needs_no_file(pages: PanelPages) -> None:
    assert pages.create().model == "paint"


@pytest.mark.parametrize("name", ["history", "costs", "write"])
def test_a_page_is_there_before_anything_was_made(pages: PanelPages, name: str) -> None:
    built: Any = getattr(pages, name)()

    assert text(built)


def test_what_was_made_is_in_history_and_costs(studio: Studio, pages: PanelPages) -> None:
    studio.generate("paint", "a <lake>")

    assert "a &lt;lake&gt;" in text(pages.history())
    shown = text(pages.costs())
    assert "paint" in shown
    assert "0.25" in shown


def test_the_account_is_told_without_a_key(pages: PanelPages, studio: Studio) -> None:
    built = pages.account()

    shown = until(lambda: text(built), lambda said: "Ada" in said)
    assert studio.client.settings.api_key not in shown


def test_both_faces_have_the_panel(studio: Studio, astudio: AsyncStudio) -> None:
    async def awaited() -> str:
        try:
            return repr(await astudio.panel())
        finally:
            await astudio.close()

    line = "<Panel Models · Create · History · Costs · Write · Account>"
    assert repr(studio.panel()) == line
    assert asyncio.run(awaited()) == line


def test_what_the_awaited_face_creates_is_awaited(studio: Studio, astudio: AsyncStudio) -> None:
    opened_in = PanelAccounts(astudio.session)
    form = PanelPages(opened_in.connections.own, opened_in).form(studio.models["paint"])
    form.value = {"prompt": "a lake"}

    assert form.code() == 'await studio.generate("paint", "a lake")'
