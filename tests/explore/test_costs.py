from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from kit import pricing, wire
from kit.errors import ConfigError
from kit.explore import charges, costs
from kit.explore.charts import rows_to_draw
from kit.wire import Entry, Generation, Multiplier, Parameter, Rule, UnitPrice
from tests.explore.fake_service import archive_of, make, table_of, usage_of

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def entry(number: int, kind: str, amount: str, after: str = "0", of: str | None = None) -> Entry:
    return Entry(
        id=f"led_{number}",
        created_at=NOON,
        kind=kind,
        credits=Decimal(amount),
        balance_after=Decimal(after),
        generation_id=of,
    )


def spend(*rows: dict[str, Any], entries: Sequence[Entry] = (), **given: Any) -> costs.Spending:
    """Return spending at noon, with the changes of each row."""
    table = table_of(make(n, **{"created_at": NOON, **row}) for n, row in enumerate(rows))
    return costs.Spending(archive_of(table, usage_of(*entries)), **given)


# ── by group ──────────────────────────────────────────────────────────────────────────────────────


def test_costs_are_summed_by_model_with_the_highest_first() -> None:
    frame = costs.by(spend({"credits": 0.3}, {"model_id": "drift", "credits": 2}, {"credits": 0.4}))

    assert costs.by(spend({"credits": 0.3}), [])["model"].tolist() == ["poster"]
    assert frame[["model", "count", "net", "mean", "share"]].to_numpy().tolist() == [
        ["drift", 1, 2.0, 2.0, 0.7407],
        ["poster", 2, 0.7, 0.35, 0.2593],
    ]


def test_costs_are_grouped_by_parameters_and_periods() -> None:
    rows = [
        {"parameters": {"resolution": size}, "created_at": NOON + timedelta(days=days)}
        for size, days in [("720p", 0), ("1080p", 0), ("720p", 1)]
    ]
    by_size = costs.by(spend(*rows), "parameters.resolution")
    by_day = costs.by(spend(*rows), "day", "parameters.resolution")

    assert dict(zip(by_size["parameters.resolution"], by_size["count"], strict=True)) == {
        "720p": 2,
        "1080p": 1,
    }
    assert by_day["day"].dt.strftime("%d").tolist() == ["10", "10", "11"]


def test_values_of_several_types_are_grouped_as_texts_as_in_the_history() -> None:
    given = (1, True, "1", "a", [1, 2], None, 1)
    table = table_of(make(n, parameters={"x": value}) for n, value in enumerate(given))
    archive = archive_of(table)
    found = costs.by(costs.Spending(archive), "parameters.x")
    by_x = dict(zip(found["parameters.x"].fillna("none"), found["count"], strict=True))

    assert by_x == {"1": 3, "true": 1, "a": 1, "[1,2]": 1, "none": 1}
    history = archive.frame(columns=["parameters.x"])["parameters.x"].fillna("none")
    assert {text.replace(" ", "") for text in history} == by_x.keys()


def test_integers_beside_missing_values_stay_integers() -> None:
    exact = spend(*({"parameters": {"seed": n}} for n in (2**53 + 1, 3, None)))
    large = spend(*({"parameters": {"seed": n}} for n in (2**64 - 1, 3, None)))

    assert costs.by(exact, "parameters.seed")["parameters.seed"].dtype == "Int64"
    seeds = costs.by(exact, "parameters.seed")["parameters.seed"].dropna()
    assert sorted(seeds) == [3, 2**53 + 1]
    texts = costs.by(large, "parameters.seed")["parameters.seed"].dropna()
    assert sorted(texts) == [str(2**64 - 1), "3"]


def test_weekdays_are_in_the_order_of_a_week() -> None:
    sunday = NOON - 2 * DAY
    rows = [{"created_at": sunday + n * DAY, "credits": n} for n in (0, 1, 2, 6)]

    assert costs.by(spend(*rows), "weekday")["weekday"].tolist() == [
        "Monday",
        "Tuesday",
        "Saturday",
        "Sunday",
    ]


