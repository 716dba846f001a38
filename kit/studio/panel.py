"""The panel of a studio: its pages, each made of what the studio has under the same name.

The pages ask in the background and block there, so they use the blocking face, whichever face the
panel was asked of; what is created in a form belongs to that face.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kit import wire
from kit.studio import accounts, forms, panel_costs, writing
from kit.studio.connections import AccountConnection, AccountConnections, AccountSwitcher
from kit.studio.session import Session

if TYPE_CHECKING:
    from kit.widgets.panel import Bench, Book, Panel


def build_panel(session: Session[Any]) -> Panel:
    """Return the whole application as one widget."""
    return PanelPages(session).panel()


class PanelAccounts:
    """One panel, and for each account that was opened in it a book of pages.

    A book that was left stays as it is: its forms are found again, and what they started goes on.

    Parameters
    ----------
    first : Pages
        Those of the studio's own account.
    """

    def __init__(self, first: PanelPages, connections: AccountConnections) -> None:
        self.connections = connections
        self._first = first
        self._reports: dict[AccountConnection, Book] = {}
        self._others: list[PanelPages] = []
        self._panel: Panel | None = None

    def panel(self) -> Panel:
        """Return the panel, open at the studio's own account."""
        from kit.widgets.panel import Panel

        book = self._reports[self.connections.own] = self._first.book()
        self._panel = Panel(book=book, snapshot=self._first.snapshot, on_close=self.close)
        return self._panel

    def close(self) -> None:
        """Close the connections of all accounts but the studio's own."""
        for pages in self._others:
            pages.close()
        if self.connections.own.session.awaited:
            self._first.close()  # the one in the cells is another
        self.connections.close()

    def go(self, connection: AccountConnection) -> None:
        """Go over to another account, on the page that is open."""
        if connection not in self._reports:
            pages = self._first.of(connection)
            self._others.append(pages)
            self._reports[connection] = pages.book()
        if self._panel is not None:
            self._panel.book = self._reports[connection]

    def turn_to(self, page: str) -> None:
        """Open a page."""
        if self._panel is not None:
            self._panel.page = page


class PanelPages:
    """Builds the pages of one account.

    Parameters
    ----------
    session : Session
        Of the face that the panel was asked of; what asks in the background blocks.
    library, connection : optional
        What these pages belong to; by default a library of their own.
    """

    def __init__(
        self,
        session: Session[Any],
        library: PanelAccounts | None = None,
        connection: AccountConnection | None = None,
    ) -> None:
        from kit.studio.sync import Studio

        operations, client = session.operations, session.client
        own: Any = None if session.awaited else client
        self._studio = Studio(operations.settings, client=own, operations=operations)
        self._session = session
        self._library = library or PanelAccounts(self, AccountConnections(session))
        self._connection = connection or self._library.connections.own
        self._bench: Bench | None = None
        self._wanted: str | None = None
        self._listed: list[wire.Model] = []

    def of(self, connection: AccountConnection) -> PanelPages:
        """Return the same pages of another account."""
        return PanelPages(connection.session, self._library, connection)

    def close(self) -> None:
        """Close the connections."""
        self._studio.close()

    def panel(self) -> Panel:
        """Return the panel with all pages, none of them built yet but the first."""
        return self._library.panel()

    def book(self) -> Book:
        """Return the pages of this account, none of them built yet."""
        from kit.widgets.panel import Book, PanelPage, markup

        pages = [
            PanelPage("Models", self.models, again=True),
            PanelPage("Create", self.create),
            PanelPage("History", self.history, again=True),
            PanelPage("Costs", self.costs, again=True),
            PanelPage("Write", self.write),
            PanelPage("Account", self.account),
        ]
        place = self._library.connections.describe(self._connection)
        banner = "" if place.own else markup.banner(place.remark, place.code)
        return Book(pages, heading=self.heading, banner=banner)

    def heading(self) -> str:
        """Return who pays, and what is left."""
        from kit.widgets.panel import markup

        return markup.heading(self._place, self._studio.account)

    def snapshot(self) -> str:
        """Return what the panel of a notebook that is opened again says about itself."""
        from kit.widgets.panel import markup

        code = f"{'await ' if self._session.awaited else ''}studio.panel()"
        return markup.snapshot(self._place, self._listed, code)

    def models(self) -> Any:
        """Return all models; a click on one leads to its form."""
        from kit.widgets.panel import ModelPage

        self._listed = list(self._studio.models.refresh().values())
        return ModelPage(self._listed, use=self._use)

    def create(self) -> Any:
        """Return a model to pick and its form; first one that needs no file."""
        from kit.widgets.panel import Bench

        models = list(self._studio.models.values())
        easy = next((m.id for m in models if not _needs_a_file(m)), None)
        self._bench = Bench(models, form=self._form, model=self._wanted or easy)
        return self._bench

    def history(self) -> Any:
        """Return what was made so far."""
        return self._studio.history.table().controls.whole

    def costs(self) -> Any:
        """Return what was spent: in sum, by model, and day by day."""
        from kit.widgets.panel import page

        left = self._studio.account.credits
        kept = self._studio.client.block(accounts.spent_lately()) is not None
        spent = self._studio.costs._spent(None, None)
        return page(panel_costs.cost_page(spent, left, ledger=kept))

    def write(self) -> Any:
        """Return the writing panel."""
        return writing.build_writing(self._session, wire.TOPICS[0])

    def account(self) -> Any:
        """Return who pays, and the account's keys where they can be managed from here."""
        switcher = AccountSwitcher(self._library.connections, self._connection, self._library.go)
        return accounts.account_panel(self._connection.session, switcher=switcher)

    @property
    def _place(self) -> str:
        settings = self._session.operations.settings
        return (
            f"profile {self._connection.saved}"
            if self._connection.saved
            else settings.name or settings.base_url
        )

    def _form(self, model: wire.Model) -> Any:
        return forms.build_form(self._session, model, None, None, {})

    def _use(self, model_id: str) -> None:
        self._wanted = model_id
        if self._bench is not None:
            self._bench.model = model_id
        self._library.turn_to("Create")


def _needs_a_file(model: wire.Model) -> bool:
    return any(p.required for p in model.media_parameters)
