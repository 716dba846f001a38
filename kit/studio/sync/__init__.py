"""The blocking studio; made by `tests/sync_face.py` of `aio`: change that."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from kit import wire
from kit.client import calls, flows
from kit.client.calls import Flow
from kit.client.settings import Settings
from kit.client.sync import Client
from kit.errors import ConfigError, NotFoundError, show_own_lines
from kit.explore.ratings import Ratings
from kit.studio import catalog
from kit.studio.catalog import Models
from kit.studio.generation import Session
from kit.studio.operations import Operations
from kit.studio.requests import (
    merge_parameters,
    parse_timeout,
    read_file,
    resolve_media,
    script_request,
    separate_media,
    settings_of_file,
)
from kit.studio.starts import StartTrace
from kit.studio.sync.generation import Generation
from kit.studio.sync.history import History
from kit.studio.sync.sweeps import Sweeps
from kit.studio.views import BaseStudio, EntryList, ScriptList, SuggestedTitle
from kit.widgets import preview

if TYPE_CHECKING:
    import pandas as pd

    from kit.studio.billing import Billing
    from kit.studio.sync.costs import Costs
    from kit.widgets.account.panel import AccountPanel
    from kit.widgets.form import Form
    from kit.widgets.panel import Panel
    from kit.widgets.writing import Writing

T = TypeVar("T")


class Titles:
    """Titles for a topic."""

    def __init__(self, client: Client, billing: Billing) -> None:
        self._client, self._billing = client, billing

    def __repr__(self) -> str:
        return "<Titles: suggest(topic)>"

    def suggest(self, topic: str, *, again: bool = False) -> SuggestedTitle:
        """Return a title with its hook angle; 0.05 credits, and nothing for a topic that had one.

        `again` pays for another one. Topics: `kit.wire.TOPICS`.
        """
        found, before = self._client.run(self._billing.buy_title(topic, again=again))
        return SuggestedTitle(**found.model_dump(), made_before=before)


class Scripts:
    """Voice-over scripts for a title."""

    def __init__(self, client: Client, billing: Billing) -> None:
        self._client, self._billing = client, billing

    def __repr__(self) -> str:
        return "<Scripts: write(topic, title)>"

    def write(
        self,
        topic: str,
        title: str | wire.Title,
        duration: float | str = 30,
        *,
        hook_angle: str | None = None,
        use_hook: bool = False,
        use_cta: bool = False,
        use_ragebait: bool = False,
        variations: int = 1,
        again: bool = False,
    ) -> ScriptList:
        """Return one script or two; 0.15 credits each, and nothing for what was written before.

        A suggested title brings its hook angle along; `duration` is the seconds that the text takes
        to speak; `again` pays anew.
        """
        order = script_request(
            topic, title, duration, use_hook, use_cta, use_ragebait, variations, hook_angle
        )
        found, before = self._client.run(self._billing.buy_scripts(order, again=again))
        return ScriptList(found, made_before=before)


class Usage:
    """The account's ledger, where the service has one."""

    def __init__(self, client: Client, operations: Operations) -> None:
        self._client, self._operations = client, operations

    def __repr__(self) -> str:
        return "<Usage: list(), frame()>"

    def list(self, limit: int | None = 50) -> builtins.list[wire.Entry]:
        """Return the newest entries, at most `limit`; None asks for all."""
        return EntryList(self._client.run(flows.list_all(calls.list_usage(), limit)))

    def frame(self, limit: int | None = None, *, sync: bool = True) -> pd.DataFrame:
        """Return the ledger as a table, newest first; see `kit.explore.frames.LEDGER`.

        All of it sums up to the balance. It is kept on this computer: only what is new is asked
        for, and nothing where `sync` is False. A service without a ledger raises `NotFoundError`.
        """
        history = self._operations.history_sync
        archive = self._client.run(history.current(sync=sync, usage=True))
        if history.has_ledger is False:
            raise NotFoundError("this service has no ledger")
        return archive.usage(limit)


