"""The panel of a studio: one page for each of its features, under the same name.

Pages make blocking calls in the background, also in the panel of an async studio; generations
created in a form belong to the studio that the panel was created from.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from kit import wire
from kit.studio import accounts, forms, views
from kit.studio.accounts import AccountConnection, AccountConnections, AccountSwitcher
from kit.studio.generation import Session
from kit.widgets.panel import PageSet, Panel, PanelPage, banner, heading, render_panel
from kit.widgets.panel import pages as draw
from kit.widgets.panel.pages import CreatePage, ModelPage, needs_a_file, page

if TYPE_CHECKING:
    import pandas as pd

    from kit.explore.costs import Spending

#: The source of an amount -> how it is described.
_SOURCES = {
    "service": "reported by the service",
    "receipt": "from receipts on this computer",
    "estimate": "estimated at today's prices",
    "none": "unknown",
}
#: Number of days and models shown.
SHOWN_DAYS, MAX_MODELS = 30, 12


def cost_page(
    spent: Spending, balance: Decimal | None, *, ledger: bool = True, today: date | None = None
) -> str:
    """Return the page about costs; doubts about an amount are shown with every sum it is in.

    A service without a ledger does not report the costs of titles and scripts. `today` is in UTC,
    as the service counts days.
    """
    from kit.explore import costs

    summary, daily = costs.summary(spent), costs.by(spent, "day")
    models, sources = costs.by(spent, "model"), costs.by(spent, "source")
    last = today or datetime.now(UTC).date()
    net = {last - timedelta(days=age): Decimal(0) for age in range(SHOWN_DAYS - 1, -1, -1)}
    for day, amount in zip(daily["day"].dt.date, daily["net"], strict=True):
        if day in net:
            net[day] = _credits(amount)
    total = summary[summary["kind"] == "all"]
    totals = [
        ("left", balance),
        ("spent today", net[last]),
        (f"spent in {SHOWN_DAYS} days", sum(net.values(), Decimal(0))),
        ("spent in all", _credits(total["net"].sum())),
        ("refunded", _credits(total["refunded"].sum())),
    ]
    counts = dict(zip(sources["source"], sources["count"], strict=True))
    counted = [f"{counts[name]:,} {words}" for name, words in _SOURCES.items() if counts.get(name)]
    basis = f"Amounts: {', '.join(counted)}. Days are in UTC." if counted else ""
    days = [(day.isoformat(), amount) for day, amount in net.items()]
    doubts = costs.list_doubts(sources["source"].astype(str), ledger=ledger)
    parts = [draw.figures(totals, basis, doubts), draw.columns("Day by day", days, doubts)]
    top = models.head(MAX_MODELS)
    rows = zip(top["model"].fillna("none"), top["net"], top["count"], strict=True)
    amounts = [(str(name), _credits(amount), f"× {count}") for name, amount, count in rows]
    title = f"By model, the {MAX_MODELS} most expensive" if len(models) > MAX_MODELS else "By model"
    return "".join([*parts, draw.bars(title, amounts, doubts)] if len(models) else parts[:1])


def _credits(amount: Any) -> Decimal:
    """Return an amount from a frame, with the precision of its frame."""
    return round(Decimal(float(amount)), 6)


class PanelAccounts:
    """One panel, with a set of pages for each account opened in it.

    Pages of other accounts are kept with their forms, and generations started there continue.
    """

    def __init__(self, session: Session[Any]) -> None:
        self.connections = AccountConnections(session)
        self._opened: dict[AccountConnection, PageSet] = {}
        self._panel: Panel | None = None

    def panel(self) -> Panel:
        """Return the panel, showing the studio's own account."""
        pages = PanelPages(self.connections.own, self)
        page_set = self._opened[self.connections.own] = pages.page_set()
        self._panel = Panel(page_set, snapshot=pages.snapshot, on_close=self.connections.close)
        return self._panel

    def switch_to(self, connection: AccountConnection) -> None:
        """Switch to another account, on the same page."""
        if connection not in self._opened:
            self._opened[connection] = PanelPages(connection, self).page_set()
        if self._panel is not None:
            self._panel.page_set = self._opened[connection]

    def open_page(self, page: str) -> None:
        """Open a page."""
        if self._panel is not None:
            self._panel.page = page


