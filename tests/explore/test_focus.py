"""FOCUS export: columns follow the published rules, and sums equal those of the costs.

Source: FOCUS 1.2, https://focus.finops.org/focus-specification/v1-2/, "Columns".
"""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pytest

from kit import wire
from kit.errors import ConfigError
from kit.explore import costs
from kit.explore.costs.spending import Rate
from kit.studio import Studio
from tests.explore.fake_service import archive_of, make, table_of, usage_of


class Rule(NamedTuple):
    """The specification of a column: its level, type, whether it may be null, and values."""

    level: str
    kind: str
    null: bool = False
    values: tuple[str, ...] = ()


RULES = {
    "BilledCost": Rule("mandatory", "decimal"),
    "BillingAccountId": Rule("mandatory", "string"),
    "BillingAccountName": Rule("mandatory", "string", null=True),
    "BillingCurrency": Rule("mandatory", "string"),
    "BillingPeriodEnd": Rule("mandatory", "time"),
    "BillingPeriodStart": Rule("mandatory", "time"),
    "ChargeCategory": Rule(
        "mandatory", "string", values=("Usage", "Purchase", "Tax", "Credit", "Adjustment")
    ),
    "ChargeClass": Rule("mandatory", "string", null=True, values=("Correction",)),
    "ChargeDescription": Rule("mandatory", "string", null=True),
    "ChargeFrequency": Rule(
        "recommended", "string", values=("One-Time", "Recurring", "Usage-Based")
    ),
    "ChargePeriodEnd": Rule("mandatory", "time"),
    "ChargePeriodStart": Rule("mandatory", "time"),
    "ConsumedQuantity": Rule("conditional", "decimal", null=True),
    "ConsumedUnit": Rule("conditional", "string", null=True),
    "ContractedCost": Rule("mandatory", "decimal"),
    "ContractedUnitPrice": Rule("conditional", "decimal", null=True),
    "EffectiveCost": Rule("mandatory", "decimal"),
    "InvoiceIssuerName": Rule("mandatory", "string"),
    "ListCost": Rule("mandatory", "decimal"),
    "ListUnitPrice": Rule("conditional", "decimal", null=True),
    "PricingCategory": Rule(
        "conditional", "string", null=True, values=("Standard", "Dynamic", "Committed", "Other")
    ),
    "PricingCurrency": Rule("conditional", "string"),
    "PricingCurrencyContractedUnitPrice": Rule("conditional", "decimal", null=True),
    "PricingCurrencyEffectiveCost": Rule("conditional", "decimal"),
    "PricingCurrencyListUnitPrice": Rule("conditional", "decimal", null=True),
    "PricingQuantity": Rule("mandatory", "decimal", null=True),
    "PricingUnit": Rule("mandatory", "string", null=True),
    "ProviderName": Rule("mandatory", "string"),
    "PublisherName": Rule("mandatory", "string"),
    "ServiceCategory": Rule(
        "mandatory",
        "string",
        values=(
            *("AI and Machine Learning", "Analytics", "Business Applications", "Compute"),
            *("Databases", "Developer Tools", "Multicloud", "Identity", "Integration"),
            *("Internet of Things", "Management and Governance", "Media", "Migration", "Mobile"),
            *("Networking", "Security", "Storage", "Web", "Other"),
        ),
    ),
    "ServiceName": Rule("mandatory", "string"),
    "ServiceSubcategory": Rule("recommended", "string", null=True, values=("Generative AI",)),
    "SkuId": Rule("conditional", "string", null=True),
    "SkuMeter": Rule("conditional", "string", null=True),
    "SkuPriceId": Rule("conditional", "string", null=True),
    "Tags": Rule("conditional", "string", null=True),
}
#: Columns that must not be null in rows of usage, though they may be in others.
USED = ("ConsumedQuantity", "ConsumedUnit", "ContractedUnitPrice", "ListUnitPrice", "SkuId")
PRICED = ("PricingQuantity", "PricingUnit", "PricingCategory", "SkuPriceId")
KINDS = {"decimal": "f", "time": "M", "string": "OT"}
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
ACCOUNT = wire.Account(id="acc_1", name="Ada")
RATES = {"EUR": [Rate(NOON + timedelta(hours=3), Decimal("0.02")), Rate(None, Decimal("0.012"))]}


def make_order(
    number: int, credits: str, model: str = "poster", back: str = "0", **tags: str
) -> wire.Generation:
    at = NOON + timedelta(hours=6 * number)
    return make(number, credits, back, model_id=model, created_at=at, tags=tags)


def spend(*generations: wire.Generation, rates: Any = RATES) -> costs.Spending:
    amounts = {"credits": Decimal("-0.05"), "balance_after": Decimal(1)}
    title = wire.Entry(id="led_1", created_at=NOON, kind="title", **amounts)
    return costs.Spending(archive_of(table_of(generations), usage_of(title)), rates=rates)


@pytest.fixture
def frame() -> costs.FocusFrame:
    """A frame of two days around the end of a month, with a changed rate, a refund and tags."""
    generations = (
        make_order(0, "0.5", campaign="winter"),
        make_order(1, "0.25", campaign="winter"),
        make_order(2, "1.125", back="1.125"),
        make_order(3, "0.5", model="drift"),
    )
    return costs.focus(spend(*generations), account=ACCOUNT, provider="studio.example")


