"""The async studio; `tests/sync_face.py` generates the blocking one."""

from __future__ import annotations

import builtins
from collections.abc import Awaitable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from kit import wire
from kit.client import calls, flows
from kit.client.aio import AsyncClient
from kit.client.calls import Flow
from kit.client.settings import Settings
from kit.errors import ConfigError, NotFoundError
from kit.explore.ratings import Ratings
from kit.parameters import check_limit
from kit.studio import catalog
from kit.studio.aio.generation import AsyncGeneration
from kit.studio.aio.history import AsyncHistory
from kit.studio.aio.sweeps import AsyncSweeps
from kit.studio.catalog import Models
from kit.studio.generation import BaseGeneration, Session, note_interrupt, request_of
from kit.studio.operations import Operations, note_started
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
from kit.studio.views import BaseStudio, EntryList, ScriptList, SuggestedTitle
from kit.widgets import preview

if TYPE_CHECKING:
    import pandas as pd

    from kit.studio.aio.costs import AsyncCosts
    from kit.studio.billing import Billing
    from kit.widgets.account.panel import AccountPanel
    from kit.widgets.form import Form
    from kit.widgets.panel import Panel
    from kit.widgets.writing import Writing

T = TypeVar("T")


class AsyncTitles:
    """Titles for a topic."""

    def __init__(self, client: AsyncClient, billing: Billing) -> None:
        self._client, self._billing = client, billing

    def __repr__(self) -> str:
        return "<Titles: suggest(topic)>"

    async def suggest(self, topic: str, *, again: bool = False) -> SuggestedTitle:
        """Return a title with its hook angle, for 0.05 credits; repeating a topic costs nothing.

        `again` pays for a new title. Topics of our service: `kit.wire.TOPICS`.
        """
        found, reused = await self._client.run(self._billing.buy_title(topic, again=again))
        return SuggestedTitle(**found.model_dump(), made_before=reused)