def test_stacked_weekdays_are_drawn_in_the_order_of_a_week() -> None:
    rows = [
        {"created_at": NOON + n * DAY, "model_id": model, "credits": n}
        for n in range(3)
        for model in ("poster", "drift")
    ]
    frame = costs.by(spend(*rows), "weekday", "model")

    assert frame.chart is not None
    drawn = rows_to_draw(frame.chart, frame)["x"]
    assert drawn.unique().tolist() == ["Tuesday", "Wednesday", "Thursday"]


def test_an_unknown_tag_is_reported_with_a_suggestion() -> None:
    tagged = spend({"tags": {"campaign": "winter"}}, {"parameters": {"size": None}})

    with pytest.warns(UserWarning, match=r"'tag\.campain'; did you mean 'tag\.campaign'"):
        assert costs.by(tagged, "tag.campain")["count"].tolist() == [2]


def test_groups_may_be_a_list_or_columns_of_the_history() -> None:
    rows = spend({}, {"model_id": "drift"})

    assert costs.by(rows, ["model", "day"]).equals(costs.by(rows, "model", "day"))
    assert costs.by(rows, "model_id")["model_id"].tolist() == costs.by(rows)["model"].tolist()


def test_the_total_is_the_sum_of_the_charges(tmp_path: Path) -> None:
    entries = [entry(0, "title", "-0.05").model_copy(update={"created_at": NOON - DAY})]
    rows = spend({"credits": 0.1}, {"credits": 0.2, "back": 0.2}, entries=entries)
    frame = costs.charges(rows)

    assert frame.index.tolist() == ["gen_1", "gen_0", "led_0"]
    assert frame[["kind", "net"]].to_numpy().tolist() == [
        ["generation", 0.0],
        ["generation", 0.1],
        ["title", 0.05],
    ]
    assert costs.total(rows) == 0.15
    assert costs.total(spend()) == 0.0
    frame.to_excel(tmp_path / "charges.xlsx")  # Excel has no time zones


# ── days ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("timezone", ["UTC", "America/New_York", "Asia/Kolkata"])
def test_days_of_all_frames_can_be_merged(timezone: str) -> None:
    moments = [NOON - timedelta(days=n, hours=7) for n in range(20)]
    archive = archive_of(table_of(make(n, created_at=at) for n, at in enumerate(moments)))
    rows, history = costs.Spending(archive, timezone=timezone), archive.frame()
    history["day"] = history["created_at"].dt.tz_convert(timezone).dt.normalize()
    ahead = costs.forecast(rows.daily(), now=NOON, days=3, timezone=timezone)
    days = costs.by(rows, "day")

    assert days["day"].dtype == f"datetime64[us, {timezone}]"
    for frame in (costs.trend(rows), ahead, history, costs.unusual(rows.daily())):
        assert frame["day"].dtype == days["day"].dtype
    assert len(days.merge(costs.trend(rows), on="day")) == 20
    assert len(days.merge(history, on="day")) == 20
    assert len(days.merge(ahead, on="day", how="outer")) == 23


def test_a_day_begins_at_midnight_of_the_time_zone() -> None:
    late_item = {"created_at": datetime(2026, 3, 10, 23, 30, tzinfo=UTC)}
    days = costs.by(spend(late_item, timezone="Europe/Berlin"), "day")

    assert days["day"].dt.strftime("%Y-%m-%d %H:%M %z").tolist() == ["2026-03-11 00:00 +0100"]


def test_a_trend_has_the_day_of_a_clock_change() -> None:
    rows = [{"created_at": datetime(2026, 3, day, 12, tzinfo=UTC)} for day in (28, 31)]
    spending = spend(*rows, timezone=ZoneInfo("Europe/Berlin"))

    assert costs.trend(spending)["net"].tolist() == [0.1, 0, 0, 0.1]
    assert costs.trend(spending, "hour")["net"].sum() == 0.2


