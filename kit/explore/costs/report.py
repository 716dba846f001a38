"""The report of a month: one self-contained HTML file with a light and a dark theme."""

from __future__ import annotations

import html
import math
import re
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from decimal import Decimal
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from jinja2 import Environment, StrictUndefined

from kit.errors import ConfigError
from kit.explore.charts import REST
from kit.explore.costs.forecasts import Band, Forecast, forecast
from kit.explore.costs.spending import Spending, instants
from kit.explore.costs.totals import by, list_doubts, unusual
from kit.explore.frames import PARTS
from kit.private import names_folder, user_path

#: Maximum of rows in a table before the rest is summed up, and of tags with their own table.
_MAX_ROWS, _MAX_TAGS = 8, 4
#: Size of the chart, and its margins for figures on the left and days below.
_WIDTH, _HEIGHT, _LEFT_MARGIN, _BOTTOM_MARGIN = 880, 220, 46, 20


#: An iframe follows the theme of the system, not that of the notebook around it.
_DARK_STYLE = """<style>@media (prefers-color-scheme: light) {
[data-jp-theme-light="false"] .kit-report iframe { filter: invert(0.91) hue-rotate(180deg); } }
</style>"""


class Month(NamedTuple):
    """A month in a time zone: from its start to the start of the next one."""

    first: datetime
    end: datetime

    @classmethod
    def parse(cls, text: str | None, now: datetime, zone: tzinfo) -> Month:
        """Return the month of a text such as ``2026-11``; by default the current one.

        Raises `ConfigError` if it is not a month, or has not begun.
        """
        text = f"{now.astimezone(zone):%Y-%m}" if text is None else text
        found = re.fullmatch(r"(\d{4})-(0[1-9]|1[0-2])", str(text))
        if not found or found[1] < "1970":
            raise ConfigError(f"a month is a text such as 2026-11, not {text!r}")
        first = datetime(int(found[1]), int(found[2]), 1, tzinfo=zone)
        if first > now:
            raise ConfigError(f"the month {text} has not begun")
        return cls(first, (first + timedelta(days=32)).replace(day=1))

    def previous(self, now: datetime) -> Month:
        """Return the previous month; for the current month, only as many days as have passed."""
        first = (self.first - timedelta(days=1)).replace(day=1)
        passed = now.astimezone(self.first.tzinfo) - self.first
        return Month(first, self.first if now >= self.end else min(self.first, first + passed))


@dataclass(frozen=True, slots=True)
class CostReport:
    """The report of a month; a notebook displays it."""

    month: str  # such as ``2026-11``
    html: str  # the whole file

    def save(self, path: Path | str | None = None) -> Path:
        """Save it to a file, or to ``costs-2026-11.html`` in a folder, and return the path."""
        target = user_path(path or ".")
        if names_folder(path or "."):
            target.mkdir(parents=True, exist_ok=True)
            target /= f"costs-{self.month}.html"
        target.write_text(self.html, encoding="utf-8")
        return target

    def __repr__(self) -> str:
        return f"<CostReport {self.month}>"

    def _repr_html_(self) -> str:
        style = "width:100%;height:720px;border:0;border-radius:12px"
        shown = f'<iframe sandbox srcdoc="{html.escape(self.html)}" style="{style}"></iframe>'
        return f'<div class="kit-report">{_DARK_STYLE}{shown}</div>'


def report(
    month: Month,
    spent: Spending,
    before: Spending,
    daily: pd.DataFrame,
    *,
    now: datetime,
    owner: str,
    budget: Decimal | None = None,
    ledger: bool | None = True,
) -> CostReport:
    """Return the report of a month.

    `spent`, `before`: spending of the month, and of `Month.previous`.
    `daily`: from `Spending.daily`, until the end of the month or until now.
    `owner`: name of the account.
    `budget`: limit for the month, in credits.
    `ledger`: whether there is one, so that titles and scripts are counted; see `list_doubts`.
    """
    facts = _Facts(month, spent, before, daily, now)
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters["credits"] = _credits
    text = (resources.files(__package__) / "report.html").read_text("utf-8")
    page = environment.from_string(text).render(
        title=f"Costs of {month.first:%B %Y}",
        subtitle=f"{owner} · days in {spent.timezone} · as of {now:%Y-%m-%d %H:%M} UTC",
        figures=facts.figures(),
        budget=None if budget is None else facts.budget(float(budget)),
        models=facts.groups("model"),
        tags=facts.tags(),
        failures=facts.failed,
        unusual=list(facts.unusual.head(_MAX_ROWS).itertuples()),
        outlook=facts.outlook(),
        footer=facts.footer(ledger),
        **facts.chart(),
    )
    return CostReport(f"{month.first:%Y-%m}", page)