class AsyncScripts:
    """Voice-over scripts for a title."""

    def __init__(self, client: AsyncClient, billing: Billing) -> None:
        self._client, self._billing = client, billing

    def __repr__(self) -> str:
        return "<Scripts: write(topic, title)>"

    async def write(
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
        """Return one or two scripts, for 0.15 credits each; repeating a request costs nothing.

        A suggested title includes its hook angle. `duration` is the speaking time in seconds.
        `again` pays for new scripts.
        """
        order = script_request(
            topic, title, duration, use_hook, use_cta, use_ragebait, variations, hook_angle
        )
        found, reused = await self._client.run(self._billing.buy_scripts(order, again=again))
        return ScriptList(found, made_before=reused)


class AsyncUsage:
    """The account's ledger, if the service has one."""

    def __init__(self, client: AsyncClient, operations: Operations) -> None:
        self._client, self._operations = client, operations

    def __repr__(self) -> str:
        return "<Usage: list(), frame()>"

    async def list(self, limit: int | None = 50) -> builtins.list[wire.Entry]:
        """Return the newest entries, at most `limit`; None returns all."""
        flow = flows.list_all(calls.list_usage(), check_limit(limit))
        return EntryList(await self._client.run(flow))

    async def frame(self, limit: int | None = None, *, sync: bool = True) -> pd.DataFrame:
        """Return the ledger as a dataframe, newest first; see `kit.explore.frames.LEDGER`.

        All entries add up to the balance. A copy is kept on this computer: each call fetches only
        new entries, or none if `sync` is False. Raises `NotFoundError` if there is no ledger.
        ``kit.explore.frames.write_excel(frame, "ledger.xlsx")`` writes it for Excel.
        """
        history = self._operations.history_sync
        archive = await self._client.run(history.current(sync=sync, usage=True))
        if history.has_ledger is False:
            raise NotFoundError("this service has no ledger")
        return archive.usage(limit)


class AsyncStudio(BaseStudio):
    """An account of a service: its models, generations, titles, scripts and ledger.

    Attributes
    ----------
    history : AsyncHistory
        All generations: as a list, dataframe or table, and by search or SQL.
    costs : AsyncCosts
        Cost analysis: groups, trends, forecasts, reports and exports.
    sweep : AsyncSweeps
        ``studio.sweep(model, ...)`` plans many requests that vary some settings.
    generate_many : method
        Generates one result for each row of a dataframe or list.
    budget : Budgets
        ``with studio.budget(credits=5):`` limits what may be spent inside the block.
    titles, scripts : AsyncTitles, AsyncScripts
        ``titles.suggest(topic)`` and ``scripts.write(topic, title)``.
    ratings : Ratings
        Ratings from 0 to 5 by generation id, kept on this computer.
    usage : AsyncUsage
        The account's ledger, if the service has one.

    Examples
    --------
    ``studio = await kit.aconnect()``, then ``await studio.generate("poster", "a lake at dawn")``
    """

    session: Session[AsyncGeneration]

    def __init__(
        self,
        settings: Settings,
        *,
        client: AsyncClient | None = None,
        operations: Operations | None = None,
    ) -> None:
        self.client = client or AsyncClient(settings)
        operations = operations or Operations(settings)
        self.session = Session(operations, self.client, AsyncGeneration).remember()
        self.titles = AsyncTitles(self.client, operations.billing)
        self.scripts = AsyncScripts(self.client, operations.billing)
        self.usage = AsyncUsage(self.client, operations)
        self.budget = operations.billing.budgets
        self.ratings = Ratings(settings.records("ratings"))
        self.sweep = AsyncSweeps(self.session, self.ratings)
        self.generate_many = self.sweep.rows
        self.history = AsyncHistory(self.session)
        preview.register()
        catalog.register_completion()

    async def __aenter__(self) -> AsyncStudio:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def account(self) -> Awaitable[wire.Account]:
        """The account, fetched now, with its balance if the service reports it."""
        return self.client.run(flows.ask(calls.get_account()))

    @property
    def costs(self) -> AsyncCosts:
        """Cost analysis: groups, trends, forecasts, reports and exports."""
        from kit.studio.aio.costs import AsyncCosts  # loads pandas

        return AsyncCosts(self.client, self.session.operations, self.ratings)

    @property
    def models(self) -> Awaitable[Models]:
        """The models of the service, by id; ``.refresh()`` fetches them again."""
        return self._models(refresh=False)

    async def estimate(
        self,
        model: str | wire.Model,
        prompt: str | None = None,
        *,
        media: Any = None,
        parameters: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> wire.Quote:
        """Validate a request, given as to `generate`, and return its price; nothing is started.

        Raises `ParameterError` if the request is invalid, and `ConfigError` if the service does not
        report the price of the model.
        """
        request = self.session.operations.request(
            model, prompt, media, merge_parameters(parameters, settings)
        )
        return await self._run(self.session.operations.quote(request))

    async def start(
        self,
        model: str | wire.Model,
        prompt: str | None = None,
        *,
        media: Any = None,
        tags: Mapping[str, str] | None = None,
        metadata: bool = True,
        parameters: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> AsyncGeneration:
        """Start a generation and return it without waiting; arguments as of `generate`."""
        request = self.session.operations.request(
            model, prompt, media, merge_parameters(parameters, settings), tags, metadata
        )
        return self.session.wrap(await self._start(self.session.operations.start(request)))

    @overload
    async def generate(
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
    ) -> AsyncGeneration: ...
    @overload
    async def generate(
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
    ) -> list[AsyncGeneration]: ...
    async def generate(
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
    ) -> AsyncGeneration | list[AsyncGeneration]:
        """Generate a picture or a video, wait for it and return it.

        Raises `ParameterError` before anything is sent if the request is invalid, and
        `GenerationFailedError` if the generation ends without a result.

        Parameters
        ----------
        media : mapping, path, https address, bytes, picture, array, output, or a list of them
            Input files, by parameter name if the model takes several kinds; each may also be a
            keyword argument, as in ``image="cat.png"``.
        n : int
            Number of results. For more than one, all are new, made in parallel, and returned as a
            list.
        timeout : float or None
            Seconds to wait; the generation continues afterwards, see ``resume()`` of the error.
        again : bool
            False returns the earlier result of the same request at no cost; True pays for another.
        tags : mapping of str to str, optional
            Labels such as ``{"campaign": "winter"}``: at most 10, of 64 characters each. An earlier
            result keeps its own tags.
        metadata : bool
            Whether the file contains model, prompt, parameters and seed as metadata.
        parameters : mapping, optional
            Parameters whose names cannot be keyword arguments here, such as ``model``, ``n`` or
            ``guidance scale``.
        """
        timeout = parse_timeout(timeout)
        request = self.session.operations.request(
            model, prompt, media, merge_parameters(parameters, settings), tags, metadata
        )
        if n != 1:
            started = await self._start(self.session.operations.start_many(request, n))
            with note_started(started, n):
                return [await self.session.wrap(one).wait(timeout) for one in started]
        name = model.id if isinstance(model, wire.Model) else str(model)
        trace = StartTrace(again=again)
        show = self.session.operations.progress(name)
        with show as on_update, note_interrupt(self.client, trace.note):
            flow = self.session.operations.generate(
                request,
                again=again,
                timeout=timeout,
                on_update=on_update,
                on_sent=lambda name, share: on_update.show_text(f"sending {name}", share),
                trace=trace,
            )
            reported = flows.report_waits(flow, on_update.show_text)
            return self.session.wrap(await self._run(reported), made_before=trace.reused)

    read = staticmethod(read_file)

    async def recreate(
        self,
        file: Path | str | AsyncGeneration,
        *,
        model: str | wire.Model | None = None,
        media: Any = None,
        timeout: float | None = None,
        again: bool = False,
        tags: Mapping[str, str] | None = None,
        **changes: Any,
    ) -> AsyncGeneration:
        """Generate again from a generation or the metadata of a file, with changes if given.

        The request is validated and priced before it is sent. Input files that were outputs are
        used again, unless others are given. `changes` override the prompt or parameters, such as
        ``seed=8`` or ``parameters={"seed": 8}``; parameters that a different `model` does not have
        are left out. Raises `ConfigError` if a file has no such metadata.
        """
        if isinstance(file, BaseGeneration) and file.facts.parameters is not None:
            found = request_of(file.facts, self.session.operations)
        else:
            found = read_file(file)
        if not (name := model or found.model):
            raise ConfigError("the file does not say which model made it: pass model=")
        definition = await self._run(self.session.operations.model(name))
        files = {parameter.name for parameter in definition.media_parameters}
        prompt = changes.pop("prompt", found.prompt if definition.supports_prompt else None)
        changes = merge_parameters(changes.pop("parameters", None), changes)
        if media is None and files and found.inputs and files.isdisjoint(changes):
            media = [await self.history[one] for one in found.inputs]
        settings = settings_of_file(found, definition, changes)
        return await self.generate(
            definition,
            prompt,
            media=media,
            timeout=timeout,
            again=again,
            tags=tags,
            parameters=settings,
        )

    async def form(
        self,
        model: str | wire.Model,
        prompt: str | None = None,
        *,
        media: Any = None,
        parameters: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> Form:
        """Return a form for a model as a widget, with the given values filled in."""
        from kit.studio.forms import build_form

        found = await self._run(self.session.operations.model(model))
        media, given = separate_media(found, media, merge_parameters(parameters, settings))
        return build_form(self.session, found, prompt, await self._run(resolve_media(media)), given)

    async def writing(self, topic: str = wire.TOPICS[0]) -> Writing:
        """Return a widget that suggests titles and writes scripts."""
        from kit.studio.forms import build_writing

        return build_writing(self.session, topic)

    async def panel(self) -> Panel:
        """Return the whole application as one widget."""
        from kit.studio.panel import PanelAccounts  # loads ipywidgets

        return PanelAccounts(self.session).panel()

    async def account_panel(self) -> AccountPanel:
        """Return a widget with balance, spending, and API keys or profiles."""
        from kit.studio.accounts import account_panel

        return account_panel(self.session)

    async def close(self) -> None:
        """Close all connections, those in use after their call; later calls open new ones."""
        await self.client.close()

    async def _models(self, *, refresh: bool) -> Models:
        found = await self._run(self.session.operations.models(refresh=refresh))
        return Models(found, fetch_again=partial(self._models, refresh=True))

    async def _start(self, flow: Flow[T]) -> T:
        with note_interrupt(self.client):
            return await self._run(flow)

    async def _run(self, flow: Flow[T]) -> T:
        return await self.client.run(self.session.resumable(flow))