def check_frame(frame: pd.DataFrame) -> None:
    """Check a frame by the published rules."""
    assert list(frame.columns) == sorted(RULES)
    for name, rule in RULES.items():
        column = frame[name]
        assert column.dtype.kind in KINDS[rule.kind], name
        assert rule.null or column.notna().all(), name
        assert not rule.values or set(column.dropna()) <= set(rule.values), name
        assert rule.kind != "string" or (column.dropna().str.strip() == column.dropna()).all(), name
    used = frame[frame["ChargeCategory"] == "Usage"]
    assert used[[*USED, *PRICED]].notna().all().all()
    assert frame["BillingCurrency"].str.fullmatch("[A-Z]{3}").all()
    assert (frame["ChargePeriodStart"] < frame["ChargePeriodEnd"]).all()
    assert (frame["BillingPeriodStart"] <= frame["ChargePeriodStart"]).all()
    assert (frame["ChargePeriodEnd"] <= frame["BillingPeriodEnd"]).all()
    for kind in ("List", "Contracted"):
        priced = frame[f"{kind}UnitPrice"] * frame["PricingQuantity"]
        assert priced.to_numpy() == pytest.approx(frame[f"{kind}Cost"].to_numpy(), abs=1e-9)
        assert (frame[f"{kind}UnitPrice"] >= 0).all()
    for tags in frame["Tags"].dropna():
        assert all(isinstance(value, str) for value in json.loads(tags).values())


def test_every_column_follows_the_published_rules(frame: costs.FocusFrame) -> None:
    check_frame(frame)
    check_frame(costs.focus(spend(), "EUR", account=ACCOUNT, provider="studio.example"))


def test_rows_are_grouped_by_day_model_and_tags_with_refunds(frame: costs.FocusFrame) -> None:
    rows = frame[["SkuId", "Tags", "ConsumedQuantity", "PricingQuantity", "BilledCost"]]
    days = frame["ChargePeriodStart"].dt.day.tolist()
    winter = '{"campaign": "winter"}'

    assert list(zip(days, *(rows[name].fillna("-") for name in rows), strict=True)) == [
        (30, "poster", winter, 1, 0.5, 0.006),
        (30, "poster", winter, 1, 0.25, 0.005),
        (30, "title", "-", 1, 0.05, 0.0006),
        (1, "drift", "-", 1, 0.5, 0.01),
        (1, "poster", "-", 1, 1.125, 0.0225),
        (1, "poster", "-", -1, -1.125, -0.0225),
    ]


def test_csv_parquet_and_excel_have_equal_columns(frame: costs.FocusFrame, tmp_path: Path) -> None:
    text = frame.to_csv()
    frame.to_parquet(tmp_path / "focus.parquet")

    assert text.splitlines()[0].split(",") == sorted(RULES)
    assert "2026-11-30T00:00:00Z" in text
    moments = [name for name, rule in RULES.items() if rule.kind == "time"]
    back = pd.read_csv(io.StringIO(text), parse_dates=moments)
    assert back["BilledCost"].sum() == pytest.approx(frame["BilledCost"].sum())
    check_frame(pd.read_parquet(tmp_path / "focus.parquet"))
    frame.to_excel(tmp_path / "focus.xlsx", index=False)
    assert pd.read_excel(tmp_path / "focus.xlsx").columns.tolist() == sorted(RULES)


def test_a_missing_rate_is_reported() -> None:
    def export_focus(currency: str | None, rates: object) -> None:
        spending = spend(make_order(0, "1"), rates=rates)
        costs.focus(spending, currency, account=ACCOUNT, provider="x")

    later = [Rate(NOON + timedelta(days=9), Decimal(1))]
    with pytest.raises(ConfigError, match=r"costs.rate\('EUR', 0.01\)"):
        export_focus(None, {})
    with pytest.raises(ConfigError, match=r"costs.rate\('USD', 0.01\)"):
        export_focus("USD", RATES)
    with pytest.raises(ConfigError, match="EUR or USD"):
        export_focus(None, {**RATES, "USD": RATES["EUR"]})
    with pytest.raises(ConfigError, match="no rate in EUR on 2026-11-30"):
        export_focus("EUR", {"EUR": later})


def test_charges_without_a_time_are_left_out_and_counted() -> None:
    undated = make_order(1, "1", back="1").model_copy(update={"created_at": None})

    for rates in (RATES, {"EUR": [Rate(NOON - timedelta(days=9), Decimal(1))]}):
        spending = spend(make_order(0, "1"), undated, rates=rates)
        with pytest.warns(UserWarning, match="without a time, not in any day: 1"):
            check_frame(found := costs.focus(spending, account=ACCOUNT, provider="x"))
        assert found["PricingQuantity"].sum() == 1.05


def test_a_studio_exports_its_costs(studio: Studio) -> None:
    studio.generate("flat", "a", tags={"campaign": "winter"})
    studio.titles.suggest("SPACE")
    studio.scripts.write("SPACE", "Rain", variations=2)
    studio.costs.rate("EUR", "0.012")
    found = studio.costs.focus()

    check_frame(found)
    check_frame(studio.costs.focus(since="2031-01-01"))
    assert found["BillingAccountId"].unique().tolist() == [studio.account.id]
    assert found["PricingQuantity"].sum() == pytest.approx(studio.costs.total())
    assert found["BilledCost"].sum() == pytest.approx(studio.costs.by()["EUR"].sum())
    amounts = found.set_index("ConsumedUnit")[["ConsumedQuantity", "PricingQuantity"]]
    assert amounts.loc["Script Requests"].tolist() == [1, 0.3]  # for two scripts
