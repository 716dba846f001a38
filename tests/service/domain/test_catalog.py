"""The catalog: what loads, what does not, and the figures it shows."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from kit import parameters
from kit.engines.base import Definition, Order
from kit.engines.registry import list_engines
from kit.errors import BadRequestError, ConfigError, ParameterError
from kit.service.domain import accounts, catalog, generations, uploads
from kit.service.domain.catalog import Catalog
from kit.service.domain.credits import Payer
from kit.service.domain.generations import StartPlan
from kit.wire import Multiplier, Parameter, RequestUpload, Rule, StartGeneration, UnitPrice
from tests.service.domain.conftest import NOW, Write

FLAT = list_engines()["flat"].definition


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"category": "Lip syncing"}, "category 'Lip syncing'"),
        ({"pricing": Rule(base=Decimal(-1))}, "negative price"),
        ({"pricing": Rule(units=[UnitPrice(credits=Decimal(1))])}, "exactly one of"),
        ({"pricing": Rule(units=[UnitPrice(parameter="no", credits=Decimal(1))])}, "'no'"),
        ({"pricing": Rule(units=[UnitPrice(medium="no", credits=Decimal(1))])}, "'no'"),
        ({"pricing": Rule(units=[UnitPrice(parameter="size", credits=Decimal(1))])}, "no number"),
        ({"pricing": Rule(multipliers=[Multiplier(parameter="no", values={})])}, "'no'"),
        (
            {
                "pricing": Rule(
                    multipliers=[Multiplier(parameter="size", values={"big": Decimal(0)})]
                )
            },
            "not positive",
        ),
        (
            {
                "pricing": Rule(
                    multipliers=[Multiplier(parameter="count", values={"1": Decimal(2)})]
                )
            },
            "no fixed set of values",
        ),
        (
            {
                "pricing": Rule(
                    multipliers=[Multiplier(parameter="size", values={"bg": Decimal(2)})]
                )
            },
            "'bg'",
        ),
    ],
)
def test_a_model_that_cannot_be_priced_does_not_load(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        catalog.load([replace(FLAT, **change)])

    assert "'flat'" in str(caught.value)
    assert sentence in str(caught.value).replace("not a number", "no number")


def test_models_come_by_kind_and_title(offered: Catalog) -> None:
    order = [(model.asset_type, model.title) for model in offered.models.values()]

    assert order == sorted(order)


def test_figures_follow_from_the_rule(offered: Catalog) -> None:
    flat = offered.get("flat")

    assert flat.credits_from == flat.credits_at_defaults == Decimal("0.6")
    assert flat.estimated_credits == Decimal("0.6")


def medium(kind: str) -> Parameter:
    return Parameter(name=kind, type=kind, media=True)


@pytest.mark.parametrize(
    ("asset_type", "category", "media", "expected"),
    [
        ("image", "Generation", [], "text-to-image"),
        ("image", "Editing", ["image"], "image-to-image"),
        ("video", "Video Generation", [], "text-to-video"),
        ("video", "Video Generation", ["image"], "image-to-video"),
        ("video", "Video Generation", ["audio"], "text-to-video"),
        ("video", "Editing", ["video", "image"], "video-to-video"),
        ("video", "Lip syncing", ["image", "audio"], "lip-sync"),
    ],
)
def test_a_generation_is_called_by_what_goes_in(
    asset_type: Any, category: str, media: list[str], expected: str
) -> None:
    definition = Definition(
        id="m",
        title="M",
        asset_type=asset_type,
        category=category,
        description="",
        pricing=Rule(base=Decimal(1)),
        media=[medium(kind) for kind in ("image", "video", "audio")],
    )
    model = catalog.load([definition]).get("m")

    assert catalog.generation_type(model, media) == expected


def test_the_estimate_is_the_mean_of_the_last_hundred(
    write: Write, queue_up: Callable[..., str], offered: Catalog
) -> None:
    flat = offered.get("flat")
    assert write(catalog.add_estimate(flat)) == flat
    queue_up(NOW, parameters={"count": 10})
    queue_up(NOW)

    assert write(catalog.add_estimate(flat)).estimated_credits == Decimal("1.05")


def test_a_filter_must_agree_with_its_alias(offered: Catalog) -> None:
    with pytest.raises(BadRequestError, match="give one of them"):
        catalog.select_models(offered, asset_type="image", alias="video", category=None)


OFFERED = catalog.load_engines(list_engines())


def problems(model_id: str, media: dict[str, int], **given: Any) -> list[str]:
    """Return the fields of what the engine of a model objects to."""
    model = OFFERED.get(model_id)
    values, wrong = parameters.check_settings(model.setting_parameters, given)
    assert wrong == []
    order = Order(prompt="a quiet lake", parameters=values, media=media)
    return [field for field, _ in asyncio.run(OFFERED.problems(model, order))]


@pytest.mark.parametrize(
    ("model_id", "media", "given", "fields"),
    [
        ("retouch", {"image": 1}, {"operation": "erase"}, ["mediaUploads.mask"]),
        ("retouch", {"image": 1, "mask": 1}, {"operation": "erase"}, []),
        ("retouch", {"image": 1}, {}, []),
        ("lip-sync", {"audio": 1}, {}, ["mediaUploads.portrait"]),
        ("lip-sync", {"audio": 1, "portrait": 1, "video": 1}, {}, ["mediaUploads.portrait"]),
        ("lip-sync", {"audio": 1, "video": 1}, {}, []),
        ("video-join", {"clips": 1}, {}, ["mediaUploads.clips"]),
        ("video-join", {"clips": 2}, {}, []),
        ("video-join", {"clips": 2}, {"sound": "replace"}, ["parameters.sound"]),
        ("video-join", {"clips": 2, "music": 1}, {"sound": "replace"}, []),
        ("video-join", {"clips": 2, "music": 1}, {"sound": "mute"}, ["parameters.sound"]),
        ("video-edit", {"video": 1}, {"start": 5, "end": 2}, ["parameters.end"]),
        ("video-edit", {"video": 1}, {"start": 5, "end": 5}, ["parameters.end"]),
        ("video-edit", {"video": 1}, {"start": 5}, []),
        ("video-edit", {"video": 1}, {"sound": "replace"}, ["parameters.sound"]),
        ("video-edit", {"video": 1, "voice": 1}, {"sound": "replace"}, []),
        (
            "video-edit",
            {"video": 1},
            {"start": 5, "end": 2, "sound": "replace"},
            ["parameters.end", "parameters.sound"],
        ),
        ("poster", {}, {}, []),
    ],
)
def test_a_built_in_engine_objects_to_what_cannot_work(
    model_id: str, media: dict[str, int], given: dict[str, Any], fields: list[str]
) -> None:
    assert problems(model_id, media, **given) == fields


class Picky(type(list_engines()["flat"])):  # type: ignore[misc]
    """Does in `check` what a test asks for."""

    def __init__(self, answer: Callable[[Order], Any]) -> None:
        self._answer = answer

    def check(self, order: Order) -> Any:
        return self._answer(order)


def fail(_: Order) -> Any:
    raise RuntimeError("a quiet lake")


def quit_all(_: Order) -> Any:
    raise SystemExit(1)


def half_way(_: Order) -> Any:
    yield "size", "is too big"
    raise RuntimeError("a quiet lake")


def spoil(order: Order) -> Any:
    order.parameters.clear()  # type: ignore[attr-defined]
    return ()


ORDER = StartGeneration(model_id="flat", prompt=" a quiet lake ", parameters={"size": "big"})


def planned(
    write: Write, payer: Payer, offered: catalog.Catalog, order: StartGeneration = ORDER
) -> StartPlan:
    """Return the plan of an order that its engine has nothing against."""
    plan: StartPlan = write(generations.plan(offered, order, payer.account_id))
    if problems := asyncio.run(offered.problems(plan.model, plan.engine_order)):
        raise ParameterError.fields(problems)
    return plan


def test_an_order_that_its_engine_refuses_is_never_charged(write: Write, payer: Payer) -> None:
    seen: list[Order] = []

    def refuse(order: Order) -> list[tuple[str, str]]:
        seen.append(order)
        return [("size", "is too big"), ("prompt", "is too quiet")]

    offered = catalog.load_engines({"flat": Picky(refuse)})

    with pytest.raises(ParameterError) as caught:
        planned(write, payer, offered)

    assert caught.value.status == 400
    assert caught.value.details == [
        {"field": "parameters.size", "message": "is too big"},
        {"field": "prompt", "message": "is too quiet"},
    ]
    [order] = seen
    assert (order.prompt, order.parameters["size"], order.parameters["count"]) == (
        "a quiet lake",
        "big",
        1,
    )
    assert write(accounts.get(payer.account_id)).balance == 10_000


def test_an_engine_is_told_how_long_the_files_are(write: Write, payer: Payer) -> None:
    seen: list[Order] = []

    def listen(order: Order) -> list[tuple[str, str]]:
        seen.append(order)
        return []

    clay = type("Listening", (type(list_engines()["clay"]),), {"check": lambda _, o: listen(o)})
    offered = catalog.load_engines({"clay": clay()})
    media = {}
    for name, kind, length in (("portrait", "image/png", None), ("voice", "audio/wav", 2_500)):
        file = RequestUpload(
            file_name=f"a.{kind[-3:]}", content_type=kind, file_size_bytes=9, model_id="clay"
        )
        ticket = write(uploads.issue_ticket(offered, file, payer, 100, NOW))
        write(uploads.mark_filled(ticket.id, sha256="a", duration_ms=length, now=NOW))
        media[name] = ticket.id
    order = StartGeneration(model_id="clay", media_uploads=media)

    planned(write, payer, offered, order)

    assert seen[0].media == {"portrait": 1, "voice": 1}
    assert seen[0].seconds == {"voice": [2.5]}


@pytest.mark.parametrize("answer", [fail, quit_all, half_way, lambda _: 7, lambda _: ["odd", None]])
def test_a_check_that_fails_is_no_objection_and_is_logged_without_the_prompt(
    write: Write, payer: Payer, answer: Callable[[Order], Any], caplog: pytest.LogCaptureFixture
) -> None:
    offered = catalog.load_engines({"flat": Picky(answer)})

    plan = planned(write, payer, offered)

    assert plan.quote.total == Decimal("1.2")
    assert "the engine of 'flat' could not check an order" in caplog.text
    assert "lake" not in caplog.text


def test_a_check_that_cannot_even_be_had_is_no_objection(write: Write, payer: Payer) -> None:
    class Odd(type(list_engines()["flat"])):  # type: ignore[misc]
        @property
        def check(self) -> Any:
            raise RuntimeError("no license")

    offered = catalog.load_engines({"flat": Odd()})

    assert planned(write, payer, offered).model.id == "flat"


def test_a_check_without_an_end_holds_up_one_order_and_no_more(
    write: Write, payer: Payer, caplog: pytest.LogCaptureFixture
) -> None:
    asked: list[Order] = []
    end = threading.Event()

    def endless(order: Order) -> Any:
        asked.append(order)
        end.wait()
        return ()

    offered = catalog.load_engines({"flat": Picky(endless)}, 0.05)
    try:
        plans = [planned(write, payer, offered) for _ in range(3)]
    finally:
        end.set()

    assert {plan.quote.total for plan in plans} == {Decimal("1.2")}
    assert len(asked) == 1
    assert caplog.text.count("'flat' takes longer than 0.05 s to check an order") == 1


def test_a_check_cannot_change_the_order(write: Write, payer: Payer) -> None:
    offered = catalog.load_engines({"flat": Picky(spoil)})

    assert planned(write, payer, offered).parameters["size"] == "big"


def test_other_work_goes_on_while_a_plug_in_thinks_about_an_order() -> None:
    thinks, done = threading.Event(), threading.Event()

    def think(order: Order) -> Any:
        thinks.set()
        assert done.wait(10)
        return [("size", "is too big")]

    offered = catalog.load_engines({"flat": Picky(think)})
    order = Order(prompt="", parameters={})

    async def both() -> list[Any]:
        problems = asyncio.create_task(offered.problems(offered.get("flat"), order))
        while not thinks.is_set():
            await asyncio.sleep(0)
        done.set()
        return list(await problems)

    assert asyncio.run(both()) == [("parameters.size", "is too big")]


def test_a_built_in_engine_is_asked_beside_other_work_as_well(write: Write, payer: Payer) -> None:
    asked: list[threading.Thread] = []

    def note(_: Order) -> Any:
        asked.append(threading.current_thread())
        return ()

    ours = type("Ours", (Picky,), {"__module__": "kit.engines.models.ours"})
    planned(write, payer, catalog.load_engines({"flat": ours(note)}))

    assert asked != [threading.current_thread()]
    assert len(asked) == 1


def test_an_engine_that_answered_late_is_asked_again(write: Write, payer: Payer) -> None:
    asked: list[threading.Thread] = []
    end = threading.Event()

    def first_late(_: Order) -> Any:
        asked.append(threading.current_thread())
        end.wait()
        return [("size", "is too big")]

    offered = catalog.load_engines({"flat": Picky(first_late)}, 0.05)
    planned(write, payer, offered)
    end.set()
    asked[0].join()

    with pytest.raises(ParameterError, match="is too big"):
        planned(write, payer, offered)


def test_what_a_plug_in_objects_to_is_cut_to_what_can_be_shown(write: Write, payer: Payer) -> None:
    def babble(_: Order) -> Any:
        while True:
            yield "size", "no\x1b[31m" * 1000

    with pytest.raises(ParameterError) as caught:
        planned(write, payer, catalog.load_engines({"flat": Picky(babble)}))

    assert caught.value.details
    assert len(caught.value.details) == 20
    message = caught.value.details[0]["message"]
    assert (len(message), message[:8]) == (500, "no [31mn")
