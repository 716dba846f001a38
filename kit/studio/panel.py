"""The panel of a studio: its pages, each made of what the studio has under the same name.

The pages ask in the background and block there, so they use the blocking face, whichever face the
panel was asked of; what is created in a form belongs to that face.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kit import wire
from kit.studio import forms, panel_costs, writing
from kit.studio.forms import Made

if TYPE_CHECKING:
    from kit.client.aio import AsyncClient
    from kit.client.sync import Client
    from kit.studio.desk import Desk
    from kit.studio.sync import Studio
    from kit.widgets.panel import Bench, Panel


class Pages:
    """Builds the pages of one panel.

    Parameters
    ----------
    studio : Studio
        Who is asked.
    desk, client, made
        Of the face that the panel was asked of; see `kit.studio.forms.form`.
    """

    def __init__(
        self, studio: Studio, desk: Desk, client: Client | AsyncClient, made: type[Made]
    ) -> None:
        self._studio = studio
        self._face = desk, client, made
        self._bench: Bench | None = None
        self._wanted: str | None = None
        self._panel: Panel | None = None

    def panel(self) -> Panel:
        """Return the panel with all pages, none of them built yet but the first."""
        from kit.widgets.panel import Page, Panel

        pages = [
            Page("Models", self.models, again=True),
            Page("Create", self.create),
            Page("History", self.history, again=True),
            Page("Costs", self.costs, again=True),
            Page("Write", self.write),
            Page("Account", self.account),
        ]
        self._panel = Panel(pages, heading=self.heading)
        return self._panel

    def heading(self) -> str:
        """Return who pays, and what is left."""
        from kit.widgets.panel import looks

        settings = self._studio.client.settings
        return looks.heading(settings.name or settings.base_url, self._studio.account)

    def models(self) -> Any:
        """Return all models; a click on one leads to its form."""
        from kit.widgets.panel import Catalog

        return Catalog(list(self._studio.models.refresh().values()), use=self._use)

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

        costs, left = self._studio.costs, self._studio.account.credits
        shown = panel_costs.report(costs.summary(), costs.trend(), costs.by("model"), left)
        return page(shown)

    def write(self) -> Any:
        """Return the writing panel."""
        return writing.writing(*self._face, wire.TOPICS[0])

    def account(self) -> Any:
        """Return who pays, and the account's keys where they can be managed from here."""
        return self._studio.account_panel()

    def _form(self, model: wire.Model) -> Any:
        return forms.form(*self._face, model, None, None, {})

    def _use(self, model_id: str) -> None:
        self._wanted = model_id
        if self._bench is not None:
            self._bench.model = model_id
        if self._panel is not None:
            self._panel.page = "Create"


def _needs_a_file(model: wire.Model) -> bool:
    return any(p.required for p in model.media_parameters)