@pytest.mark.parametrize("timezone", ["Europe/Berlin", "Asia/Kolkata", "UTC"])
def test_an_hour_that_the_clock_shows_twice_is_two_hours(timezone: str) -> None:
    change = datetime(2026, 10, 25, 0, 40, tzinfo=UTC)  # at 2:40, twenty minutes before 2:00
    rows = [{"created_at": change + timedelta(minutes=30 * n)} for n in range(5)]
    spending = spend(*rows, timezone=timezone)
    parts = {"UTC": [1, 2, 2], "Europe/Berlin": [1, 2, 2], "Asia/Kolkata": [2, 2, 1]}[timezone]

    for frame in (costs.by(spending, "hour"), costs.trend(spending, "hour")):
        assert frame["count"].tolist() == parts
        assert frame["hour"].dtype == f"datetime64[us, {timezone}]"
        assert frame["hour"].diff().dropna().eq(timedelta(hours=1)).all()


def test_a_trend_has_every_hour_of_clocks_that_change_by_half_an_hour() -> None:
    begins = datetime(2026, 4, 4, 13, 20, tzinfo=UTC)  # 0:20 on Lord Howe Island
    rows = [{"created_at": begins + timedelta(minutes=30 * n)} for n in (0, 1, 2, 3, 4, 5, 6, 10)]
    spending = spend(*rows, timezone="Australia/Lord_Howe")

    assert costs.by(spending, "hour")["count"].tolist() == [2, 2, 1, 2, 1]
    assert costs.trend(spending, "hour")["count"].tolist() == [2, 2, 1, 2, 0, 1]


def test_a_day_without_a_midnight_is_counted_like_others() -> None:
    begins = datetime(2026, 4, 23, 22, tzinfo=UTC)  # 1:00 in Cairo, where midnight was skipped
    cairo, now = ZoneInfo("Africa/Cairo"), begins + 15 * DAY + timedelta(hours=11)
    rows = [{"created_at": begins + n * DAY, "credits": n % 3} for n in range(16)]
    days = costs.trend(spend(*rows, timezone=cairo))
    whole = costs.Month.parse("2026-04", now, cairo)
    daily = spend(*rows, timezone=cairo).daily()
    page = costs.report(
        whole, *[spend(*rows, timezone=cairo)] * 2, daily, now=now, owner="Ada"
    ).html

    assert days["net"].tolist() == [n % 3 for n in range(16)]
    assert costs.forecast(daily, now=now, timezone=cairo.key).total.expected > 0
    assert "24 Apr: 0.00 credits" in page
    assert "26 Apr: 2.00 credits" in page


def test_an_unknown_time_zone_is_reported_with_a_suggestion() -> None:
    with pytest.raises(ConfigError, match="did you mean 'Europe/Berlin'"):
        spend(timezone="Europe/Berln")
    with pytest.raises(ConfigError, match=r"there is no time zone None; .{,80}\?$"):
        spend(timezone=None)


def test_an_unknown_charge_is_counted_and_is_not_zero() -> None:
    frame = costs.by(spend({"credits": None}, {"credits": 0.5}))

    assert frame[["count", "unknown", "net", "mean"]].to_numpy().tolist() == [[2, 1, 0.5, 0.5]]
    with pytest.warns(UserWarning, match="unknown charges, which count as 0: 1"):
        assert costs.total(spend({"credits": None}, {"credits": 0.5})) == 0.5


def test_the_refund_of_an_unknown_charge_is_not_summed() -> None:
    known, unknown = {"credits": 0.5, "back": 0.1}, {"credits": None, "back": 0.2}
    [row] = costs.by(spend(known, unknown)).to_dict("records")

    assert (row["charged"], row["refunded"], row["net"]) == (0.5, 0.1, 0.4)


def test_a_mean_has_the_precision_of_its_amounts() -> None:
    assert costs.by(spend({"credits": 0.00002}, {"credits": 0.00004}))["mean"].tolist() == [0.00003]


def test_a_trend_reports_how_many_have_no_time() -> None:
    with pytest.warns(UserWarning, match="not in any month: 1"):
        assert costs.trend(spend({}, {"created_at": None}), "month")["count"].tolist() == [1]