@dataclass(frozen=True)
class _Facts:
    """The contents of a report, as texts and lengths."""

    month: Month
    spent: Spending
    previous: Spending
    daily: pd.DataFrame
    now: datetime

    @cached_property
    def _totals(self) -> Any:
        return self.spent.sums(()).iloc[0]

    @cached_property
    def _net(self) -> float:
        return int(self._totals["net"]) / PARTS

    @cached_property
    def _forecast(self) -> Forecast | str:
        """The forecast for the rest of the month, or a sentence that says why there is none."""
        days = (self.month.end - self.now).days + 1
        try:
            return forecast(self.daily, now=self.now, days=days, timezone=self.spent.timezone)
        except ConfigError as error:
            return str(error)

    @cached_property
    def _coming_days(self) -> pd.DataFrame:
        """The remaining days of the month, including today."""
        if self.now >= self.month.end or isinstance(self._forecast, str):
            return pd.DataFrame({"day": []})
        return pd.DataFrame(self._forecast[self._forecast["day"] < self.month.end])

    @property
    def _end(self) -> Band | None:
        """The forecast of the total at the end of the month; None if there is none."""
        if self._coming_days.empty:
            return None
        names = ("running_low", "running", "running_high")
        return Band(*(self._net + self._coming_days.iloc[-1][name] for name in names))

    def figures(self) -> list[tuple[str, str, str]]:
        """Return each figure with its name and remark."""
        last = int(self.previous.sums(())["net"].iloc[0]) / PARTS
        worth = [(name, self._totals[name]) for name in self.spent.currencies]
        remarks = [f"{float(amount):,.2f} {name}" for name, amount in worth if pd.notna(amount)]
        if last > 0:
            change = f"{self._net / last - 1:+.0%}".replace("-", "−")
            days = "the same days of " if self.now < self.month.end else ""
            remarks.append(f"{change} on {days}the month before")
        refunded = int(self._totals["refunded"])
        share = f"{refunded / max(int(self._totals['charged']), 1):.1%} of charges"
        states = by(self.spent, "status").set_index("status")
        done, unknown = states[["count", "unknown"]].reindex(["completed"], fill_value=0).iloc[0]
        each = f"{_credits(self._net / (done - unknown))} credits each" if done > unknown else ""
        found = [
            ("Spent", _credits(self._net), " · ".join(remarks)),
            ("Results", f"{done:,}", each),
            ("Refunded", _credits(refunded / PARTS), share if refunded else ""),
        ]
        if end := self._end:
            band = f"{_credits(end.low)} to {_credits(end.high)} in four of five cases"
            found.append(("Expected by the end", _credits(end.expected), band))
        return found

    def budget(self, limit: float) -> dict[str, Any]:
        share = self._net / limit if limit else float(self._net > 0)
        percent = math.floor(round(100 * share, 6))  # not 100 % before it is all spent
        text = f"{_credits(self._net)} of {_credits(limit)} credits are spent, {percent:,}%."
        if (end := self._end) and self._net <= limit:
            word = "will" if end.low > limit else "may" if end.high > limit else "will not"
            text += f" It {word} be passed: {_credits(end.expected)} are expected by the end."
        return {"width": round(min(share, 1) * 100, 1), "over": self._net > limit, "text": text}

    def groups(self, column: str) -> list[dict[str, str]]:
        """Return the most expensive groups of a column, and the sum of the rest."""
        frame = by(self.spent, column)
        names = frame[column].astype("object").where(frame[column].notna(), "without")
        rows = _merge_rest(list(zip(names, frame["net"], frame["count"], strict=True)))
        most = max((net for _, net, _ in rows), default=0)
        return [
            {
                "name": str(name),
                "net": _credits(net),
                "count": f"{count:,}",
                "share": f"{net / self._net:.0%}" if self._net else "",
                "width": f"{max(net / most, 0) * 100 if most else 0:.1f}",
            }
            for name, net, count in rows
        ]

    def tags(self) -> list[tuple[str, list[dict[str, str]]]]:
        return [(key, self.groups(f"tag.{key}")) for key in self.spent.keys("tags")[:_MAX_TAGS]]

    @cached_property
    def failed(self) -> list[dict[str, Any]]:
        frame = by(self.spent, "status", "error")
        bad = frame[frame["status"].isin(("failed", "canceled"))]
        why = bad["error"].where(bad["error"].notna(), bad["status"])
        rows = bad.assign(why=why).groupby("why", sort=False)
        sums = rows[["count", "charged", "refunded", "net"]].sum().sort_values("charged")
        return [
            {"name": name, "number": int(count), "amounts": amounts}
            for name, count, *amounts in _merge_rest(list(sums[::-1].itertuples(name=None)))
        ]

    @cached_property
    def unusual(self) -> Any:
        """Unusual days of the month whose excess is at least 1 % of its total."""
        found = unusual(self.daily)
        return found[(found["day"] >= self.month.first) & (found["excess"] >= self._net / 100)]

    def outlook(self) -> str:
        running = self.now < self.month.end
        return self._forecast if running and isinstance(self._forecast, str) else ""

    def footer(self, ledger: bool | None) -> str:
        unknown = int(self._totals["count"]) - int(self._totals["known"])
        missing = [f"{unknown:,} unknown charges count as 0."] if unknown else []
        sources = {*by(self.spent, "source")["source"].astype(str)} - {"none"}
        doubts = list_doubts(sources, ledger=ledger, undated=self.spent.undated())
        return " ".join([*missing, *doubts, "Credits are net: charges less refunds."])

    def chart(self) -> dict[str, Any]:
        """Return the days with the positions of their bars, and the legend of colors."""
        spent = self.daily.groupby("day")["net"].sum() / PARTS
        future: Any = self._coming_days.set_index("day")
        unusual_days = set(self.unusual["day"])
        first, end = (edge.replace(tzinfo=None) for edge in self.month)
        dates = pd.Series(pd.date_range(first, end, freq="D", inclusive="left"))
        clock = pd.Index(instants(dates, self.spent.timezone))
        net = spent.reindex(clock).fillna(0.0)
        highest = max(float(net.max()), float(future["high"].max()) if len(future) else 0.0)
        if highest <= 0:
            return {"days": [], "chart": {}, "key": []}
        step = _grid_step(highest)
        floor, day_width = _HEIGHT - _BOTTOM_MARGIN, (_WIDTH - _LEFT_MARGIN) / len(clock)
        scale = (floor - 8) / (step * -(-highest // step))

        def describe_day(number: int, day: pd.Timestamp) -> dict[str, Any]:
            expected = day in future.index and day > self.now
            value = float(future.loc[day, "expected"] if expected else net[day])
            edges = [float(future.loc[day, name]) for name in ("high", "low")] if expected else []
            x = _LEFT_MARGIN + day_width * (number + 0.15)
            return {
                "kind": "ahead" if expected else "hot" if day in unusual_days else "spent",
                "x": f"{x:.1f}",
                "y": f"{floor - scale * max(value, 0):.1f}",
                "height": f"{scale * max(value, 0):.1f}",
                "middle": f"{x + day_width * 0.35:.1f}",
                "band": [f"{floor - scale * edge:.1f}" for edge in edges],
                "label": day.day if day.day in (1, 5, 10, 15, 20, 25, 30) else "",
                "words": f"{day:%d %b}: {_credits(value)} credits{' expected' if expected else ''}",
            }

        days = [describe_day(number, day) for number, day in enumerate(clock)]
        meanings = {"spent": "spent", "hot": "unusual", "ahead": "expected, with interval"}
        lines = [step * number for number in range(int(-(-highest // step)) + 1)]
        chart = {
            "width": _WIDTH,
            "height": _HEIGHT,
            "left": _LEFT_MARGIN,
            "bar": f"{day_width * 0.7:.1f}",
            "lines": [{"y": f"{floor - scale * v:.1f}", "text": f"{v:,g}"} for v in lines],
            "words": f"Credits each day, {_credits(float(net.sum()))} in all",
        }
        kinds = {day["kind"] for day in days}
        key = [(kind, words) for kind, words in meanings.items() if kind in kinds]
        return {"days": days, "chart": chart, "key": key}


def _merge_rest(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return rows of a name and figures, with the excess rows summed up in one."""
    if len(rows) <= _MAX_ROWS:
        return rows
    _, *figures = zip(*rows[_MAX_ROWS - 1 :], strict=True)
    return [*rows[: _MAX_ROWS - 1], (REST, *map(sum, figures))]


def _grid_step(highest: float) -> float:
    """Return a distance of grid lines so that three to six of them are below a figure."""
    power = 10.0 ** math.floor(math.log10(highest))
    return next(power * part for part in (0.1, 0.2, 0.5, 1, 2) if highest <= 5 * power * part)


def _credits(amount: float) -> str:
    """Format credits for the report."""
    if 0 < abs(amount) < 0.005:
        return f"{amount:.6f}".rstrip("0")
    return f"{amount:,.0f}" if abs(amount) >= 10_000 else f"{amount:,.2f}"