class PanelPages:
    """Builds the pages of one account; they make blocking calls in the background."""

    def __init__(self, connection: AccountConnection, panel: PanelAccounts) -> None:
        self._connection = connection
        self._accounts = panel
        self._session = connection.session
        self._client = self._session.client
        self._operations = self._session.operations
        self._create_page: CreatePage | None = None
        self._model_id: str | None = None
        self._listed_models: list[wire.Model] = []

    def page_set(self) -> PageSet:
        """Return the pages of this account, none of them built yet."""
        pages = [
            PanelPage("Models", self.models, rebuilds=True),
            PanelPage("Create", self.create),
            PanelPage("History", self.history, rebuilds=True),
            PanelPage("Costs", self.costs, rebuilds=True, follows=True),
            PanelPage("Write", self.write),
            PanelPage("Account", self.account),
        ]
        choice = self._accounts.connections.describe(self._connection)
        banner_html = "" if choice.own else banner(choice.remark, choice.code)
        subscribe = self._session.subscribe
        return PageSet(pages, heading=self.heading, banner=banner_html, subscribe=subscribe)

    def heading(self) -> str:
        """Return the account and its balance."""
        return heading(self._account_label, self._connection.account())

    def snapshot(self) -> str:
        """Return the static snapshot shown when a saved notebook is opened."""
        code = f"{'await ' if self._client.awaited else ''}studio.panel()"
        return render_panel(self._account_label, self._listed_models, code)

    def models(self) -> Any:
        """Return all models; a click on one opens its form."""
        self._listed_models = self._models(refresh=True)
        return ModelPage(self._listed_models, use=self._open_form)

    def create(self) -> Any:
        """Return a model picker with a form; at first a model that needs no file."""
        models = self._models()
        first = next((m.id for m in models if not needs_a_file(m)), None)
        self._create_page = CreatePage(models, form=self.form, model=self._model_id or first)
        return self._create_page

    def history(self) -> Any:
        """Return the history."""

        def renew() -> pd.DataFrame:
            return self._client.block(self._operations.history_sync.current(quiet=True)).frame()

        return views.history_table(self._session, renew(), renew=renew).controls

    def costs(self) -> Any:
        """Return the costs: in total, by model, and by day."""
        from kit.explore.costs import Spending

        archive = self._client.block(self._operations.history_sync.current(usage=True, quiet=True))
        ledger = self._client.block(accounts.spent_lately()) is not None
        return page(cost_page(Spending(archive), self._connection.account().credits, ledger=ledger))

    def write(self) -> Any:
        """Return the writing panel."""
        return forms.build_writing(self._session, wire.TOPICS[0])

    def account(self) -> Any:
        """Return the account, and its keys if they can be managed from here."""
        switcher = AccountSwitcher(
            self._accounts.connections, self._connection, self._accounts.switch_to
        )
        return accounts.account_panel(self._session, switcher=switcher)

    @property
    def _account_label(self) -> str:
        saved = self._connection.saved
        return f"profile {saved}" if saved else self._operations.settings.label

    def _models(self, *, refresh: bool = False) -> list[wire.Model]:
        return list(self._client.block(self._operations.models(refresh=refresh)).values())

    def form(self, model: wire.Model) -> Any:
        """Return the form of a model, as shown on the page Create."""
        return forms.build_form(self._session, model, None, None, {})

    def _open_form(self, model_id: str) -> None:
        self._model_id = model_id
        if self._create_page is not None:
            self._create_page.model = model_id
        self._accounts.open_page("Create")
