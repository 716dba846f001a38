"""The writing panel of a studio, at a third-party service."""

from __future__ import annotations

import html
from decimal import Decimal

import ipywidgets
import pytest

from kit import wire
from kit.errors import KitError, ParameterError
from kit.studio import AsyncStudio, Studio
from kit.studio.forms import WritingService
from kit.widgets.form import Form
from kit.widgets.writing import WritingOrder
from tests.client.third_party import MODELS, Answer, Server
from tests.widgets.writers import control, text

EDITOR = {
    "id": "cut",
    "assetType": "video",
    "mediaParameters": [{"name": "film", "type": "video", "required": True, "media": True}],
    "settingParameters": [{"name": "captions", "type": "string"}],
    "supportsPrompt": False,
}


@pytest.fixture
def writing(studio: Studio) -> WritingService:
    return WritingService(studio.session)


def test_a_title_and_scripts_are_requested_as_documented(
    writing: WritingService, api: Server
) -> None:
    assert writing.title("SPACE").title == "T"
    title = wire.Title(title="Why", hook_angle="a hook")
    (script,) = writing.scripts(WritingOrder("SPACE", title, duration=45, use_hook=True))

    assert script.content == "Hello you"
    (request,) = api.requests("POST", "/v1/scripts")[1:]
    assert request.json == {
        "topic": "SPACE",
        "title": "Why",
        "duration": "45",
        "hookAngle": "a hook",
        "useHook": True,
        "useCTA": False,
        "useRagebait": False,
        "variations": "1",
    }


def test_a_paid_text_without_an_id_is_not_lost(studio: Studio, api: Server) -> None:
    api.script("POST", "/v1/scripts", Answer(200, [{"id": None, "content": "Paid words"}]))

    texts = [studio.scripts.write("SPACE", "T")[0].content for _ in range(2)]

    assert texts == ["Paid words"] * 2
    assert len(api.requests("POST", "/v1/scripts")) == 1


def test_the_balance_is_read_where_a_service_has_one(writing: WritingService, api: Server) -> None:
    assert writing.balance() is None
    api.script("GET", "/v1/account", Answer(200, {"id": "a1", "name": "Ada", "credits": 2.5}))

    assert writing.balance() == Decimal("2.5")


def test_captions_open_the_form_of_a_captions_model(writing: WritingService, api: Server) -> None:
    listed = Answer(200, {"image": MODELS, "video": [EDITOR]})
    api.script("GET", "/v1/creative-studio/models", listed)

    form = writing.captions("Hello you")

    assert isinstance(form, Form)
    assert form.model.id == "cut"
    assert form.value["parameters"] == {"captions": "Hello you"}


def test_a_service_without_a_model_for_captions_is_reported(writing: WritingService) -> None:
    with pytest.raises(KitError, match="no model of this service takes captions"):
        writing.captions("Hello you")


def test_a_topic_that_our_service_lacks_is_refused_with_a_suggestion(own: Studio) -> None:
    with pytest.raises(ParameterError, match=r"unknown topic 'SPICE'.*SPACE"):
        own.writing("SPICE")


def test_other_services_may_have_other_topics_and_longer_texts(studio: Studio) -> None:
    panel = studio.writing('PETS "2"')

    topic = control(panel, ipywidgets.Combobox, "Topic")
    control(panel, ipywidgets.Text, "Title").value = "x" * 500
    assert "must have" not in text(panel)
    assert html.escape('studio.writing("PETS \\"2\\"")') in panel._repr_mimebundle_()["text/html"]
    topic.value = "CARS"
    assert panel.brief.topic == "CARS"


async def _open_panel(studio: AsyncStudio) -> str:
    try:
        return repr(await studio.writing("FOOD"))
    finally:
        await studio.close()


def test_both_faces_have_the_panel(studio: Studio, astudio: AsyncStudio) -> None:
    import asyncio

    assert repr(studio.writing("FOOD")) == "<Writing FOOD>"
    assert asyncio.run(_open_panel(astudio)) == "<Writing FOOD>"


def test_code_for_captions_in_the_async_face_has_await(astudio: AsyncStudio, api: Server) -> None:
    listed = Answer(200, {"video": [EDITOR]})
    api.script("GET", "/v1/creative-studio/models", listed)
    writing = WritingService(astudio.session)

    assert writing.captions("Hello you").code().startswith("await studio.generate(")


LONG = "x" * 201


def test_a_title_that_is_too_long_is_refused_before_it_is_sent(own: Studio) -> None:
    with pytest.raises(ParameterError, match="title: must have 1 to 200 characters, not 201"):
        own.scripts.write("SPACE", LONG)

    assert own.last_response is None


def test_a_long_title_is_sent_to_another_service(studio: Studio, api: Server) -> None:
    studio.scripts.write("SPACE", LONG)

    (request,) = api.requests("POST", "/v1/scripts")
    assert request.json["title"] == LONG