class Studio(BaseStudio):
    """One account at one service: its models, generations, titles, scripts and ledger.

    Attributes
    ----------
    history : History
        Generations so far: as a list, a frame, a table, a gallery, or asked in SQL.
    costs : Costs
        What was spent on what, and when; forecasts, reports, exports.
    sweep : Sweeps
        ``studio.sweep(model, ...)`` makes many requests that vary in some settings.
    generate_many : method
        The same with a row of a frame, a file or a list for each request.
    budget : Budgets
        ``with studio.budget(credits=5):`` is a limit that no start passes.
    titles, scripts : Titles, Scripts
        ``titles.suggest(topic)`` and ``scripts.write(topic, title)``.
    ratings : Ratings
        Marks from 0 to 5 by generation id, kept on this computer.
    usage : Usage
        The account's ledger, where the service has one.

    Examples
    --------
    ``studio = kit.connect()``, then ``studio.generate("poster", "a lake at dawn")``
    """

    session: Session[Generation]

    def __init__(
        self,
        settings: Settings,
        *,
        client: Client | None = None,
        operations: Operations | None = None,
    ) -> None:
        self.client = client or Client(settings)
        operations = operations or Operations(settings)
        self.session = Session(operations, self.client, Generation).remember()
        self.titles = Titles(self.client, operations.billing)
        self.scripts = Scripts(self.client, operations.billing)
        self.usage = Usage(self.client, operations)
        self.budget = operations.billing.budgets
        self.ratings = Ratings(settings.records("ratings"))
        self.sweep = Sweeps(self.session, self.ratings)
        self.generate_many = self.sweep.rows
        self.history = History(self.session)
        preview.register()
        catalog.register_completion()

    def __enter__(self) -> Studio:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def account(self) -> wire.Account:
        """Who pays, as it is now; with the balance where the service reports it."""
        return self.client.run(flows.ask(calls.get_account()))

    @property
    def costs(self) -> Costs:
        """What was spent on what, and when; forecasts, reports, exports."""
        from kit.studio.sync.costs import Costs  # loads pandas

        return Costs(self.client, self.session.operations, self.ratings)

    @property
    def models(self) -> Models:
        """What can be asked for; ``.refresh()`` asks the service anew."""
        return self._models(refresh=False)

    def estimate(
        self,
        model: str | wire.Model,
        prompt: str | None = None,
        *,
        media: Any = None,
        parameters: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> wire.Quote:
        """Return what a request, as of `generate`, would cost, and check it; nothing is started.

        What the service would refuse is a `ParameterError` that says why; a model of which it does
        not say what it costs, a `ConfigError`.
        """
        request = self.session.operations.request(
            model, prompt, media, merge_parameters(parameters, settings)
        )
        return self._run(self.session.operations.quote(request))

    def start(
        self,
        model: str | wire.Model,
        prompt: str | None = None,
        *,
        media: Any = None,
        tags: Mapping[str, str] | None = None,
        metadata: bool = True,
        parameters: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> Generation:
        """Start a generation and return it at once, still processing; see `generate`."""
        request = self.session.operations.request(
            model, prompt, media, merge_parameters(parameters, settings), tags, metadata
        )
        return self.session.hold(self._run(self.session.operations.start(request)))

    @overload
    def generate(
        self,
        model: str | wire.Model,
        prompt: str | None = None,
        *,
        media: Any = None,
        n: Literal[1] = 1,
        timeout: float | None = None,
        again: bool = False,
        tags: Mapping[str, str] | None = None,
        metadata: bool = True,
        parameters: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> Generation: ...
    @overload
    def generate(
        self,
        model: str | wire.Model,
        prompt: str | None = None,
        *,
        media: Any = None,
        n: int,
        timeout: float | None = None,
        again: bool = False,
        tags: Mapping[str, str] | None = None,
        metadata: bool = True,
        parameters: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> list[Generation]: ...
    def generate(
        self,
        model: str | wire.Model,
        prompt: str | None = None,
        *,
        media: Any = None,
        n: int = 1,
        timeout: float | None = None,
        again: bool = False,
        tags: Mapping[str, str] | None = None,
        metadata: bool = True,
        parameters: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> Generation | list[Generation]:
        """Return a finished generation, waiting for it where it must be made.

        A request that breaks a rule of the model is a `ParameterError`, and nothing was sent; one
        that ends without a result is a `GenerationFailedError`.

        Parameters
        ----------
        media : mapping, path, https address, bytes, picture, array, output, or a list of them
            Input files, by parameter name where the model takes several kinds; each may also be
            given by itself, as in ``image="cat.png"``.
        n : int
            How many to make; more than one are always new ones, made at the same time, as a list.
        timeout : float or None
            Seconds to wait; the generation goes on after them, see the error's ``resume()``.
        again : bool
            The same request returns the first that it led to and costs nothing; True pays anew.
        tags : mapping of str to str, optional
            What it is filed under, such as ``{"campaign": "winter"}``: at most 10, of 64 characters
            each. What was made before keeps the tags that it had.
        metadata : bool
            Whether the file says in itself what made it: model, prompt, parameters and seed.
        parameters : mapping, optional
            Settings by name, for names that are no keywords here or mean something else, such as
            ``model``, ``n`` or ``guidance scale``; all others are keywords.
        """
        timeout = parse_timeout(timeout)
        request = self.session.operations.request(
            model, prompt, media, merge_parameters(parameters, settings), tags, metadata
        )
        if n != 1:
            begun = self._run(self.session.operations.start_many(request, n))
            return [self.session.hold(one).wait(timeout) for one in begun]
        name = model.id if isinstance(model, wire.Model) else str(model)
        with self.session.operations.progress(name) as on_update:
            trace = StartTrace(again=again)
            flow = self.session.operations.generate(
                request,
                again=again,
                timeout=timeout,
                on_update=on_update,
                on_sent=on_update.sending,
                trace=trace,
            )
            try:
                reported = flows.report_waits(flow, on_update.saying)
                return self.session.hold(self._run(reported), made_before=trace.before)
            except KeyboardInterrupt as stop:
                stop.add_note(trace.note(awaited=self.client.awaited))
                show_own_lines(stop)
                raise

    read = staticmethod(read_file)

    def recreate(
        self,
        file: Path | str,
        *,
        model: str | wire.Model | None = None,
        media: Any = None,
        timeout: float | None = None,
        again: bool = False,
        tags: Mapping[str, str] | None = None,
        **changes: Any,
    ) -> Generation:
        """Make what a file shows by the request that made it, or by one that differs in something.

        The request is checked and priced before it is sent. Outputs that the file was made of are
        its inputs again. `changes` are the prompt or settings that are to differ, such as
        ``seed=8``; settings that another `model` has not got are left out. A file that says nothing
        is a `ConfigError`.
        """
        found = read_file(file)
        if not (name := model or found.model):
            raise ConfigError("the file does not say which model made it: pass model=")
        with_model = self._run(self.session.operations.model(name))
        if media is None and with_model.media_parameters and found.inputs:
            media = [self.history[one] for one in found.inputs]
        prompt = changes.pop("prompt", found.prompt if with_model.supports_prompt else None)
        settings = settings_of_file(found, with_model, changes)
        return self.generate(
            with_model,
            prompt,
            media=media,
            timeout=timeout,
            again=again,
            tags=tags,
            parameters=settings,
        )

    def form(
        self,
        model: str | wire.Model,
        prompt: str | None = None,
        *,
        media: Any = None,
        parameters: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> Form:
        """Return a form for a model, with what is given filled in; show it to use it."""
        from kit.studio.forms import build_form

        found = self._run(self.session.operations.model(model))
        media, given = separate_media(found, media, merge_parameters(parameters, settings))
        files = self._run(resolve_media(media))
        return build_form(self.session, found, prompt, files, given)

    def writing(self, topic: str = wire.TOPICS[0]) -> Writing:
        """Return a panel that suggests titles and writes scripts; show it to use it."""
        from kit.studio.forms import build_writing

        return build_writing(self.session, topic)

    def panel(self) -> Panel:
        """Return the whole application as one widget; show it to use it."""
        from kit.studio.panel import PanelAccounts  # loads ipywidgets

        return PanelAccounts(self.session).panel()

    def account_panel(self) -> AccountPanel:
        """Return a panel with balance, spending and keys or profiles; show it to use it."""
        from kit.studio.accounts import account_panel

        return account_panel(self.session)

    def close(self) -> None:
        """Close all connections, those in use after their call; a later call opens its own."""
        self.client.close()

    def _models(self, *, refresh: bool) -> Models:
        found = self._run(self.session.operations.models(refresh=refresh))
        return Models(found, again=partial(self._models, refresh=True))

    def _run(self, flow: Flow[T]) -> T:
        return self.client.run(self.session.resumable(flow))
