"""The catalog: which models load, their prices, and the checks of their engines."""

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
def test_a_model_with_an_invalid_price_does_not_load(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        catalog.load([replace(FLAT, **change)])

    assert "'flat'" in str(caught.value)
    assert sentence in str(caught.value).replace("not a number", "no number")


def test_models_are_sorted_by_asset_type_and_title(offered: Catalog) -> None:
    order = [(model.asset_type, model.title) for model in offered.models.values()]

    assert order == sorted(order)


def test_the_catalog_prices_follow_from_the_price_rule(offered: Catalog) -> None:
    flat = offered.get("flat")

    assert flat.credits_from == flat.credits_at_defaults == Decimal("0.6")
    assert flat.estimated_credits == Decimal("0.6")


def make_medium(kind: str) -> Parameter:
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
def test_the_generation_type_follows_from_the_media(
    asset_type: Any, category: str, media: list[str], expected: str
) -> None:
    definition = Definition(
        id="m",
        title="M",
        asset_type=asset_type,
        category=category,
        description="",
        pricing=Rule(base=Decimal(1)),
        media=[make_medium(kind) for kind in ("image", "video", "audio")],
    )
    model = catalog.load([definition]).get("m")

    assert catalog.generation_type(model, media) == expected


def test_the_estimated_credits_are_the_mean_of_recent_generations(
    write: Write, queue_up: Callable[..., str], offered: Catalog
) -> None:
    flat = offered.get("flat")
    assert write(catalog.add_estimate(flat)) == flat
    queue_up(NOW, parameters={"count": 10})
    queue_up(NOW)

    assert write(catalog.add_estimate(flat)).estimated_credits == Decimal("1.05")


def test_an_asset_type_filter_and_its_alias_must_agree(offered: Catalog) -> None:
    with pytest.raises(BadRequestError, match="give one of them"):
        catalog.select_models(offered, asset_type="image", alias="video", category=None)


OFFERED = catalog.load_engines(list_engines())


def find_problem_fields(model_id: str, media: dict[str, int], **given: Any) -> list[str]:
    """Return the fields that the engine of a model rejects."""
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
def test_a_built_in_engine_rejects_parameters_that_cannot_work_together(
    model_id: str, media: dict[str, int], given: dict[str, Any], fields: list[str]
) -> None:
    assert find_problem_fields(model_id, media, **given) == fields


class CheckingEngine(type(list_engines()["flat"])):  # type: ignore[misc]
    """An engine whose `check` calls a function of the test."""

    def __init__(self, answer: Callable[[Order], Any]) -> None:
        self._answer = answer

    def check(self, order: Order) -> Any:
        return self._answer(order)


def fail(_: Order) -> Any:
    raise RuntimeError("a quiet lake")


def exit_1(_: Order) -> Any:
    raise SystemExit(1)


def fail_later(_: Order) -> Any:
    yield "size", "is too big"
    raise RuntimeError("a quiet lake")


def clear_parameters(order: Order) -> Any:
    order.parameters.clear()  # type: ignore[attr-defined]
    return ()


ORDER = StartGeneration(model_id="flat", prompt=" a quiet lake ", parameters={"size": "big"})


def make_plan(
    write: Write, payer: Payer, offered: catalog.Catalog, order: StartGeneration = ORDER
) -> StartPlan:
    """Return the plan of an order after the check of its engine."""
    plan: StartPlan = write(generations.plan(offered, order, payer.account_id))
    if problems := asyncio.run(offered.problems(plan.model, plan.engine_order)):
        raise ParameterError.fields(problems)
    return plan


def test_an_order_that_its_engine_rejects_is_not_charged(write: Write, payer: Payer) -> None:
    seen: list[Order] = []

    def refuse(order: Order) -> list[tuple[str, str]]:
        seen.append(order)
        return [("size", "is too big"), ("prompt", "is too quiet")]

    offered = catalog.load_engines({"flat": CheckingEngine(refuse)})

    with pytest.raises(ParameterError) as caught:
        make_plan(write, payer, offered)

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


def test_an_engines_check_gets_the_durations_of_the_media(write: Write, payer: Payer) -> None:
    seen: list[Order] = []

    def record(order: Order) -> list[tuple[str, str]]:
        seen.append(order)
        return []

    clay = type("Listening", (type(list_engines()["clay"]),), {"check": lambda _, o: record(o)})
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

    make_plan(write, payer, offered, order)

    assert seen[0].media == {"portrait": 1, "voice": 1}
    assert seen[0].seconds == {"voice": [2.5]}


@pytest.mark.parametrize("answer", [fail, exit_1, fail_later, lambda _: 7, lambda _: ["odd", None]])
def test_an_order_passes_a_failing_check_that_is_logged_without_the_prompt(
    write: Write, payer: Payer, answer: Callable[[Order], Any], caplog: pytest.LogCaptureFixture
) -> None:
    offered = catalog.load_engines({"flat": CheckingEngine(answer)})

    plan = make_plan(write, payer, offered)

    assert plan.quote.total == Decimal("1.2")
    assert "the engine of 'flat' could not check an order" in caplog.text
    assert ", line " in caplog.text
    assert "lake" not in caplog.text


def test_a_check_attribute_that_raises_lets_the_order_pass(write: Write, payer: Payer) -> None:
    class EngineWithoutCheck(type(list_engines()["flat"])):  # type: ignore[misc]
        @property
        def check(self) -> Any:
            raise RuntimeError("no license")

    offered = catalog.load_engines({"flat": EngineWithoutCheck()})

    assert make_plan(write, payer, offered).model.id == "flat"


def test_a_check_that_never_ends_delays_one_order_only(
    write: Write, payer: Payer, caplog: pytest.LogCaptureFixture
) -> None:
    asked: list[Order] = []
    end = threading.Event()

    def endless(order: Order) -> Any:
        asked.append(order)
        end.wait()
        return ()

    offered = catalog.load_engines({"flat": CheckingEngine(endless)}, 0.05)
    try:
        plans = [make_plan(write, payer, offered) for _ in range(3)]
    finally:
        end.set()

    assert {plan.quote.total for plan in plans} == {Decimal("1.2")}
    assert len(asked) == 1
    assert caplog.text.count("'flat' takes longer than 0.05 s to check an order") == 1


def test_a_check_cannot_change_the_order(write: Write, payer: Payer) -> None:
    offered = catalog.load_engines({"flat": CheckingEngine(clear_parameters)})

    assert make_plan(write, payer, offered).parameters["size"] == "big"


def test_the_event_loop_runs_while_an_engine_checks_an_order() -> None:
    checking, done = threading.Event(), threading.Event()

    def check_slowly(order: Order) -> Any:
        checking.set()
        assert done.wait(10)
        return [("size", "is too big")]

    offered = catalog.load_engines({"flat": CheckingEngine(check_slowly)})
    order = Order(prompt="", parameters={})

    async def run_both() -> list[Any]:
        problems = asyncio.create_task(offered.problems(offered.get("flat"), order))
        while not checking.is_set():
            await asyncio.sleep(0)
        done.set()
        return list(await problems)

    assert asyncio.run(run_both()) == [("parameters.size", "is too big")]


def test_a_built_in_engine_checks_orders_in_another_thread(write: Write, payer: Payer) -> None:
    asked: list[threading.Thread] = []

    def note(_: Order) -> Any:
        asked.append(threading.current_thread())
        return ()

    ours = type("Ours", (CheckingEngine,), {"__module__": "kit.engines.models.ours"})
    make_plan(write, payer, catalog.load_engines({"flat": ours(note)}))

    assert asked != [threading.current_thread()]
    assert len(asked) == 1


def test_an_engine_whose_check_timed_out_is_asked_again(write: Write, payer: Payer) -> None:
    asked: list[threading.Thread] = []
    end = threading.Event()

    def first_late(_: Order) -> Any:
        asked.append(threading.current_thread())
        end.wait()
        return [("size", "is too big")]

    offered = catalog.load_engines({"flat": CheckingEngine(first_late)}, 0.05)
    make_plan(write, payer, offered)
    end.set()
    asked[0].join()

    with pytest.raises(ParameterError, match="is too big"):
        make_plan(write, payer, offered)


def test_reported_problems_are_limited_in_number_and_length(write: Write, payer: Payer) -> None:
    def yield_many_problems(_: Order) -> Any:
        while True:
            yield "size", "no\x1b[31m" * 1000

    with pytest.raises(ParameterError) as caught:
        make_plan(write, payer, catalog.load_engines({"flat": CheckingEngine(yield_many_problems)}))

    assert caught.value.details
    assert len(caught.value.details) == 20
    message = caught.value.details[0]["message"]
    assert (len(message), message[:8]) == (500, "no [31mn")
