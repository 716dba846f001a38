"""Costs at our own service with a ledger, and at another service without one."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from kit.client.flows import Policy
from kit.client.settings import Settings
from kit.client.sync import Client
from kit.errors import ConfigError, GenerationFailedError
from kit.explore.price_book import LearnedQuote
from kit.studio import Studio
from kit.studio.operations import Operations
from kit.widgets import preview, prices
from tests.client.third_party import Answer, Server, ThirdParty
from tests.conftest import Service, lasting_service
from tests.studio.progress_lines import ShownLine

service = lasting_service


@pytest.fixture
def own(own: Studio) -> Studio:
    """A studio of our own service with some charges."""
    own.generate("flat", "x", count=2)
    own.generate("flat", "x", count=2, size="big")
    with pytest.raises(GenerationFailedError):
        own.generate("flat", "x", does="fails")
    own.titles.suggest("SPACE")
    return own


def test_costs_agree_with_ledger_and_balance(own: Studio) -> None:
    costs = own.costs
    by = costs.by("model", "parameters.size")
    whole = costs.summary().iloc[-1]
    checks = costs.reconcile()

    assert dict(zip(by["parameters.size"].fillna("-"), by["net"], strict=True)) == {
        "big": 1.4,
        "small": 0.7,
        "-": 0.05,
    }
    assert (whole["charged"], whole["refunded"], whole["net"]) == (2.75, 0.6, 2.15)
    assert checks.attrs == {"agrees": True, "problems": 0, "unchecked": 0}
    assert set(checks["check"]) == {"balance", "chain", "receipt", "charge", "refund"}
    assert own.account.credits == Decimal(100) - Decimal("2.15")


def test_every_view_of_the_costs_has_the_right_amounts(own: Studio) -> None:
    assert own.costs.by("day")["count"].tolist() == [4]
    assert own.costs.trend()["net"].tolist() == [2.15]
    assert own.costs.total() == own.costs.frame()["net"].sum() == 2.15
    assert own.costs.by("day", timezone="Asia/Tokyo")["day"].dtype == "datetime64[us, Asia/Tokyo]"
    assert own.costs.top(2)["net"].tolist() == [1.4, 0.7]
    assert str(own.costs.top(2, timezone="Asia/Tokyo")["created_at"].dt.tz) == "Asia/Tokyo"
    assert own.costs.failed()[["charged", "refunded", "net"]].to_numpy().tolist() == [[0.6, 0.6, 0]]
    assert own.costs.by("model", until="2020-01-01").empty
    made = own.history.list()[0]
    assert own.costs.explain(made)["term"].tolist()[-2:] == ["charged", "refunded"]
    expensive = own.costs.top(1).index[0]
    explained = own.costs.explain(expensive)
    assert explained["term"].tolist() == ["base", "unit", "multiplier", "charged"]
    assert explained["credits"].tolist() == [0.5, 0.2, 0.7, 1.4]


def test_a_day_without_a_zone_begins_at_midnight_in_the_time_zone(own: Studio) -> None:
    west, east = "Etc/GMT+12", "Etc/GMT-14"  # 26 hours apart
    today = own.costs.by("day", timezone=east)["day"].max().tz_localize(None)
    found = {zone: {"since": today, "timezone": zone} for zone in (east, west)}

    assert own.costs.total(**found[east]) == own.costs.by("model", **found[east])["net"].sum() > 0
    for costs in (own.costs.summary, own.costs.top, own.costs.failed):
        assert len(costs(**found[east])) > 0
        assert costs(**found[west]).empty
    assert own.costs.total(**found[west]) == 0
    for history in (own.history.frame, own.history.list, partial(own.history.frame, 5)):
        assert len(history(**found[east])) > 0 == len(history(**found[west]))
    with pytest.raises(ConfigError, match="there is no time zone 'Etc/GMT-15'; did you mean"):
        own.history.list(timezone="Etc/GMT-15")


def test_a_forecast_does_not_begin_in_the_future(own: Studio) -> None:
    with pytest.raises(ConfigError, match="as_of must not be in the future, as 2999-01 is"):
        own.costs.forecast(as_of="2999-01")


def test_the_cost_of_a_kept_generation_includes_the_others(own: Studio) -> None:
    good, other = (made for made in own.history if made.status == "completed")
    own.ratings.rate(good, 4)
    own.ratings.rate(other, 3)

    kept = own.costs.by("kind", kept=True).set_index("kind")
    assert kept.loc["generation", ["net", "kept", "per_kept"]].tolist() == [2.1, 1, 2.1]
    assert kept["kept"].loc["title"] == 0
    assert kept["per_kept"].isna().loc["title"]
    assert own.costs.by("kind", kept=3).set_index("kind")["per_kept"].loc["generation"] == 1.05


def test_amounts_of_money_are_shown_and_the_rate_is_saved(
    own: Studio, service: Service, key: str
) -> None:
    own.costs.rate("EUR", 0.012)

    assert own.costs.by("kind")["EUR"].tolist() == [0.0252, 0.0006]
    settings = Settings(service.url, key, data=own.client.settings.data, progress=False)
    with Studio(settings) as later:
        assert later.costs.summary()["EUR"].iloc[-1] == 0.0258
    with pytest.raises(ConfigError, match="a code such as EUR, not 'euro'"):
        own.costs.rate("euro", 1)


def test_past_generations_are_repriced(own: Studio) -> None:
    columns = ["model_id", "count", "unknown", "charged", "repriced", "difference"]
    as_it_was = own.costs.reprice()
    small = own.costs.reprice(size="small")
    one = own.costs.reprice("flat", count=1, size="small", sync=False)

    assert as_it_was[columns].to_numpy().tolist() == [["flat", 2, 0, 2.1, 2.1, 0.0]]
    assert small[columns].to_numpy().tolist() == [["flat", 2, 0, 2.1, 1.4, -0.7]]
    assert one["repriced"].tolist() == [1.2]
    with pytest.warns(
        UserWarning, match="left out, because the charge or the other price is unknown: 2"
    ):
        # the price depends on the length of a file, which is unknown
        assert own.costs.reprice("clay")[["unknown", "repriced"]].to_numpy().tolist() == [[2, 0.0]]
    # a value that no model takes has no price
    with pytest.raises(ConfigError, match="size must be one of 'small', 'big', not 'huge'"):
        own.costs.reprice(size="huge")
    with pytest.raises(ConfigError, match="did you mean 'size'"):
        own.costs.reprice(siz="small")


def test_sensitivity_has_the_surcharge_of_each_setting(own: Studio) -> None:
    frame = own.costs.sensitivity("flat").set_index("choice")

    assert frame.loc["count = 10", "added"] == 0.9
    assert frame.loc["size = big", "factor"] == 2
    assert frame.loc["smooth = True", "added"] == 0
    assert own.costs.sensitivity("clay").set_index("choice").loc["voice = 60 s", "added"] == 0.6


def test_without_a_ledger_costs_come_from_receipts(studio: Studio) -> None:
    studio.generate("paint", "a")

    assert studio.costs.by("model")["net"].tolist() == [0.25]
    assert studio.costs.by("source")["source"].tolist() == ["receipt"]
    checks = studio.costs.reconcile()
    assert checks.attrs == {"agrees": True, "problems": 0, "unchecked": 3}
    assert checks["note"].str.contains("without a ledger, the balance cannot be checked").any()
    page = studio.costs.report("2026-01").html
    assert "later refunds may be missing. Titles and scripts are not counted" in page


def test_sums_without_a_ledger_name_their_doubts_once(
    studio: Studio, backend: ThirdParty, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    for number, model in enumerate(("paint", "retouch")):
        backend.orders[f"far-{number}"] = {"modelId": model, "polled": backend.polls}
    studio.generate("paint", "a")
    studio.titles.suggest("SPACE")

    with pytest.warns(UserWarning, match="unknown charges, which count as 0: 1"):
        assert studio.costs.total() == 0.5
    assert studio.costs.summary()["net"].iloc[-1] == studio.costs.by("kind")["net"].sum() == 0.5
    assert [record.message for record in caplog.records] == [
        "Receipts are from the start of a generation; later refunds may be missing.",
        "Estimates are at today's prices.",
        "Titles and scripts are not counted: this service keeps no ledger.",
    ]
    checks = studio.costs.reconcile().set_index("check")
    assert (
        "what 3 generations were charged: there are receipts of 1" in checks.loc["charge", "note"]
    )
    with Studio(settings) as later:  # it has not asked for a ledger
        assert later.costs.reconcile(sync=False).set_index("check").equals(checks)
        assert later.costs.summary(sync=False).equals(studio.costs.summary())
        assert "the ledger was never synced" in later.costs.report(sync=False).html
    assert "Titles and scripts are not counted: the ledger was never synced." in caplog.text


def test_charges_without_a_time_are_named_in_sums_of_a_period(
    studio: Studio, backend: ThirdParty, caplog: pytest.LogCaptureFixture
) -> None:
    backend.facts = lambda _: {"createdAt": None}
    studio.generate("paint", "a")

    assert studio.costs.total() == 0.25
    assert "without a time" not in caplog.text
    assert studio.costs.total(since="2026-01-01") == 0
    assert caplog.text.count("Charges without a time are in no day or month: 1.") == 1
    assert "Charges without a time are in no day or month: 1." in studio.costs.report().html


def test_figures_name_the_charges_that_they_leave_out(studio: Studio, backend: ThirdParty) -> None:
    studio.costs.rate("EUR", 1)
    backend.orders["far-1"] = {"modelId": "retouch", "polled": backend.polls}

    for method in (studio.costs.focus, studio.costs.unusual, studio.costs.total):
        with pytest.warns(UserWarning, match="unknown charges, which count as 0: 1"):
            method()
    with pytest.warns(
        UserWarning, match="left out, because the charge or the other price is unknown: 1"
    ):
        assert studio.costs.reprice("paint")["unknown"].tolist() == [1]


def test_a_balance_that_changes_meanwhile_is_no_difference(studio: Studio, api: Server) -> None:
    grant = {"id": "led_1", "kind": "grant", "credits": 5, "balanceAfter": 5}
    api.script("GET", "/v1/usage", *[Answer(200, [grant])] * 7)
    balances = [10, *range(10, 16), *[4] * 6]  # the second response tells whose history it is
    accounts = [Answer(200, {"id": "a1", "credits": n}) for n in balances]
    api.script("GET", "/v1/account", *accounts)

    moving, settled = studio.costs.reconcile(), studio.costs.reconcile()

    assert moving.attrs == {"agrees": True, "problems": 0, "unchecked": 1}
    assert "try again" in moving["note"].iloc[0]
    assert settled[settled["agrees"].eq(False)]["difference"].tolist() == [1.0]
    assert "balance" not in set(studio.costs.reconcile(sync=False)["check"])


# ── prices learned from receipts ──────────────────────────────────────────────────────────────────


def test_a_price_is_learned_from_receipts_without_a_rule(
    studio: Studio, api: Server, backend: ThirdParty
) -> None:
    def start_at_price(seen: Any) -> Any:
        answer = start(seen)
        steps = seen.json["parameters"].get("steps", 20)
        return type(answer)(200, {**answer.body, "creditsCharged": 0.1 + steps / 100})

    start, backend.start = backend.start, start_at_price  # type: ignore[method-assign]
    for steps in (10, 20, 30, 40):
        studio.generate("paint", "a", steps=steps)

    quote = studio.estimate("paint", "b", steps=15)
    assert (quote.total, quote.source) == (Decimal("0.25"), "receipts")
    assert quote.terms[0].kind == "learned from 4 receipts, ± 0.01"
    assert studio.estimate("paint", "b", steps=40).total == Decimal("0.5")
    # without a receipt for this style, receipts give no estimate
    assert studio.estimate("paint", "b", steps=15, style="ink").source == "default"
    sensitivity = studio.costs.sensitivity("paint").set_index("choice")
    assert sensitivity.loc["steps = 50", "total"] == 0.6


def test_learned_prices_outlive_the_kernel(studio: Studio, settings: Settings) -> None:
    studio.generate("paint", "a")

    with Studio(settings) as later:
        assert later.estimate("paint", "something else").source == "receipts"


def test_a_price_is_learned_from_generations_of_other_computers(
    studio: Studio, backend: ThirdParty
) -> None:
    for number, style in enumerate(("oil", "ink", "oil", "ink")):
        body = {"modelId": "paint", "prompt": "a lake", "parameters": {"style": style}}
        backend.orders[f"far-{number}"] = {**body, "polled": backend.polls}
    prices_by_style = {"oil": 0.25, "ink": 0.4}
    backend.facts = lambda order: {"creditsCharged": prices_by_style[order["parameters"]["style"]]}
    assert studio.estimate("paint", "a lake", style="ink").source == "default"

    studio.history.sync()
    quote = studio.estimate("paint", "a lake", style="ink")

    assert isinstance(quote, LearnedQuote)
    assert (quote.total, quote.error, quote.samples) == (Decimal("0.4"), 0, 2)
    # without a receipt for other steps, their price is not known to be the same
    assert studio.estimate("paint", "a lake", steps=50).source == "default"


def test_a_receipt_also_in_the_history_counts_once(studio: Studio) -> None:
    studio.generate("paint", "a lake")
    studio.generate("paint", "a river")
    studio.history.sync()

    quote = studio.estimate("paint", "a sea")

    assert isinstance(quote, LearnedQuote)
    assert quote.samples == 2


def test_a_new_price_book_learns_from_receipts_of_the_journal(
    studio: Studio, settings: Settings, client: Client
) -> None:
    studio.generate("paint", "a lake")
    studio.history.sync()
    for file in (settings.data / "notebook" / "prices").iterdir():
        file.unlink()

    later = Studio(settings, client=client, operations=Operations(settings))

    assert later.estimate("paint", "something else").source == "receipts"


def test_new_ledger_entries_are_fetched(own: Studio) -> None:
    first = own.costs.summary()
    own.titles.suggest("SPACE", again=True)
    again = own.costs.summary()

    assert again.set_index("kind").loc["title", "net"] == 0.1
    assert again["count"].max() == first["count"].max() + 1
    assert own.usage.frame(sync=False).index.is_unique


def test_a_misspelled_column_sends_no_request(studio: Studio, api: Server) -> None:
    with pytest.raises(ConfigError, match="did you mean 'model'"):
        studio.costs.by("modle")
    assert api.seen == []


def test_a_price_for_other_settings_is_shown_as_estimated(studio: Studio) -> None:
    usual = studio.estimate("paint", "a lake")
    other = studio.estimate("paint", "a lake", steps=50, style="ink")

    assert usual.terms[0].kind == "estimated: the price with the model's defaults"
    assert other.terms[0].kind.startswith(f"{usual.terms[0].kind}; yours differs in ")
    assert {"steps", "style"} <= set(other.terms[0].kind.replace(",", "").split())
    assert sum(term.credits for term in other.terms) == other.total
    assert "estimated" in preview.quote(other)
    assert "estimated" in prices.line(other)


def test_reading_a_long_ledger_shows_progress(settings: Settings, api: Server) -> None:
    pages = [
        Answer(
            200,
            [
                {
                    "id": f"entry-{n}",
                    "kind": "title",
                    "credits": -0.05,
                    "balanceAfter": 1 - 0.05 * n,
                    "createdAt": f"2026-01-{n:02}T12:00:00Z",
                }
            ],
            {"Link": f'</v1/usage?page={n}>; rel="next"'} if n > 1 else {},
        )
        for n in range(9, 0, -1)
    ]
    api.script("GET", "/v1/usage", *pages)
    line, shown = ShownLine(), replace(settings, progress=True)
    ticks = itertools.count()
    operations = Operations(shown, policy=Policy(clock=lambda: float(next(ticks))), line=line)

    with Studio(shown, operations=operations) as studio:
        assert studio.costs.summary()["count"].max() == 9

    seen = [label for label in line.labels if label.startswith("ledger: ")]
    assert len(seen) == 6, "more than three pages are shown"
    assert all(
        re.fullmatch(r"ledger: \d+ rows · \d+ pages · [\d,]+ rows/s · back to .*", label)
        for label in seen
    )
    assert line.labels[-1] == ""