def test_very_large_sums_are_exact() -> None:
    rows = [{"credits": 9e11, "model_id": f"m{n % 2}"} for n in range(40)]
    frame = costs.by(spend(*rows))

    assert (frame["net"].tolist(), frame["share"].tolist()) == ([1.8e13, 1.8e13], [0.5, 0.5])
    assert costs.total(spend(*rows)) == 3.6e13


def test_an_earlier_balance_is_the_sum_of_the_ledger_until_then() -> None:
    ledger = spend(entries=[entry(1, "grant", "5"), entry(2, "generation", "-1.5")])

    assert (ledger.balance(NOON + DAY), ledger.balance(NOON)) == (Decimal("3.5"), None)


def test_a_column_named_twice_occurs_once() -> None:
    assert list(costs.by(spend({}), "model", ["status", "model"]))[:3] == [
        "model",
        "status",
        "count",
    ]


def test_an_unknown_column_is_reported_with_a_suggestion() -> None:
    with pytest.raises(ConfigError, match="did you mean 'model'"):
        costs.by(spend({}), "modell")
    with pytest.raises(
        ConfigError, match=r"; a tag is 'tag\.team', a parameter 'parameters\.team'$"
    ):
        costs.by(spend({}), "team")


def test_reprice_counts_generations_with_an_unknown_charge_apart() -> None:
    with pytest.warns(UserWarning, match="left out, because the charge or the other price"):
        found = costs.reprice(spend({}, {"credits": None}, {}), (), lambda *_: Decimal("0.3"))

    assert found[["count", "unknown", "charged", "repriced"]].to_numpy().tolist() == [
        [3, 1, 0.2, 0.6]
    ]


def test_prices_in_smaller_steps_than_ours_are_compared_exactly() -> None:
    past = spend({"credits": 0.0004}, {"credits": 0.0004})

    found = costs.reprice(past, (), lambda *_: Decimal("0.0001"))

    assert found[["charged", "repriced", "difference"]].to_numpy().tolist() == [
        [0.0008, 0.0002, -0.0006]
    ]


@hypothesis_settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=60))
def test_sums_are_exact_to_the_millionth_of_a_credit(amounts: list[int]) -> None:
    frame = costs.by(spend(*({"credits": amount / 10**6} for amount in amounts)))

    assert round(frame["net"].iloc[0] * 10**6) == sum(amounts)


def test_costs_of_titles_and_scripts_come_from_the_ledger() -> None:
    amounts = {"title": "-0.05", "script": "-0.3", "generation": "-0.1", "grant": "100"}
    entries = [entry(n, *each) for n, each in enumerate(amounts.items())]
    frame = costs.by(spend({}, entries=entries), "kind")

    assert dict(zip(frame["kind"], frame["net"], strict=True)) == {
        "script": 0.3,
        "generation": 0.1,
        "title": 0.05,
    }


def test_the_summary_ends_with_the_sum() -> None:
    refunded = {"status": "failed", "credits": 0.5, "back": 0.5}
    frame = costs.summary(spend({}, refunded))

    assert frame.iloc[-1][["kind", "count", "charged", "refunded", "net"]].tolist() == [
        "all",
        2,
        0.6,
        0.5,
        0.1,
    ]


def test_a_trend_includes_days_without_costs() -> None:
    frame = costs.trend(spend({}, {"created_at": NOON + timedelta(days=3), "credits": 1}))

    assert frame["net"].tolist() == [0.1, 0, 0, 1]
    assert frame["running"].tolist() == [0.1, 0.1, 0.1, 1.1]
    assert frame["count"].dtype == "int64"
    with pytest.raises(ConfigError, match="hour, day, week, month"):
        costs.trend(spend({}), "year")


@pytest.mark.parametrize("every", ["hour", "week", "month"])
def test_a_trend_by_any_period_keeps_the_sum(every: str) -> None:
    rows = [{"created_at": NOON + timedelta(days=n * 5), "credits": 0.25} for n in range(9)]

    assert costs.trend(spend(*rows), every)["net"].sum() == 2.25


