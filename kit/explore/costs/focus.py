"""FOCUS: daily costs in the columns of the FinOps Open Cost and Usage Specification, version 1.2.

Prices are in credits, a virtual currency; billed amounts are converted to money with the rates of
`kit.explore.costs.spending`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from kit import wire
from kit.errors import ConfigError
from kit.explore.charts import CostFrame
from kit.explore.costs.spending import Spending, worth
from kit.explore.costs.totals import warn, warn_of_unknown
from kit.explore.frames import PARTS

#: The pricing unit of each kind of charge.
_UNITS = {"generation": "Generations", "title": "Titles", "script": "Script Requests"}
#: One row for the charges of a day, and a negative one for their refunds.
_DAILY_CHARGES = """
, rolled as (
    select date_trunc('day', created_at) as day, kind, coalesce(model_id, kind) as sku, tags,
        {worth} as rate, count(charged) as count, sum(charged) as charged,
        count(*) filter (where refunded > 0) as undone, sum(refunded) as refunded
    from spending where charged is not null group by all
)
select day, kind, sku, tags, rate, count, charged as amount, 'Charged' as what from rolled
union all
select day, kind, sku, tags, rate, -undone, -refunded, 'Refunded' from rolled where refunded > 0
order by day, sku, tags nulls first, what, rate
"""


class FocusFrame(CostFrame):
    """A dataframe whose CSV follows FOCUS: times in UTC with a ``Z``, and no index."""

    @property
    def _constructor(self) -> Callable[..., FocusFrame]:
        return FocusFrame

    def to_csv(self, *args: Any, **options: Any) -> Any:
        """Write the frame as CSV; see ``DataFrame.to_csv``."""
        defaults = {"index": False, "date_format": "%Y-%m-%dT%H:%M:%SZ"}
        return super().to_csv(*args, **{**defaults, **options})


def focus(
    spent: Spending, currency: str | None = None, *, account: wire.Account, provider: str
) -> FocusFrame:
    """Return one row for each day, model and set of tags, and one for its refunds.

    Costs are in money, by default in the only currency with rates. `PricingQuantity` and
    `PricingCurrencyEffectiveCost` are in credits, and unit prices are the value of one credit.
    Grants are not costs and are left out. Raises `ConfigError` if the rates of the currency do not
    cover the whole period.

    Source: FOCUS 1.2, https://focus.finops.org/focus-specification/v1-2/
    """
    name = _choose(currency, spent)
    warn_of_unknown(spent.sums(()), "focus")
    rows = spent.ask(_DAILY_CHARGES.format(worth=worth(spent.rates[name])))
    undated = rows["count"].where(rows["day"].isna() & (rows["what"] == "Charged"), 0).sum()
    warn("focus", "charges without a time, not in any day", undated)
    rows = rows.dropna(subset="day")
    if rows["rate"].isna().any():
        first = rows.loc[rows["rate"].isna(), "day"].min()
        raise ConfigError(
            f"there is no rate in {name} on {first:%Y-%m-%d}: say since=..., or what a credit was "
            f"worth then, as in studio.costs.rate({name!r}, 0.01)"
        )
    days = rows["day"].dt.tz_convert("UTC")
    months = days.dt.tz_localize(None).dt.to_period("M").dt.to_timestamp()
    amounts, rates = rows["amount"].astype("float64"), rows["rate"].astype("float64")
    credits, price, cost = amounts / PARTS, (rates * PARTS).round(9), (amounts * rates).round(9)
    unit = rows["kind"].map(_UNITS).astype("string")  # without rows it is of no type
    columns: dict[str, Any] = {
        "BilledCost": cost,
        "BillingAccountId": account.id,
        "BillingAccountName": account.name or None,
        "BillingCurrency": name,
        "BillingPeriodEnd": (months + pd.offsets.MonthBegin(1)).dt.tz_localize("UTC"),
        "BillingPeriodStart": months.dt.tz_localize("UTC"),
        "ChargeCategory": "Usage",
        "ChargeClass": None,
        "ChargeDescription": rows["what"] + ": " + unit.str.lower() + " of " + rows["sku"],
        "ChargeFrequency": "Usage-Based",
        "ChargePeriodEnd": days + pd.Timedelta(days=1),
        "ChargePeriodStart": days,
        "ConsumedQuantity": rows["count"].astype("float64"),
        "ConsumedUnit": unit,
        "ContractedCost": cost,
        "ContractedUnitPrice": price,
        "EffectiveCost": cost,
        "InvoiceIssuerName": provider,
        "ListCost": cost,
        "ListUnitPrice": price,
        "PricingCategory": "Standard",
        "PricingCurrency": "Credits",
        "PricingCurrencyContractedUnitPrice": 1.0,
        "PricingCurrencyEffectiveCost": credits,
        "PricingCurrencyListUnitPrice": 1.0,
        "PricingQuantity": credits,
        "PricingUnit": "Credits",
        "ProviderName": provider,
        "PublisherName": provider,
        "ServiceCategory": "AI and Machine Learning",
        "ServiceName": "Creative Studio",
        "ServiceSubcategory": "Generative AI",
        "SkuId": rows["sku"],
        "SkuMeter": unit,
        "SkuPriceId": rows["sku"] + "/credits",
        "Tags": rows["tags"],
    }
    found = pd.DataFrame(columns, index=rows.index)
    kinds = {n: "string" for n, value in columns.items() if value is None or isinstance(value, str)}
    return FocusFrame(found.astype(kinds))


def _choose(currency: str | None, spent: Spending) -> str:
    currencies = spent.currencies
    if currency in currencies:
        return currency
    if currency is None and len(currencies) == 1:
        return currencies[0]
    if not currencies or currency:
        example = f"studio.costs.rate({currency or 'EUR'!r}, 0.01)"
        raise ConfigError(f"set the value of a credit first, as in {example}")
    raise ConfigError(f"choose a currency: {' or '.join(currencies)}")
