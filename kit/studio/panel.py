"""The panel of a studio: its pages, each made of what the studio has under the same name.

The pages ask in the background and block there, so they use the blocking face, whichever face the
panel was asked of; what is created in a form belongs to that face.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kit import wire
from kit.studio import accounts, forms, panel_costs, writing
from kit.studio.accounts_seats import Chair, Seat, Seats
from kit.studio.forms import Made

if TYPE_CHECKING:
    from kit.client.aio import AsyncClient
    from kit.client.sync import Client
    from kit.studio.desk import Desk
    from kit.studio.sync import Studio
    from kit.widgets.panel import Bench, Book, Panel


class Library:
    """One panel, and for each account that was opened in it a book of pages.

    A book that was left stays as it is: its forms are found again, and what they started goes on.

    Parameters
    ----------
    first : Pages
        Those of the studio's own account.
    """

    def __init__(self, first: Pages, seats: Seats) -> None:
        self.seats = seats
        self._first = first
        self._books: dict[Seat, Book] = {}
        self._others: list[Pages] = []
        self._panel: Panel | None = None

    def panel(self) -> Panel:
        """Return the panel, open at the studio's own account."""
        from kit.widgets.panel import Panel

        book = self._books[self.seats.own] = self._first.book()
        self._panel = Panel(book=book, twin=self._first.twin, on_close=self.close)
        return self._panel

    def close(self) -> None:
        """Close the connections of all accounts but the studio's own."""
        for pages in self._others:
            pages.close()
        self.seats.close()

    def go(self, seat: Seat) -> None:
        """Go over to another account, on the page that is open."""
        if seat not in self._books:
            pages = self._first.of(seat)
            self._others.append(pages)
            self._books[seat] = pages.book()
        if self._panel is not None:
            self._panel.book = self._books[seat]

    def turn_to(self, page: str) -> None:
        """Open a page."""
        if self._panel is not None:
            self._panel.page = page


class Pages:
    """Builds the pages of one account.

    Parameters
    ----------
    studio : Studio
        Who is asked.
    desk, client, made
        Of the face that the panel was asked of; see `kit.studio.forms.form`.
    library, seat : optional
        What these pages belong to; by default a library of their own.
    """

    def __init__(
        self,
        studio: Studio,
        desk: Desk,
        client: Client | AsyncClient,
        made: type[Made],
        library: Library | None = None,
        seat: Seat | None = None,
    ) -> None:
        self._studio = studio
        self._face = desk, client, made
        self._library = library or Library(self, Seats(desk, client))
        self._seat = seat or self._library.seats.own
        self._bench: Bench | None = None
        self._wanted: str | None = None
        self._listed: list[wire.Model] = []

    def of(self, seat: Seat) -> Pages:
        """Return the same pages of another account."""
        from kit.studio.sync import Studio

        studio = Studio(seat.desk.settings, desk=seat.desk)
        return Pages(studio, seat.desk, seat.client, self._face[2], self._library, seat)

    def close(self) -> None:
        """Close the connections."""
        self._studio.close()

    def panel(self) -> Panel:
        """Return the panel with all pages, none of them built yet but the first."""
        return self._library.panel()

    def book(self) -> Book:
        """Return the pages of this account, none of them built yet."""
        from kit.widgets.panel import Book, Page, looks

        pages = [
            Page("Models", self.models, again=True),
            Page("Create", self.create),
            Page("History", self.history, again=True),
            Page("Costs", self.costs, again=True),
            Page("Write", self.write),
            Page("Account", self.account),
        ]
        place = self._library.seats.place(self._seat)
        banner = "" if place.own else looks.banner(place.remark, place.code)
        return Book(pages, heading=self.heading, banner=banner)

    def heading(self) -> str:
        """Return who pays, and what is left."""
        from kit.widgets.panel import looks

        return looks.heading(self._place, self._studio.account)

    def twin(self) -> str:
        """Return what the panel of a notebook that is opened again says about itself."""
        from kit.widgets.panel import looks

        awaited = self._face[2].__name__.startswith("Async")
        code = f"{'await ' if awaited else ''}studio.panel()"
        return looks.twin(self._place, self._listed, code)

    def models(self) -> Any:
        """Return all models; a click on one leads to its form."""
        from kit.widgets.panel import Catalog

        self._listed = list(self._studio.models.refresh().values())
        return Catalog(self._listed, use=self._use)

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
        kept = self._studio.client.block(accounts.spent()) is not None
        spent = self._studio.costs._spent(None, None)
        return page(panel_costs.report(spent, left, ledger=kept))

    def write(self) -> Any:
        """Return the writing panel."""
        return writing.writing(*self._face, wire.TOPICS[0])

    def account(self) -> Any:
        """Return who pays, and the account's keys where they can be managed from here."""
        chair = Chair(self._library.seats, self._seat, self._library.go)
        return accounts.panel(self._seat.desk, self._seat.client, chair=chair)

    @property
    def _place(self) -> str:
        settings = self._seat.desk.settings
        return (
            f"profile {self._seat.saved}"
            if self._seat.saved
            else settings.name or settings.base_url
        )

    def _form(self, model: wire.Model) -> Any:
        return forms.form(*self._face, model, None, None, {})

    def _use(self, model_id: str) -> None:
        self._wanted = model_id
        if self._bench is not None:
            self._bench.model = model_id
        self._library.turn_to("Create")


def _needs_a_file(model: wire.Model) -> bool:
    return any(p.required for p in model.media_parameters)