def test_top_has_the_highest_first_and_failed_the_lost_credits() -> None:
    rows = [
        {"credits": 0.1},
        {"credits": 3, "prompt": "the sea"},
        {"status": "failed", "credits": 1, "back": 1, "error": "dark"},
        {"status": "canceled", "credits": 2},
    ]

    assert costs.top(spend(*rows), 2)["what"].tolist() == ["the sea", "gen_3"]
    lost = costs.failed(spend(*rows))
    assert lost[["status", "net"]].to_numpy().tolist() == [["canceled", 2.0], ["failed", 0.0]]


def test_without_spending_every_view_is_empty() -> None:
    nothing = spend()

    for frame in (
        costs.by(nothing),
        costs.trend(nothing),
        costs.top(nothing),
        costs.failed(nothing),
    ):
        assert frame.empty
    assert costs.summary(nothing).empty


# ── reconciling ───────────────────────────────────────────────────────────────────────────────────


BOOKS = [
    entry(3, "refund", "0.25", "99.75", "g2"),
    entry(2, "generation", "-0.25", "99.5", "g2"),
    entry(1, "generation", "-0.25", "99.75", "g1"),
    entry(0, "grant", "100", "100"),
]
GENERATIONS = [make(1, "0.25", "0", id="g1"), make(2, "0.25", "0.25", id="g2")]


def reconcile(
    entries: list[Entry], generations: Sequence[Generation] = (), **facts: Any
) -> costs.CostFrame:
    archive = archive_of(table_of(generations), usage_of(*entries))
    return costs.reconcile(archive, **facts)


def test_reconcile_agrees_for_a_consistent_ledger() -> None:
    receipts = {"g1": Decimal("0.25"), "g2": Decimal("0.25")}
    frame = reconcile(BOOKS, GENERATIONS, balance=Decimal("99.75"), receipts=receipts)

    assert frame.attrs == {"agrees": True, "problems": 0, "unchecked": 0}
    assert frame["check"].tolist() == ["balance", "chain", "receipt", "charge", "refund"]


@pytest.mark.parametrize(
    ("change", "check", "difference"),
    [
        ({"balance": Decimal("99.751")}, "balance", -0.001),
        ({"generations": GENERATIONS, "receipts": {"g1": Decimal("0.251")}}, "receipt", 0.001),
        (
            {"generations": [Generation(id="g9")], "receipts": {"g9": Decimal("0.1")}},
            "receipt",
            0.1,
        ),
        (
            {"generations": [GENERATIONS[0].model_copy(update={"credits_charged": Decimal(1)})]},
            "charge",
            0.75,
        ),
    ],
)
def test_a_difference_of_one_millicredit_is_found(
    change: dict[str, Any], check: str, difference: float
) -> None:
    frame = reconcile(BOOKS, **change)

    assert frame.attrs["problems"] == 1
    assert frame.iloc[0]["check"] == check
    assert frame.iloc[0]["difference"] == pytest.approx(difference)


def test_an_entry_with_a_wrong_balance_is_named() -> None:
    wrong = [BOOKS[0], BOOKS[1].model_copy(update={"balance_after": Decimal("99.4")}), *BOOKS[2:]]
    frame = reconcile(wrong)

    assert set(frame[~frame["agrees"]]["subject"]) == {"led_2", "led_3"}


def test_balances_of_billions_are_compared_to_the_millicredit() -> None:
    rich = [
        entry(2, "generation", "-0.25", "999999999998.528", "g1"),
        entry(1, "script", "-0.222", "999999999998.778"),
        entry(0, "grant", "999999999999", "999999999999"),
    ]

    assert reconcile(rich, balance=Decimal("999999999998.528")).attrs["agrees"]
    found = reconcile(rich, balance=Decimal("999999999998.529")).iloc[0]
    assert (found["check"], found["difference"]) == ("balance", -0.001)


def test_an_empty_ledger_agrees() -> None:
    assert reconcile([]).attrs == {"agrees": True, "problems": 0, "unchecked": 0}


