import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from kit.engines.base import Engine, Order
from kit.engines.models.background import Background
from kit.engines.models.reframe import Reframe
from kit.engines.models.restyle import Restyle
from kit.engines.models.retouch import Retouch
from kit.engines.models.title_card import TitleCard
from kit.service.domain.catalog import load

Asked = tuple[Engine, str, Mapping[str, Any], Mapping[str, int]]

IMPOSSIBLE: dict[str, Asked] = {
    "look": (Restyle(), "a house", {}, {}),
    "color": (Background(), "", {"operation": "replace", "color": "no color"}, {}),
    "mask": (Retouch(), "", {"operation": "erase"}, {}),
    "mask for nothing": (Retouch(), "", {}, {"mask": 1}),
    "backdrop for nothing": (Background(), "", {"operation": "blur"}, {"backdrop": 1}),
    "accent": (TitleCard(), "Hello", {"accent": "no color"}, {}),
    "accent beyond any color": (TitleCard(), "Hello", {"accent": "rgb(300, 0, 0)"}, {}),
    "background": (TitleCard(), "Hello", {"background": "asdf"}, {"image": 0}),
    "background in no color": (TitleCard(), "Hello", {"background": "#12345"}, {"image": 0}),
    "prompt": (Background(), "quite nice", {"operation": "replace"}, {}),
    "prompt too long": (TitleCard(), "longer " * 60, {"size": 256}, {}),
    "subtitle": (TitleCard(), "Hello", {"size": 256, "subtitle": "longer " * 40}, {}),
}
POSSIBLE: list[Asked] = [
    (Restyle(), "a warm house", {}, {}),
    (Restyle(), "", {"look": "noir"}, {}),
    (Restyle(), "", {"stylize": "sketch"}, {}),
    (Restyle(), "", {"text": "Hello"}, {}),
    (Background(), "", {"operation": "replace"}, {}),
    (Background(), "", {"operation": "replace", "color": "#FF8800"}, {}),
    (Background(), "a forest", {"operation": "replace", "color": "no color"}, {}),
    (Background(), "", {"operation": "replace", "color": "no color"}, {"backdrop": 1}),
    (Background(), "", {"operation": "blur", "color": "no color"}, {}),
    (Retouch(), "", {"operation": "erase"}, {"mask": 1}),
    (Retouch(), "", {"operation": "sharpen"}, {}),
    (Reframe(), "", {}, {}),
    (TitleCard(), "Hello", {"accent": "Auto "}, {}),
    (TitleCard(), "Hello", {"accent": "Light Blue"}, {}),
    (TitleCard(), "Hello", {"background": "asdf"}, {"image": 1}),
    (TitleCard(), "Hello", {"background": "  "}, {"image": 0}),
    (TitleCard(), "Hello", {"background": "Light blue to #102030"}, {"image": 0}),
    (TitleCard(), "Hello", {"background": "foggy forests"}, {"image": 0}),
    (TitleCard(), "Hello", {"background": "burgundy"}, {"image": 0}),
    (TitleCard(), "Hello", {"background": "rgb(10, 20, 30)"}, {"image": 0}),
    (TitleCard(), "longer " * 60, {"size": 2160}, {"image": 0}),
    (Background(), "quite nice", {"operation": "remove"}, {}),
    (Background(), "quite nice", {"operation": "replace"}, {"backdrop": 1}),
]


def order_of(asked: Asked) -> Order:
    engine, prompt, values, media = asked
    defaults = {setting.name: setting.default for setting in engine.definition.settings}
    return Order(prompt=prompt, parameters={**defaults, **values}, media={"image": 1, **media})


@pytest.mark.parametrize("field", IMPOSSIBLE)
def test_what_cannot_work_is_said_before_it_is_paid_for(field: str) -> None:
    engine = IMPOSSIBLE[field][0]
    catalog = load([engine.definition], {engine.definition.id: engine})
    model = catalog.get(engine.definition.id)

    ((where, why),) = asyncio.run(catalog.problems(model, order_of(IMPOSSIBLE[field])))

    assert field.split()[0] in where
    assert len(why.split()) > 4


@pytest.mark.parametrize("asked", POSSIBLE)
def test_what_can_work_is_not_refused(asked: Asked) -> None:
    assert list(asked[0].check(order_of(asked))) == []