def test_entries_of_the_same_time_may_be_in_any_order() -> None:
    assert reconcile([BOOKS[n] for n in (1, 0, 3, 2)]).attrs["agrees"]


def test_without_a_ledger_reconcile_lists_unchecked_items() -> None:
    without_credits = Generation(id="g3")
    table = table_of([*GENERATIONS, without_credits])
    receipts = {"g1": Decimal("0.25"), "g2": Decimal("0.3"), "g3": Decimal("0.1")}
    tables = archive_of(charges.fill_credits(table, receipts, {}))
    frame = costs.reconcile(
        tables, balance=Decimal(9), receipts=receipts, ledger=False, unlisted=35
    )

    assert frame.attrs == {"agrees": False, "problems": 1, "unchecked": 4}
    assert frame["check"].tolist() == [
        "receipt",
        "balance",
        "charge",
        "refund",
        "history",
        "receipt",
    ]
    assert frame["agrees"].tolist() == [False, *[pd.NA] * 4, True]
    assert (frame["subject"][0], frame["difference"][0]) == ("g2", 0.05)
    assert "35 are known because this computer started them" in frame["note"][4]


# ── terms of prices ───────────────────────────────────────────────────────────────────────────────

MODEL = wire.Model(
    id="clip",
    media_parameters=[Parameter(name="voice", type="audio", media=True)],
    setting_parameters=[
        Parameter(name="seconds", type="integer", default=5, minimum=1, maximum=10),
        Parameter(name="size", default="small", enum=["small", "big"]),
        Parameter(name="seed", type="integer"),
        Parameter(name="note"),
    ],
    pricing=Rule(
        base=Decimal("0.1"),
        units=[
            UnitPrice(parameter="seconds", credits=Decimal("0.02")),
            UnitPrice(medium="voice", credits=Decimal("0.01")),
        ],
        multipliers=[Multiplier(parameter="size", values={"big": Decimal(2)})],
    ),
)


def test_sensitivity_has_what_each_value_adds() -> None:
    from fractions import Fraction

    def price(values: Any, seconds: Any) -> wire.Quote:
        media = {n: [pricing.Medium("audio", Fraction(s))] for n, s in seconds.items()}
        assert MODEL.pricing is not None
        return pricing.price(MODEL.pricing, values, media)

    frame = costs.sensitivity(MODEL, price).set_index("choice")

    assert frame.loc["seconds = 10", "added"] == 0.1
    assert frame.loc["size = big", "factor"] == 2
    assert frame.loc["voice = 60 s", "added"] == 0.6
    assert frame.loc["seconds = 5", "default"]
    assert not any("seed" in choice or "note" in choice for choice in frame.index)


def test_sensitivity_without_any_price_is_an_error() -> None:
    with pytest.raises(
        ConfigError, match="the service does not say how the price of the model 'clip'"
    ):
        costs.sensitivity(MODEL, lambda _v, _m: None)


def test_an_explanation_adds_up_to_the_charge() -> None:
    assert MODEL.pricing is not None
    quote = pricing.price(MODEL.pricing, {"seconds": 5, "size": "big"})
    item = Generation(id="g", model_id="clip", credits_refunded=Decimal("0.5"), error="dark")
    frame = costs.explain(item, Decimal("0.5"), quote).set_index("term")

    assert frame.loc["unexplained", "credits"] == pytest.approx(0.1)
    assert frame["credits"].drop(["charged", "refunded"]).sum() == pytest.approx(0.5)
    assert frame.loc["refunded", "credits"] == -0.5


def test_an_unknown_charge_is_explained_as_unknown() -> None:
    frame = costs.explain(Generation(id="g"), None, None)

    assert frame["term"].tolist() == ["charged"]
    assert frame["credits"].isna().all()


def test_sensitivity_ignores_a_malformed_default() -> None:
    strength = Parameter(name="strength", type="number", default=[1], maximum=2)
    model = MODEL.model_copy(update={"setting_parameters": [strength]})

    frame = costs.sensitivity(model, lambda _values, _media: wire.Quote(total=Decimal("0.1")))

    assert "strength = 2" in frame["choice"].tolist()
